package state

import (
	"fmt"
	"strings"

	"gcity/beads"
	"gcity/city"
)

// ParseBead parses a bead from typed text. why is the reason why the text is invalid, or "". Empty text is not an
// error.
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
