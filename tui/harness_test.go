package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
	"gcity/tui/view"
)

// stage is a model of the control room with a clock that the test sets.
type stage struct {
	t   testing.TB
	m   *state.Room
	now time.Time
	out []feed.Effect // effects of the latest message
}

func newStage(t testing.TB, o Options) *stage {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, m: newModel(o, epoch), now: epoch}
}

func demo(t testing.TB, w, h int) *stage {
	s := newStage(t, Options{})
	s.size(w, h)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	return s
}

func (s *stage) send(msg any) { s.out = handle(s.m, s.now, msg) }

func (s *stage) size(w, h int) { s.send(tea.WindowSizeMsg{Width: w, Height: h}) }

func (s *stage) hear(n feed.News) { s.send(n) }

func (s *stage) wait(d time.Duration) {
	s.now = s.now.Add(d)
	s.send(feed.News{})
}

// press presses keys slowly enough for dialogs to accept them, and collects their effects.
func (s *stage) press(keys ...string) {
	var all []feed.Effect
	for _, k := range keys {
		s.now = s.now.Add(2 * keymap.DialogGuard)
		s.send(tuitest.KeyPress(k))
		all = append(all, s.out...)
	}
	s.out = all
}

// closeNotice closes the dialog that says why an attach was refused, and reports whether it was open.
func (s *stage) closeNotice() bool {
	c := s.m.Dialogs.Choice()
	if c == nil || c.Title != "Not attached" {
		return false
	}
	s.press("esc")
	return true
}

func (s *stage) change(edit func(*city.Snapshot)) {
	next := *s.m.Snap
	next.Agents = slices.Clone(s.m.Snap.Agents)
	for i := range next.Agents {
		if life := next.Agents[i].Session; life != nil {
			own := *life
			next.Agents[i].Session = &own
		}
	}
	next.Pools = slices.Clone(s.m.Snap.Pools)
	next.Rev++
	next.At, next.Patrol.Last = s.now, s.now
	edit(&next)
	s.hear(feed.News{Snap: &next})
}

func (s *stage) agent(name string, edit func(*city.Agent)) {
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			if n.Agents[i].Name == name {
				edit(&n.Agents[i])
			}
		}
	})
}

func (s *stage) choose(name string) {
	s.t.Helper()
	s.press("g")
	for range len(s.m.Agents.Rows) {
		if s.m.Agents.SelectedKey == name {
			return
		}
		s.press("j")
	}
	if s.m.Agents.SelectedKey != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.Agents.SelectedKey)
	}
}

func actionOf(m *state.Room, id string) *state.Action {
	for i := range m.Keys.Actions {
		if m.Keys.Actions[i].ID == id {
			return &m.Keys.Actions[i]
		}
	}
	return nil
}

func (s *stage) text() string {
	lines := view.Draw(s.m).Lines
	for i := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *stage) shows(want ...string) {
	s.t.Helper()
	text := s.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			s.t.Errorf("the screen does not show %q:\n%s", w, text)
		}
	}
}

func (s *stage) hides(not ...string) {
	s.t.Helper()
	text := s.text()
	for _, w := range not {
		if strings.Contains(text, w) {
			s.t.Errorf("the screen shows %q:\n%s", w, text)
		}
	}
}

func (s *stage) commands() []city.Command {
	var all []city.Command
	for _, e := range s.out {
		if p, ok := e.(feed.SendCommands); ok {
			all = append(all, p.Commands...)
		}
	}
	return all
}

func effectOf[E feed.Effect](s *stage) (E, bool) {
	var zero E
	for i := len(s.out) - 1; i >= 0; i-- {
		if e, ok := s.out[i].(E); ok {
			return e, true
		}
	}
	return zero, false
}

func feedOf(edit func(*city.Snapshot)) feed.News {
	n := demoSnapshot(epoch)
	edit(n)
	return feed.News{Snap: n}
}

func terminalWith(text string) terminal.Screen {
	s := terminal.NewScreen(terminal.DefaultCols, terminal.DefaultRows, terminal.Scrollback)
	_, _ = s.Write([]byte(text)) // never fails
	return s
}

func paneOf(agent, session string) *terminal.News {
	return &terminal.News{Agent: agent, Session: session, Screen: terminalWith(demoScreens()[agent]), LinesReceived: 63}
}
