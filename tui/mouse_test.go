package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

func (s *stage) where(text string) (x, y int) {
	s.t.Helper()
	for y, line := range strings.Split(s.text(), "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			return ansi.StringWidth(before), y
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.text())
	return 0, 0
}

func (s *stage) click(text string) {
	s.t.Helper()
	x, y := s.where(text)
	s.now = s.now.Add(time.Second)
	s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

func (s *stage) doubleClick(text string) {
	s.t.Helper()
	x, y := s.where(text)
	s.click(text)
	s.now = s.now.Add(doubleClick / 2)
	s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// At any size, a click selects the row, panel or tab under the pointer.
func TestClick(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		s.change(withAutomations)
		s.click("flaky ")
		if s.m.Agents.SelectedKey != "flaky" || s.m.Focus != panel.IDAgents {
			t.Errorf("%v: the cursor is on %s", size, s.m.Agents.SelectedKey)
		}
		s.click("2 Pools")
		if s.m.Focus != panel.IDPools {
			t.Errorf("%v: the focus is on %s", size, s.m.Focus)
		}
		s.click("triage   ")
		if s.m.Pools.SelectedKey != "triage" {
			t.Errorf("%v: the pool is %s", size, s.m.Pools.SelectedKey)
		}
		s.press("4")
		s.click("digest")
		if s.m.Focus != panel.IDAutomations || s.m.Automations.SelectedKey != "digest" {
			t.Errorf("%v: the automation is %s", size, s.m.Automations.SelectedKey)
		}
		s.press("1")
		s.click("0 flaky")
		if s.m.Focus != panel.IDPeek {
			t.Errorf("%v: the focus is on %s, not on the pane", size, s.m.Focus)
		}
	}
}

func TestClickBelowAndOutside(t *testing.T) {
	s := demo(t, 200, 60)
	s.choose("idle")
	s.press("P")
	s.click("3 Quarantine")
	if s.m.Focus != panel.IDQuarantine {
		t.Errorf("the focus is on %s", s.m.Focus)
	}
	s.click("10:36:07  crashed")
	if s.m.Focus != panel.IDEvents || !s.m.Events.Frozen {
		t.Error("an event in the right stack is not reached")
	}
	focus, chosen := s.m.Focus, s.m.Agents.SelectedKey
	for _, at := range [][2]int{{0, 0}, {199, 59}, {-1, -1}, {500, 500}, {0, 1 << 20}} {
		s.send(tea.MouseClickMsg{X: at[0], Y: at[1], Button: tea.MouseLeft})
		s.send(wheel{at[0], at[1], 1})
	}
	if s.m.Focus != focus || s.m.Agents.SelectedKey != chosen {
		t.Error("a click outside the rows does something")
	}
}

func TestDoubleClickOpens(t *testing.T) {
	s := pooled(t, 120, 40)
	s.doubleClick("builder ")
	if !s.m.Zoomed || s.m.Focus != panel.IDPeek || s.m.Agents.SelectedKey != "builder" {
		t.Error("an agent's terminal is not zoomed")
	}
	s.doubleClick("0 builder")
	if s.m.Zoomed {
		t.Error("the pane is not zoomed back")
	}
	s.press("2")
	s.doubleClick("triage   ")
	s.shows("Members of triage")
	s.press("esc", "1")
	s.click("idle ")
	s.click("idle ") // too late for a double click
	if s.m.Zoomed {
		t.Error("two slow clicks count as a double click")
	}
}

// The wheel scrolls what is under the pointer. The focus does not change.
func TestWheel(t *testing.T) {
	s := demo(t, 200, 60)
	s.choose("builder")
	screen := terminalWith(strings.Repeat("a line\r\n", 300))
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: screen, LinesReceived: 300}})
	x, y := s.where("0 builder")
	s.send(wheel{x, y + 3, -2})
	if !s.m.Peek.Frozen() || s.m.Focus != panel.IDAgents {
		t.Error("the pane does not scroll under the wheel")
	}
	s.send(wheel{x, y + 3, 100})
	if s.m.Peek.Frozen() {
		t.Error("the pane does not follow again at its end")
	}
	x, y = s.where("5 Events")
	s.send(wheel{x, y + 1, -1})
	if !s.m.Events.Frozen || s.m.Focus != panel.IDAgents {
		t.Error("events do not scroll under the wheel")
	}
	s.press("?")
	s.send(wheel{100, 20, 3})
	if s.m.Dialogs.Finder().Cursor != 4 { // the first row is a heading
		t.Error("a sheet does not scroll under the wheel")
	}
	s.click("restart the agent or the pool")
	if s.m.Dialogs.Finder() == nil || len(s.commands()) > 0 {
		t.Error("a click goes through a sheet")
	}
}

// Wheel events are merged: 500 of them reach the model as one message.
func TestWheelIsGathered(t *testing.T) {
	s := demo(t, 200, 60)
	box := feed.NewMailbox()
	r := &room{m: s.m, r: &feed.Runner{Ctx: t.Context(), Mailbox: box, Viewer: feed.NewViewer(newFakeCity(epoch), box, terminal.NewScreen)}}
	x, y := s.where("builder")
	waits := 0
	s.press("g")
	for range 500 {
		if _, cmd := r.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown}); cmd != nil {
			waits++
		}
	}
	heard := s.m.UI
	r.Update(wheelExpired{})
	if waits != 1 || s.m.UI != heard+1 {
		t.Errorf("500 wheel events start %d timers and send %d messages", waits, s.m.UI-heard)
	}
	if l := s.m.Agents.List; l.Cursor != len(l.Shown)-1 {
		t.Errorf("the cursor moved %d rows", l.Cursor)
	}
	if r.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelUp}); r.wheel.notches != -1 {
		t.Error("the next batch does not start from zero")
	}
}

// The mouse is on by default. M turns it off, and the room remembers that.
func TestMouseIsUsedUntilItIsTurnedOff(t *testing.T) {
	used := func(s *stage, want bool) {
		t.Helper()
		mode := tea.MouseModeNone
		if want {
			mode = tea.MouseModeCellMotion
		}
		if got := (&room{m: s.m}).View().MouseMode; got != mode {
			t.Errorf("the mode of the mouse is %v, want %v", got, mode)
		}
	}
	s := demo(t, 120, 40)
	used(s, true)
	s.press("M")
	used(s, false)
	s.shows("the terminal handles the mouse again; this choice is saved")
	kept, next := state.SavedRoomOf(s.m), demo(t, 120, 40)
	state.RestoreRoom(next.m, kept)
	used(next, false)
	s.press("M")
	s.shows("(M releases it); hold shift to select text")
	used(s, true)
	off := newStage(t, Options{Preferences: feed.Preferences{MouseOff: true}})
	used(off, false)
	state.RestoreRoom(off.m, state.SavedRoomOf(s.m))
	used(off, true)
	broken := demo(t, 120, 40)
	state.RestoreRoom(broken.m, feed.SavedRoom{Mouse: "sideways"})
	used(broken, true)
}

// In a real terminal, the mouse modes are on, a click arrives, and copied text reaches the clipboard.
func TestTerminalMouseAndClipboard(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting", 120, 36)
	c.sees("prober")
	c.says("\x1b[?1006h")
	c.keys("\x1b[<0;10;3M\x1b[<0;10;3m")
	c.keys("y")
	c.sees("Copy from")
	c.keys("\r")
	c.sees("copied: ")
	c.says("\x1b]52;c;")
	c.keys("M")
	c.sees("the terminal handles the mouse again")
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}

func (c *console) says(want string) {
	c.t.Helper()
	late := time.After(patience)
	for {
		c.mu.Lock()
		said, more := strings.Contains(c.raw.String(), want), c.more
		c.mu.Unlock()
		if said {
			return
		}
		select {
		case <-more:
		case <-late:
			c.t.Fatalf("the terminal never receives %q", want)
		}
	}
}

// A click chooses an answer, unless the question has just opened.
func TestClickInAQuestion(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {40, 10}} {
		s := demo(t, size[0], size[1])
		s.choose("builder")
		s.press("r")
		x, y := s.where("yes, restart")
		s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		s.wants() // too early: the click was meant for the previous screen
		s.now = s.now.Add(time.Second)
		for _, at := range [][2]int{{0, 0}, {x, y - 1}, {size[0] - 1, y}, {x, size[1] - 1}} {
			if s.send(tea.MouseClickMsg{X: at[0], Y: at[1],
				Button: tea.MouseLeft}); s.m.Dialogs.Choice() == nil || len(s.commands()) > 0 {
				t.Fatalf("%v: a click at %v chooses an answer", size, at)
			}
		}
		s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		s.wants(city.Restart{Agent: "builder"})
		chosen := s.m.Agents.SelectedKey
		s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) // the second click of a double click
		if s.m.Agents.SelectedKey != chosen || s.m.Dialogs.Choice() != nil {
			t.Errorf("%v: a second click acts on the panel behind the question", size)
		}
		s.press("r")
		s.click("no, leave it")
		s.wants()
		if s.m.Dialogs.Choice() != nil {
			t.Errorf("%v: the question is still there", size)
		}
	}
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("ctrl+k")
	s.click("stop: interrupt it")
	s.wants()
	if s.m.Dialogs.Choice() == nil || s.m.Dialogs.Choice().Cursor != 1 {
		t.Error("the required text is not requested, or the answer is not chosen")
	}
	s.typeIn("idle")
	s.click("stop: interrupt it")
	s.wants(city.Stop{Agent: "idle"})
}

func TestClickInAList(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("x")
	s.click("restart the agent or the pool")
	if s.m.Dialogs.Finder() == nil ||
		s.m.Dialogs.Finder().Found[s.m.Dialogs.Finder().Cursor].Title != "restart the agent or the pool" {
		t.Fatal("the cursor is not where the click was")
	}
	s.click("type to search")
	s.click("Actions for builder")
	if s.m.Dialogs.Finder() == nil || s.m.Dialogs.Choice() != nil {
		t.Fatal("a click next to the rows does something")
	}
	s.doubleClick("restart the agent")
	if s.m.Dialogs.Finder() != nil || s.m.Dialogs.Choice() == nil {
		t.Error("a double click does not run it")
	}
}

// The second click of a double click on an answer does not act on the dialog that the answer opens.
func TestADoubleClickOnAnAnswerActsOnce(t *testing.T) {
	for n := 2; n < 12; n++ {
		s := pooled(t, 120, 40)
		s.members("worker", n)
		s.pick("worker")
		s.press("r")
		s.wait(time.Second)
		x, y := s.where("choose just one member")
		for range 2 {
			s.now = s.now.Add(200 * time.Millisecond)
			s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			s.wants()
		}
		if s.m.Dialogs.Finder() == nil || s.m.Dialogs.Finder().CursorMoved {
			t.Errorf("%d members: the second click acts on the list of members", n)
		}
	}
}
