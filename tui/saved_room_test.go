package tui

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// A room opens in the state in which the user left it.
func TestSavedRoom(t *testing.T) {
	s := demo(t, 200, 60)
	s.press("P", "2", "/")
	s.press("w")
	s.press("enter", "1", "o", "5", "f", ":")
	s.press(strings.Split("view.redraw", "")...)
	s.press("enter")
	s.wait(state.SaveInterval)
	e, ok := effectOf[feed.SaveRoom](s)
	if !ok {
		t.Fatal("nothing is written after a minute")
	}
	s.wait(state.SaveInterval)
	if _, again := effectOf[feed.SaveRoom](s); again {
		t.Error("unchanged state is written again")
	}
	path := filepath.Join(t.TempDir(), "deep", "city.json")
	r := &feed.Runner{Ctx: t.Context()}
	r.SaveRoom(path, e)
	r.Wait()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info, err)
	}
	old, err := feed.ReadSavedRoom(path)
	if err != nil {
		t.Fatal(err)
	}
	next := newStage(t, Options{})
	state.RestoreRoom(next.m, old)
	next.size(200, 60)
	next.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	m := next.m
	if way := m.Orders()["agents"]; way != "name" || len(m.History) != 1 {
		t.Errorf("restored: got agents sorted by %s, history %q", way, m.History)
	}
	if m.Focus != panel.IDEvents || !m.Zoomed || !m.Below || m.Pools.Filter.Text != "w" || m.Events.Filter.Active() {
		t.Errorf("restored: focus %v, zoomed %v, below %v, filter %q", m.Focus, m.Zoomed, m.Below, m.Pools.Filter.Text)
	}
	if len(state.SaveRoom(m, true)) > 0 {
		t.Error("restored, unchanged state is written again")
	}
	next.press("1")
	if len(state.SaveRoom(m, true)) != 1 {
		t.Error("changed state is not written at the end")
	}
	far := newStage(t, Options{OverSSH: true})
	state.RestoreRoom(far.m, feed.SavedRoom{Version: feed.SavedRoomVersion})
	if !far.m.Below {
		t.Error("over SSH the pane is not below")
	}
}

// A stored state that is damaged or has another version is ignored.
func TestSavedRoomIsTolerant(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"damaged": "{", "future": `{"version": 99, "focus": "pools"}`, "empty": "", "huge": strings.Repeat(" ", feed.MaxSavedRoom+1)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if old, err := feed.ReadSavedRoom(path); err == nil || old.Focus != "" || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %+v, %v", name, old, err)
		}
	}
	if _, err := feed.ReadSavedRoom(dir); err == nil {
		t.Error("ReadSavedRoom of a folder succeeded")
	}
	if old, err := feed.ReadSavedRoom(filepath.Join(dir, "none")); err != nil || old.Version != 0 {
		t.Errorf("no file: %+v, %v", old, err)
	}
	s := demo(t, 80, 24)
	state.RestoreRoom(s.m, feed.SavedRoom{Version: 1, Focus: "cellar", Hidden: true, Zoomed: true, Filters: map[string]string{"agents": "\x1b[2Jx", "cellar": "y"}})
	s.wait(time.Second)
	if strings.Contains(s.text(), "\x1b[2J") || s.m.Focus != panel.IDAgents {
		t.Error("invalid state is restored")
	}
}

// The room says that a restored filter hides rows.
func TestKeptFilterIsShown(t *testing.T) {
	s := demo(t, 120, 40)
	state.RestoreRoom(s.m, feed.SavedRoom{Version: 1, Filters: map[string]string{"agents": "shop"}})
	s.wait(0)
	s.shows("restored filter: /shop hides other rows; esc clears it", "3 of 12")
	s.press("/", "i", "d", "l", "e", "enter")
	if s.m.Agents.Filter.Text != "idle" {
		t.Errorf("filter after typing: got %q", s.m.Agents.Filter.Text)
	}
	s.press("/", "backspace", "enter")
	if s.m.Agents.Filter.Text != "idl" {
		t.Errorf("edited: %q", s.m.Agents.Filter.Text)
	}
	s.press("/")
	s.send(tea.PasteMsg{Content: "scout"})
	s.press("left", "x", "enter")
	if s.m.Agents.Filter.Text != "scouxt" {
		t.Errorf("filter after pasting: got %q", s.m.Agents.Filter.Text)
	}
	s.press("esc")
	s.shows("1 Agents 12")
	s.press("!")
	again := demo(t, 120, 40)
	state.RestoreRoom(again.m, state.SavedRoomOf(s.m))
	again.hides("!attention", "restored filter")
}

// The first screen has a hint. The first key removes it permanently.
func TestTheFirstVisitHasAHint(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		s := demo(t, size[0], size[1])
		s.hides("Welcome.")
		stamps := regexp.MustCompile(`  10:42:\d\d  \S+`).FindAllString(s.text(), -1)
		s.m.ShowHint = true
		if size[0] == 200 { // the hint takes rows from the panels, but the newest event stays visible
			s.shows(stamps[len(stamps)-1])
		}
		s.shows("Welcome. enter shows the agent's terminal", "r restarts it, D drains it. : finds an action",
			"q quits and asks what to keep running. Any key removes this hint.", "? help")
		s.press("j")
		s.hides("Welcome.", "Any key removes")
		e := state.SaveRoom(s.m, true)
		if len(e) != 1 || !strings.Contains(string(e[0].(feed.SaveRoom).Data), `"greeted": true`) {
			t.Errorf("not stored: %v", e)
		}
	}
}

// Two rooms of a city do not undo each other's changes.
func TestTwoRoomsSaveTheirChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "city.json")
	r := &feed.Runner{Ctx: t.Context()}
	save := func(s *stage) {
		r.SaveRoom(path, state.SaveRoom(s.m, true)[0].(feed.SaveRoom))
		r.Wait()
	}
	read := func() feed.SavedRoom {
		old, err := feed.ReadSavedRoom(path)
		if err != nil {
			t.Fatal(err)
		}
		return old
	}
	first := demo(t, 200, 60)
	first.press("P", "2", "/")
	first.press("w")
	first.press("enter", "1")
	save(first)
	one, two := demo(t, 200, 60), demo(t, 200, 60)
	state.RestoreRoom(one.m, read())
	state.RestoreRoom(two.m, read())
	one.press("2", "esc", "1", "o")
	save(one)
	two.press("5", "/")
	two.press("d")
	two.press("enter")
	save(two)
	if got := read(); got.Orders["agents"] != "name" || got.Filters["pools"] != "" || got.Filters["events"] == "" || !got.Moved || got.Focus != "events" {
		t.Errorf("stored: %+v", got)
	}
	one.press("o")
	save(one)
	if got := read(); got.Orders["agents"] == "name" || got.Filters["events"] == "" {
		t.Errorf("stored: %+v", got)
	}
}

// If a save fails, the next one also stores the changes of the failed one.
func TestSaveAfterAFailedSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "city.json")
	r := &feed.Runner{Ctx: t.Context(), Log: slog.New(slog.DiscardHandler)}
	s := demo(t, 200, 60)
	save := func(keys ...string) {
		s.press(keys...)
		r.SaveRoom(path, state.SaveRoom(s.m, true)[0].(feed.SaveRoom))
		r.Wait()
	}
	save("P")
	// while a folder is in the file's place, a save fails
	aside := path + ".aside"
	err := errors.Join(os.Rename(path, aside), os.Mkdir(path, 0o700))
	save("1", "o")
	if err := errors.Join(err, os.Remove(path), os.Rename(aside, path)); err != nil {
		t.Fatal(err)
	}
	save("5")
	if got, err := feed.ReadSavedRoom(path); err != nil || got.Orders["agents"] != "name" || got.Focus != "events" {
		t.Errorf("stored: %+v, %v", got, err)
	}
}

// The choice about the mouse applies to all cities.
func TestTheMouseIsRememberedForTheUser(t *testing.T) {
	dir := t.TempDir()
	s := demo(t, 120, 40)
	s.press("M")
	e := state.SaveRoom(s.m, true)[0].(feed.SaveRoom)
	r := &feed.Runner{Ctx: t.Context()}
	r.SaveRoom(filepath.Join(dir, "harbor-1.json"), e)
	r.Wait()
	other, err := feed.ReadSavedRoom(filepath.Join(dir, "tower-2.json"))
	if err != nil {
		t.Fatal(err)
	}
	next := demo(t, 120, 40)
	if state.RestoreRoom(next.m, other); actions.UsesMouse(next.m) {
		t.Errorf("another city uses the mouse: %+v", other)
	}
	next.press("j", "1")
	if e := state.SaveRoom(next.m, true); len(e) > 0 && e[0].(feed.SaveRoom).Mouse != "" {
		t.Errorf("an unchanged choice is written again: %+v", e)
	}
}

// The cursors return to their rows.
func TestTheCursorReturnsToItsRow(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("idle")
	saved := state.SavedRoomOf(s.m)
	next := newStage(t, Options{})
	state.RestoreRoom(next.m, saved)
	if got := state.SavedRoomOf(next.m).Rows["agents"]; got != "idle" {
		t.Errorf("before the first snapshot, the stored row is %q", got)
	}
	next.size(80, 24)
	next.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	if got := next.m.Agents.Key(); got != "idle" {
		t.Errorf("the cursor is on %q", got)
	}
	next.shows(">  ● running      idle", "0 idle")
	next.press("g")
	if rows := state.SavedRoomOf(next.m).Rows; rows["agents"] != "" {
		t.Errorf("the first row is stored: %v", rows)
	}
}

// Long lines of the palette do not make the file too large to be read again.
func TestSavedRoomWithLongLines(t *testing.T) {
	s := demo(t, 120, 40)
	for i := range palette.MaxHistory {
		s.m.History = palette.AddToHistory(s.m.History, fmt.Sprint(i, strings.Repeat("x", 16<<10)))
		s.m.History = palette.AddToHistory(s.m.History, fmt.Sprint(i, strings.Repeat("\x01", 4000)))
	}
	s.m.History = palette.AddToHistory(s.m.History, "goto idle")
	path := filepath.Join(t.TempDir(), "room")
	text := state.SavedRoomOf(s.m).Text()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := feed.ReadSavedRoom(path)
	if n := len(old.History); err != nil || len(text) > feed.MaxSavedRoom || n < 2 || old.History[n-1] != "goto idle" {
		t.Errorf("read %d lines from %d bytes: %v", n, len(text), err)
	}
}
