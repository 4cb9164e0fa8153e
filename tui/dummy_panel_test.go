package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// toy is a row of a panel that exists only in this file.
type toy struct {
	name string
	size int
	rank int
}

func (r *toy) Key() string { return r.name }

func newToys() panel.Panel {
	toys := panel.NewTable(panel.Definition[*toy]{
		About: panel.About{ID: "toys", Title: "Toys", Hotkey: "T", Noun: "toy", Zone: "Toys",
			Kind: "toy", Opens: "toy.fix", Nouns: []string{"toy"}, Share: 5, MinHeight: 3},
		Rows: func(e *panel.Env) (rows []*toy) {
			for i := range e.Snap.Rigs {
				r := &e.Snap.Rigs[i]
				rows = append(rows, &toy{name: r.Name, size: r.Agents, rank: i})
			}
			return rows
		},
		Orders: func(time.Time) []widget.SortKey[*toy] {
			return []widget.SortKey[*toy]{
				{Name: "rank", Cmp: func(a, b *toy) int { return a.rank - b.rank }},
				{Name: "size", Cmp: func(a, b *toy) int { return b.size - a.size }},
			}
		},
		Matches: func(r *toy, t *widget.Term, _ time.Time) bool { return t.In(r.name) },
		Columns: func(*panel.Env, []*toy, int) []panel.Column[*toy] {
			return []panel.Column[*toy]{
				{Head: "toy", W: 12, Cell: func(l *widget.Line, r *toy, _ widget.RowState) {
					l.Add(themes.Text, widget.Fit("toy "+r.name, 12, ""))
				}},
				{Head: "size", W: 6, Gap: 1, Right: true, Cell: func(l *widget.Line, r *toy,
					_ widget.RowState) {
					l.Add(themes.Dim, widget.FitRight(widget.Number(r.size), 6, ""))
				}},
			}
		},
		Actions: nil,
	})
	toys.Def.Actions = func() []panel.Action {
		return []panel.Action{{Writes: true, Action: panel.Key{
			ID: "toy.fix", Key: keymap.Bind("fix the toy", "enter"), Short: "fix",
			Why: func(*panel.Env) string {
				if toys.Subject().Name == "kite" {
					return "a kite cannot be fixed"
				}
				return ""
			},
			Run: func(*panel.Env) []panel.Request {
				return []panel.Request{{Doing: "fixing", What: toys.Subject().Name,
					Commands: []city.Command{city.Restart{Agent: toys.Subject().Name}}}}
			},
		}}}
	}
	return &toys
}

// A panel can be defined in one file: it is drawn, filtered, sorted, marked and acted on without changes elsewhere.
func TestAPanelInOneFile(t *testing.T) {
	s := demo(t, 120, 40)
	s.m.Panels = append(s.m.Panels, newToys())
	applyPreferences(s.m, s.m.Preferences)
	s.change(func(n *city.Snapshot) {
		n.Rigs = []city.Rig{{Name: "top", Agents: 1}, {Name: "kite", Agents: 7}, {Name: "ball", Agents: 4}}
	})
	s.press("T")
	s.shows("Toys", "toy top", "toy kite", "toy ball", "fix")
	order := func() (names []string) {
		for _, line := range strings.Split(s.text(), "\n") {
			for _, name := range []string{"top", "kite", "ball"} {
				if strings.Contains(line, "toy "+name+" ") {
					names = append(names, name)
				}
			}
		}
		return names
	}
	if got := order(); !slices.Equal(got, []string{"top", "kite", "ball"}) {
		t.Errorf("the default order is %v", got)
	}
	s.press("o")
	if got := order(); !slices.Equal(got, []string{"kite", "ball", "top"}) {
		t.Errorf("sorted by size: %v", got)
	}
	if got := s.m.Subject(); got != (panel.Ref{Kind: "toy", Name: "top"}) {
		t.Errorf("the cursor moved to %v", got)
	}
	s.press("g", "enter")
	s.wants()
	s.shows("a kite cannot be fixed")
	s.press("j", "space")
	s.shows("1 marked")
	s.press("/")
	s.typeIn("top")
	s.press("enter")
	s.hides("toy kite")
	s.press("enter")
	s.wants(city.Restart{Agent: "top"})
	s.press("x")
	s.shows("Actions for", "fix the toy")
}
