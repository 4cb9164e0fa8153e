package state

import (
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// ParseBead parses a bead from typed text. If the text is invalid, it returns the reason. Empty text is valid.
func ParseBead(m *Room, text string) (b beads.Bead, why string) {
	var title []string
	for _, word := range strings.Fields(text) {
		name, ok := strings.CutPrefix(word, "pool:")
		switch {
		case !ok:
			title = append(title, word)
		case m.Pools.Find(name) == nil:
			return b, fmt.Sprintf("unknown pool %q", name)
		default:
			b.Labels = append(b.Labels, city.PoolLabel+name)
		}
	}
	b.Title = strings.Join(title, " ")
	switch {
	case len(b.Title) > beads.MaxTitle:
		return b, fmt.Sprintf("too long: at most %d bytes", beads.MaxTitle)
	case b.Title == "" && len(b.Labels) > 0:
		return b, "a title is missing"
	}
	return b, ""
}

// WithNextPool adds a word pool:NAME to the text of a new bead, or changes that word to the next pool.
func WithNextPool(m *Room, text string) string {
	if len(m.Pools.Rows) == 0 {
		return text
	}
	at := strings.LastIndexByte(text, ' ') + 1
	part, ok := strings.CutPrefix(text[at:], "pool:")
	if !ok {
		at, part = len(text), ""
	}
	next := 0
	for i := range m.Pools.Rows {
		switch name := m.Pools.Rows[i].Name; {
		case name == part:
			next = (i + 1) % len(m.Pools.Rows)
		case part != "" && strings.HasPrefix(name, part) && m.Pools.Find(part) == nil:
			next = i
		}
	}
	before := text[:at]
	if before != "" && !strings.HasSuffix(before, " ") {
		before += " "
	}
	return before + "pool:" + m.Pools.Rows[next].Name
}

// OwnerOf returns the assignee or the pool of a bead.
func OwnerOf(b *beads.Bead) string {
	if b.Assignee != "" {
		return "assigned to " + widget.Plain(b.Assignee)
	}
	if pool := panel.PoolOf(b); pool != "" {
		return "pool " + widget.Plain(pool)
	}
	return ""
}

// ReadyWork sorts a copy of beads: unassigned beads first, then by urgency.
func ReadyWork(all []beads.Bead) []beads.Bead {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b beads.Bead) int {
		if free := a.Assignee == ""; free != (b.Assignee == "") {
			if free {
				return -1
			}
			return 1
		}
		return beads.ByUrgency(a, b)
	})
	return all
}
