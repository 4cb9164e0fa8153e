package tui

import (
	"fmt"
	"slices"
	"testing"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// busy is a room in which all panels have many rows, and some beads and mail belong to no agent.
func busy(t *testing.T, w, h int) *stage {
	s := demo(t, w, h)
	s.change(func(n *city.Snapshot) {
		n.Agents = append(n.Agents, crowd(50).Agents...)
		withAutomations(n)
		withWatchdogs(n)
		withRigs(n)
		for i := range n.Automations[:6] {
			a := n.Automations[i]
			a.Name += "-again"
			n.Automations = append(n.Automations, a)
		}
	})
	withMail(s)
	for _, key := range []string{"8", "9"} {
		s.press(key)
		s.find(slices.Concat(todaysWork(), someMail()), "")
	}
	s.press("1")
	return s
}

// In each panel, the palette, the help and the menu open for each row.
func TestEveryRowOpensThePalette(t *testing.T) {
	s := busy(t, 120, 40)
	for _, p := range s.m.Panels {
		id := p.About().ID
		s.press(s.m.Keys.KeyText("focus." + string(id)))
		if s.m.Focus != id {
			t.Fatalf("the focus is on %s, not on %s", s.m.Focus, id)
		}
		s.press("g")
		_, _, shown, _ := p.Cursor()
		for i := range min(shown, 20) {
			for _, key := range []string{":", "?", "x"} {
				s.press(key)
				s.frame(fmt.Sprintf("%s in row %d of %s", key, i, id))
				s.press("esc")
			}
			s.press("j")
		}
	}
}

// enoughRows checks that on a wide screen, Agents and the panel with the focus have room for some rows.
func (s *stage) enoughRows() {
	s.t.Helper()
	if !state.HasSides(s.m) {
		return
	}
	agents, own := state.AreaOf(s.m, panel.IDAgents), state.AreaOf(s.m, s.m.Focus)
	least := 12 // the title, the headings and ten rows
	if s.m.Below {
		least = 4
	}
	if agents == nil || agents.H < least || own == nil || own.H < 2 {
		s.t.Errorf("%dx%d: Agents has the area %+v, the panel with the focus %+v:\n%s", s.m.W, s.m.H, agents, own, s.text())
	}
}

// At every size, each panel can have the focus, and its selected row is on the screen, with the pane below or beside
// the lists.
func TestBusyRoomAtEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	s := busy(t, 120, 40)
	for _, w := range []int{1, 39, 40, 59, 76, 100, 120, 159, 160, 180, 200, 250} {
		for _, h := range []int{1, 9, 10, 15, 16, 22, 28, 39, 40, 41, 42, 45, 50, 60} {
			s.size(w, h)
			for range 2 {
				for _, p := range s.m.Panels {
					s.press(s.m.Keys.KeyText("focus." + string(p.About().ID)))
					s.frame(fmt.Sprintf("%s at %dx%d, below %v", p.About().ID, w, h, s.m.Below))
					s.enoughRows()
				}
				s.press("P")
			}
		}
	}
}
