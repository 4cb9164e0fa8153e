package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

// While Pools has the focus, agent verbs are refused, because the agent they would act on is not visible.
func TestAgentVerbsAreRefusedAmongPools(t *testing.T) {
	for _, key := range []string{"i", "u", "ctrl+k"} {
		for _, marked := range []bool{false, true} {
			s := pooled(t, 120, 40)
			s.choose("scout") // quarantined, so u would release it without a confirmation
			if marked {
				s.press("space")
			}
			s.press("2", key)
			if len(s.commands()) > 0 || s.m.Dialogs.Choice() != nil || s.m.Dialogs.Prompt() != nil {
				t.Errorf("%s does something: %v", key, s.commands())
			}
			if _, attached := effectOf[feed.Attach](s); attached {
				t.Errorf("%s attaches", key)
			}
			if !strings.HasSuffix(s.m.Status.Text, ": press 1 for the agents; r, s, D, S, <, > and K act on pools") {
				t.Errorf("%s: %q", key, s.m.Status.Text)
			}
			s.press("esc", "1", "g")
			if s.choose("scout"); key == "u" {
				s.press(key)
				if got := s.commands(); len(got) != 1 || got[0] != (city.Release{Agent: "scout"}) {
					t.Errorf("in Agents, the key sends %v", got)
				}
			}
		}
	}
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("s")
	s.shows("Suspend pool worker?")
	s.press("esc", "d")
	s.shows("━ pool worker ━")
}

// At every width that has room for lists, the screen says why rows are hidden.
func TestActiveFilterIsShown(t *testing.T) {
	for _, w := range []int{40, 50, 60, 76, 80, 100, 119, 120, 160} {
		for panel, found := range map[string]string{"1": "2 of 21", "2": "1 of 5"} {
			s := pooled(t, w, 24)
			s.press(panel, "/", "r", "i", "g", ":", "s", "h", "o", "p", "enter")
			top := strings.Split(s.text(), "\n")[2]
			if !strings.Contains(top, " /rig:") || w >= 60 && !strings.Contains(top, "/rig:shop") || !strings.Contains(top, found) {
				t.Errorf("%d columns: %s", w, top)
			}
			s.press("esc", "!")
			top = strings.Split(s.text(), "\n")[2]
			if !strings.Contains(top, " !atte") || !strings.Contains(top, " of ") {
				t.Errorf("%d columns: %s", w, top)
			}
		}
	}
	s := pooled(t, 80, 24)
	s.press("5", "/", "c", "r", "a", "s", "h", "enter")
	s.shows("━ 5 Events /crash ")
	s = pooled(t, 80, 24)
	s.press("2", "/", "r", "i", "g", ":", "s", "h", "o", "p", "enter")
	s.shows("━ 2 Pools /rig:shop 1 of 5 ")
}

// activeTab returns the title in reverse video on a line with a heavy rule, or "".
func (s *stage) activeTab() string {
	for _, line := range view.Draw(s.m).Lines {
		if !strings.Contains(line, s.m.Look.Glyphs.Heavy) {
			continue
		}
		if title := reversed(line); title != "" {
			return title
		}
	}
	return ""
}

func reversed(line string) (text string) {
	for _, p := range paintedParts(line) {
		if strings.Contains(p.style, ";7;") {
			text += p.text
		}
	}
	return strings.TrimSpace(text)
}

// paintedPart is a text with its style. The SGR codes are between semicolons: ";1;7;".
type paintedPart struct{ style, text string }

func paintedParts(line string) (parts []paintedPart) {
	style := ""
	for i, s := range strings.Split(line, "\x1b[") {
		text := s
		if i > 0 {
			style, text, _ = strings.Cut(s, "m")
		}
		if text != "" {
			parts = append(parts, paintedPart{";" + style + ";", text})
		}
	}
	return parts
}

// The row under the cursor is painted over its full width, with and without colors.
func TestSelectionIsPainted(t *testing.T) {
	for look, options := range looks() {
		for keys, want := range map[string][2]string{"1": {"prober", "1"}, "5": {"shop/reviewer", "5"}} {
			s := newStage(t, options)
			s.size(80, 24)
			s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
			s.press(keys)
			if got := s.activeTab(); !strings.HasPrefix(got, want[1]) {
				t.Errorf("%s: the active title is %q", look, got)
			}
			painted := 0
			for _, line := range view.Draw(s.m).Lines[2:] {
				if !strings.HasPrefix(ansi.Strip(line), ">") {
					continue
				}
				if !strings.Contains(line, want[0]) {
					t.Errorf("%s: the selected row is %q", look, line)
				}
				for _, p := range paintedParts(line) {
					if !strings.Contains(p.style, ";7;") && !strings.Contains(p.style, ";48;") {
						t.Errorf("%s: %q has the style %q", look, p.text, p.style)
					}
					painted += widget.Width(p.text)
				}
			}
			if painted != 80 {
				t.Errorf("%s, %s: %d columns are painted", look, keys, painted)
			}
		}
	}
}

// In Pools, attach opens a member of the pool.
func TestAttachAmongPools(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	var running []string
	for _, r := range state.MembersAt(s.m) {
		running = append(running, r.Name)
	}
	if len(running) < 2 {
		t.Fatalf("running members: %v", running)
	}
	s.shows("a attach")
	s.press("a")
	s.shows("Attach to a member of worker", running[0], running[1])
	s.press("down", "enter")
	if e, ok := effectOf[feed.Attach](s); !ok || e.Agent != running[1] {
		t.Errorf("attached to %+v, not to %s", e, running[1])
	}
	only := running[0]
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			if a := &n.Agents[i]; a.Pool == "worker" && a.Name != only {
				a.Running = false
			}
		}
	})
	s.press("a")
	if e, ok := effectOf[feed.Attach](s); !ok || e.Agent != only {
		t.Errorf("attached to %+v, not to %s", e, only)
	}
	s.agent(only, func(a *city.Agent) { a.Running = false })
	s.press("a")
	if _, ok := effectOf[feed.Attach](s); ok {
		t.Error("attached to no agent")
	}
	s.shows("no member of the pool worker is running")
}

// The open list of members is kept up to date.
func TestListOfMembersIsCurrent(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	first := state.MembersAt(s.m)[0].Name
	s.press("a")
	s.change(func(n *city.Snapshot) {
		n.Agents = append(n.Agents, city.Agent{Name: "worker-99", Pool: "worker", State: city.Running, Running: true})
		for i := range n.Agents {
			if n.Agents[i].Name == first {
				n.Agents[i].State = city.Draining
			}
		}
	})
	s.shows("worker-99")
	found := s.m.Dialogs.Finder().Found
	if last := found[len(found)-1].Line; last != first {
		t.Errorf("the member that leaves: want %s last, got %s", first, last)
	}
	if at := s.m.Dialogs.Finder().Current().Line; at != first {
		t.Errorf("the cursor went from %s to %s", first, at)
	}
}

func TestQuarantineKeepsTheSelectionOfAgents(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("3")
	s.shows("0 scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
	s.press("3", "1", "D", "y")
	s.wants(city.Drain{Agent: "builder"})
	s.press("3", "0", "esc")
	if s.m.Agents.SelectedKey != "builder" {
		t.Errorf("after a visit to the pane, %s is selected", s.m.Agents.SelectedKey)
	}
	s.press("3", "j", "1")
	if s.m.Agents.SelectedKey != "builder" {
		t.Errorf("after a key in Quarantine, %s is selected", s.m.Agents.SelectedKey)
	}
}

// If the logs were opened from a list, the same key goes back to that list.
func TestLogsGoBackToTheirList(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("l", "l")
	if s.m.Focus != panel.IDAgents || s.m.Zoomed {
		t.Errorf("the focus is on %s, zoomed %v", s.m.Focus, s.m.Zoomed)
	}
	s.press("enter", "l", "l")
	if s.m.Focus != panel.IDPeek || !s.m.Zoomed {
		t.Errorf("the focus is on %s, zoomed %v", s.m.Focus, s.m.Zoomed)
	}
}
