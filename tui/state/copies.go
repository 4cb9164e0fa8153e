package state

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/tui/details"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Copies returns the values that can be copied from the selection. Unknown values are omitted.
func Copies(m *Room) []panel.Copied {
	var all []panel.Copied
	switch p := m.ActionPanel(); {
	case p.About().Kind == panel.KindAgent:
		all = agentCopies(m)
	default:
		all = p.Copies()
	}
	known := all[:0]
	for _, c := range all {
		if c.Text = clean(c.Text); c.Text != "" {
			known = append(known, c)
		}
	}
	return known
}

// clean removes escape sequences and control characters, because users might paste text into a terminal (L12).
func clean(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || widget.Printable(r) {
			return r
		}
		return -1
	}, ansi.Strip(text)), "\n")
}

func agentCopies(m *Room) []panel.Copied {
	rows := Targets(m)
	if len(rows) > 1 {
		each := make([]string, len(rows))
		for i, r := range rows {
			each[i] = r.Name
		}
		return []panel.Copied{{What: "names, one per line", Text: strings.Join(each, "\n")}}
	}
	if len(rows) == 0 {
		return nil
	}
	return details.AgentCopies(m.Details(), rows[0])
}
