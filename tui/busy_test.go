package tui

import (
	"fmt"
	"slices"
	"testing"

	"gcity/city"
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
