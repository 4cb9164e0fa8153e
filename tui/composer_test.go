package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/mail"
	"gcity/tui/actions"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

const aText = "Read the failing test first.\n\n日本語 wide, größer, e\u0301.\nThen tell me what you would change, and why; do not change it yet."

func withTexts(a *city.Agent) {
	a.Sends = []city.Send{
		{ID: 4, Text: "look at the log", Lines: 1, Bytes: 15, Stage: city.Acknowledged, Since: epoch.Add(-40 * time.Second)},
		{ID: 5, Text: "go on", Lines: 1, Bytes: 5, Stage: city.Queued, Hold: city.HoldDraft, Why: city.HoldDraft.Text(), Since: epoch.Add(-12 * time.Second)},
		{ID: 6, Text: "Read the failing test first.", Lines: 4, Bytes: 130, Stage: city.Queued, Why: "another text waits before it", Since: epoch.Add(-3 * time.Second)},
	}
}

func markRunning(s *stage) {
	for _, a := range s.m.Snap.Agents {
		if a.Running {
			actions.Set(s.m, state.Marking(s.m), a.Name)
		}
	}
}

func (s *stage) sent(sends ...city.Send) {
	s.t.Helper()
	p, ok := effectOf[feed.SendCommands](s)
	if !ok {
		s.t.Fatal("no action is in progress")
	}
	r := feed.Result{ID: p.ID, Title: p.Title, Total: len(p.Commands)}
	for i, c := range p.Commands {
		n := c.(city.Nudge)
		r.Receipts = append(r.Receipts, n.Agent+": sent")
		r.Sent = append(r.Sent, feed.SentText{Agent: n.Agent, Text: n.Text, Send: sends[i]})
	}
	s.hear(feed.News{Results: []feed.Result{r}})
}

func (s *stage) paste(text string) { s.send(tea.PasteMsg{Content: text}) }

func TestComposerSendsALine(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i")
	s.shows("send to idle:", "enter sends  alt+enter new line  esc closes")
	s.typeIn("go on, größer 世界")
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "go on, größer 世界"})
	s.hides("send to idle:")
	s.press("i", "enter")
	s.wants()
	if s.m.Dialogs.Composer() != nil {
		t.Error("nothing was sent, but the composer is still open")
	}
}

func TestComposerWritesManyLines(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i")
	s.typeIn("one")
	s.press("alt+enter")
	s.typeIn("two")
	s.press("ctrl+j")
	s.paste("three\r\nfour\r\n")
	s.press("up", "up", "up", "end", "!")
	s.shows("send to idle", "4 lines", "one!", "four")
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "one!\ntwo\nthree\nfour"})
}

func TestComposerKeepsADraft(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("idle")
	s.press("i")
	s.paste("for idle\nalone")
	s.press("esc")
	s.hides("for idle")
	s.choose("builder")
	s.press("i")
	s.hides("for idle")
	s.press("x", "esc")
	s.choose("idle")
	s.press("i")
	s.shows("for idle", "alone")
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "for idle\nalone"})
	s.press("i")
	s.hides("for idle")
	if len(s.m.Drafts) != 1 || s.m.Drafts[0].Text != "x" {
		t.Errorf("drafts: %v", s.m.Drafts)
	}
}

// A composer that is closed without a change leaves no draft behind.
func TestComposerBeginsEmptyAgain(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("shop/reviewer")
	s.press("i", "x", "enter")
	s.wants(city.Nudge{Agent: "shop/reviewer", Text: "x"})
	s.press("i", "up", "esc")
	if len(s.m.Drafts) != 0 {
		t.Errorf("drafts: %v", s.m.Drafts)
	}
	s.press("i", "y", "up", "esc")
	if len(s.m.Drafts) != 1 || s.m.Drafts[0].Text != "y" {
		t.Errorf("drafts: %v", s.m.Drafts)
	}
}

// Sending an earlier message, edited or not, keeps the draft that was begun before.
func TestSendingAnEarlierTextKeepsTheDraft(t *testing.T) {
	for _, edit := range []string{"", "!"} {
		s := demo(t, 120, 40)
		s.choose("idle")
		s.press("i", "x", "enter", "i")
		s.typeIn("mine")
		s.press("up")
		s.typeIn(edit)
		s.press("enter")
		s.wants(city.Nudge{Agent: "idle", Text: "x" + edit})
		s.press("i")
		s.shows("send to idle: mine")
		s.press("up", "ctrl+u", "enter", "i")
		s.shows("send to idle: mine")
		s.press("enter", "i")
		s.hides("send to idle: mine")
	}
}

// A mail with an earlier text also keeps the draft. If it cannot be delivered, the text that was sent becomes a draft.
func TestMailingAnEarlierTextKeepsTheDraft(t *testing.T) {
	s := automated(t, 120, 40)
	s.choose("builder")
	s.press("i", "x", "enter", "W", "p", "enter")
	s.typeIn("mine")
	s.press("up", "enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "builder", Subject: "p", Text: "x"}})
	s.press("W", "p", "enter")
	s.shows(`mail to builder, "p": mine`)
	s.press("ctrl+u", "up", "enter")
	d, _ := effectOf[feed.RunTasks](s)
	s.hear(feed.News{Results: []feed.Result{{ID: d.ID, Title: "sending", Total: 1, Failures: []string{"no answer"}, FailedIndexes: []int{0}}}})
	s.press("esc", "W")
	s.shows("mail to builder, subject: p")
	s.press("enter")
	s.shows(`mail to builder, "p": x`)
}

// An edited earlier text that cannot be delivered is not lost while the draft that it hid stays.
func TestUndeliveredMailWithADraft(t *testing.T) {
	s := automated(t, 120, 40)
	s.choose("builder")
	s.press("i", "x", "enter", "W", "p", "enter")
	s.typeIn("mine")
	s.press("up")
	s.typeIn("!")
	s.press("enter")
	d, _ := effectOf[feed.RunTasks](s)
	s.hear(feed.News{Results: []feed.Result{{ID: d.ID, Title: "sending", Total: 1, Failures: []string{"no answer"}, FailedIndexes: []int{0}}}})
	s.press("esc", "W", "p", "enter")
	s.shows(`mail to builder, "p": mine`)
	s.press("up")
	s.shows(`mail to builder, "p": x!`)
}

func TestComposerRecallsSentTexts(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	for _, text := range []string{"one", "two\nlines", "one", "three"} {
		s.press("i")
		s.paste(text)
		s.press("enter")
	}
	s.press("i")
	s.typeIn("mine")
	for _, want := range []string{"three", "one", "two\nlines", "two\nlines"} {
		s.press("up")
		if got := s.m.Dialogs.Composer().Text(); got != want {
			t.Fatalf("up: %q, want %q", got, want)
		}
	}
	s.press("down")
	if got := s.m.Dialogs.Composer().Text(); got != "two\nlines" {
		t.Errorf("down within the text: got %q", got)
	}
	s.press("down", "down", "down")
	if got := s.m.Dialogs.Composer().Text(); got != "mine" {
		t.Errorf("after the newest message: got %q", got)
	}
	s.press("esc")
	path := filepath.Join(t.TempDir(), "city.json")
	r := &feed.Runner{Ctx: t.Context()}
	r.SaveRoom(path, state.SaveRoom(s.m, true)[0].(feed.SaveRoom))
	r.Wait()
	old, err := feed.ReadSavedRoom(path)
	if err != nil || !slices.Equal(old.Sent, []string{"two\nlines", "one", "three"}) {
		t.Errorf("kept: %q, %v", old.Sent, err)
	}
}

// The stored messages are limited in number and total size.
func TestSentIsBounded(t *testing.T) {
	s := demo(t, 80, 24)
	for i := range 3 * state.MaxSent {
		state.RememberSent(s.m, fmt.Sprint("text ", i))
	}
	if len(s.m.Sent) != state.MaxSent || s.m.Sent[state.MaxSent-1] != fmt.Sprint("text ", 3*state.MaxSent-1) {
		t.Errorf("got %d texts, the last %q", len(s.m.Sent), s.m.Sent[len(s.m.Sent)-1])
	}
	for i := range state.MaxSent {
		state.RememberSent(s.m, strings.Repeat("<", state.MaxSentText-1)+string(rune('a'+i)))
	}
	if size := len(strings.Join(s.m.Sent, "")); size > state.MaxSentAll || len(state.SavedRoomOf(s.m).Text()) > feed.MaxSavedRoom {
		t.Errorf("got %d stored bytes in a file of %d bytes",
			size, len(state.SavedRoomOf(s.m).Text()))
	}
	state.RememberSent(s.m, strings.Repeat("x", state.MaxSentText+1))
	if len(s.m.Sent[len(s.m.Sent)-1]) > state.MaxSentText {
		t.Error("a long text is kept")
	}
}

// A long paste is shown as a placeholder and sent in full.
func TestComposerTakesLongPastes(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	long := strings.TrimRight(strings.Repeat("a line of a log, größer\n", 20_000), "\n")
	s.press("i")
	s.typeIn("see: ")
	s.paste(long)
	s.shows("see: [paste 1: 20000 lines, 507 KiB]")
	s.typeIn(" and this ")
	s.paste(strings.Repeat("z", dialog.MaxEditablePaste+1))
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "see: " + long + " and this " +
		strings.Repeat("z", dialog.MaxEditablePaste+1)})
	s.press("i")
	s.paste(strings.Repeat("x", city.MaxSend+1))
	s.shows("the text is 1.0 MiB", "put it in a file")
	s.paste(strings.Repeat("x", 3*city.MaxSend))
	s.shows("the text is 3.0 MiB")
	s.paste(strings.Repeat("y", city.MaxSend-10))
	s.hides("put it in a file")
	s.paste(strings.Repeat("y", 100))
	s.shows("the text is 1.0 MiB")
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: strings.Repeat("y", city.MaxSend-10)})
}

// Deleting the placeholder of a paste from the line makes room for another paste.
func TestComposerForgetsPastesWithoutAMark(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i")
	s.paste(strings.Repeat("x", city.MaxSend))
	s.press("ctrl+u")
	s.paste(strings.Repeat("y", city.MaxSend))
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: strings.Repeat("y", city.MaxSend)})
}

func TestComposerSaysWhereTypingEnds(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i")
	s.paste(strings.Repeat("x\n", dialog.MaxComposerRows-2) + "x")
	s.press("ctrl+j")
	s.hides("ends at")
	s.press("ctrl+j")
	s.shows("the input is limited to 100 lines")
	s.press("esc")
	s.choose("builder")
	s.press("i")
	for range dialog.MaxComposerWidth / dialog.MaxEditablePaste {
		s.paste(strings.Repeat("x ", dialog.MaxEditablePaste/2-1) + "xx")
	}
	s.press("y")
	s.shows("the input is full")
	s.press("backspace", "\u0301")
	s.hides("the input is full")
}

// Sending to five or more agents asks for confirmation first.
func TestComposerAsksForMany(t *testing.T) {
	s := demo(t, 120, 40)
	markRunning(s)
	n := len(s.m.Agents.Marks)
	s.press("i")
	s.shows(fmt.Sprintf("send to %d agents: ", n))
	s.typeIn("stop")
	s.press("enter")
	s.wants()
	s.shows(fmt.Sprintf("Send to %d marked agents?", n), fmt.Sprintf("type %d, the number of agents, to confirm:", n), `"stop"`)
	s.press("esc", "i")
	s.shows("stop")
	s.press("enter", fmt.Sprint(n), "enter")
	if got := s.commands(); len(got) != n {
		t.Errorf("%d commands: %v", len(got), got)
	}
	if len(s.m.Drafts) != 0 || len(s.m.Agents.Marks) != 0 {
		t.Error("the draft or the marks remain after the text was sent")
	}
}

func TestComposerIsRefused(t *testing.T) {
	s := newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	for _, key := range []string{"i", "U", "I"} {
		s.press(key)
		if s.m.Dialogs.Composer() != nil || s.m.Dialogs.Choice() != nil {
			t.Errorf("%s: a read-only room sends", key)
		}
	}
	s.shows("read-only")
	s = demo(t, 120, 40)
	s.choose("scout")
	s.press("i")
	s.shows("scout is quarantined and has no session")
	s.press("esc")
	s.choose("flaky") // flaky is in backoff and restarts by itself
	s.press("i", "x", "enter")
	s.wants(city.Nudge{Agent: "flaky", Text: "x"})
}

// If the recipients disappear while the user is writing, nothing is sent.
func TestComposerOutlivesItsAgents(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i", "x")
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "idle" })
	})
	s.press("enter")
	s.wants()
	s.shows("none of the recipients")
}

// A recipient that disappears while the user is writing is named before the text is sent to the others.
func TestComposerNamesDroppedRecipients(t *testing.T) {
	s := demo(t, 120, 40)
	for _, name := range []string{"builder", "idle"} {
		s.choose(name)
		s.press("space")
	}
	s.press("i", "x")
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "idle" })
	})
	const dropped = "idle no longer exists; enter sends to the others"
	s.press("enter")
	s.wants()
	s.shows(dropped)
	s.press("y")
	s.hides(dropped)
	s.press("enter")
	s.wants()
	s.shows(dropped)
	s.press("enter")
	s.wants(city.Nudge{Agent: "builder", Text: "xy"})
}

// Without colors, the text is the same and has only bold, faint and reverse styles.
func TestComposerWithoutColor(t *testing.T) {
	for _, name := range []string{"send", "send-lines", "send-many"} {
		s := newStage(t, Options{NoColor: true})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
		scenes()[name](s)
		golden(t, "testdata/"+name+"-120x40.txt", s.text())
		for _, code := range strings.Split(strings.Join(view.Draw(s.m).Lines, "\n"), "\x1b[")[1:] {
			if code, _, _ = strings.Cut(code, "m"); strings.Trim(code, "0127;") != "" {
				t.Errorf("%s: got the color %q", name, code)
			}
		}
	}
}

func TestComposerInASCII(t *testing.T) {
	s := newStage(t, Options{ASCII: true})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.choose("builder")
	s.press("space", "space", "i")
	s.paste("one\ntwo")
	sheet := strings.Split(s.text(), "\n")[20:]
	for _, r := range strings.Join(sheet, "") {
		if r >= 0x7f {
			t.Fatalf("%q is not ASCII:\n%s", r, s.text())
		}
	}
}

// The composer takes up at most a third of the screen.
func TestComposerSheet(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 10}} {
		s := demo(t, size[0], size[1])
		s.choose("idle")
		s.press("i")
		s.paste(strings.Repeat("line\n", 40) + "日本")
		d := view.Draw(s.m)
		rows := strings.Split(s.text(), "\n")
		top := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "send to idle") })
		if used := size[1] - top; top < 0 || used > max(3, size[1]/3) {
			t.Errorf("%v: got a sheet of %d rows", size, used)
		}
		if d.Y <= top || d.X != 5 || !strings.Contains(rows[d.Y], "日本") {
			t.Errorf("%v: the cursor is at %d, %d:\n%s", size, d.X, d.Y, s.text())
		}
	}
	s := demo(t, 30, 4)
	s.press("/")
	s.typeIn("idle")
	s.press("enter", "i")
	s.paste("one\ntwo")
	s.shows("(2/2): two")
}

// For any input, nothing panics and the screen keeps its size.
func FuzzComposer(f *testing.F) {
	names := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+left", "ctrl+right", "up",
		"down", "alt+enter", "space", "x", "日", "pgup", "pgdown", "alt+b", "alt+f", "ctrl+v", "tab", "ctrl+j"}
	f.Add("one two\nthree", []byte{0, 7, 11, 12, 13}, uint8(60), uint8(20))
	f.Add("  \n\n", []byte{2, 11, 11, 7, 7, 10, 6, 13, 5, 5}, uint8(40), uint8(10))
	f.Add("日本\u0301語 \U0001f468\u200d\U0001f469", []byte{0, 0, 16, 7, 4, 13, 16, 11}, uint8(20), uint8(5))
	f.Add("  \n  \n\n", []byte{9, 9, 19, 19}, uint8(40), uint8(10))
	f.Fuzz(func(t *testing.T, text string, keys []byte, w, h uint8) {
		w, h = max(w, 1), max(h, 1)
		s := demo(t, int(w), int(h))
		s.m.Agents.SelectedKey = "idle"
		s.m.Focus = panel.IDAgents
		s.press("i")
		s.paste(text)
		for _, k := range keys[:min(len(keys), 40)] {
			s.press(names[int(k)%len(names)])
			if s.m.Dialogs.Composer() == nil {
				t.Fatal("the composer is closed")
			}
			d := view.Draw(s.m)
			if len(d.Lines) != int(h) || d.X >= int(w) || d.Y >= int(h) {
				t.Fatalf("%dx%d: got %d lines, cursor at %d, %d", w, h, len(d.Lines), d.X, d.Y)
			}
			for _, l := range d.Lines {
				if widget.Width(l) != int(w) {
					t.Fatalf("a line of %d columns: %q", widget.Width(l), l)
				}
			}
		}
		for _, r := range s.m.Dialogs.Composer().Text() {
			if r != '\n' && !widget.Printable(r) {
				t.Fatalf("%U was typed", r)
			}
		}
	})
}
