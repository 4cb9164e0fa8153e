package tui

import (
	"gcity/themes"
	"gcity/tui/widget"
)

// listing is the content of a dialog that lists mail or work.
type listing struct {
	problem string // why it could not be read; "" = no error
	known   bool   // an answer has arrived
	none    string // text of an empty list
	rows    int
	at      int  // row under the cursor
	offset  *int // first visible row
	titled  bool // every visible row needs the title above it
	row     func(i, w int) string
	keys    []string
}

// listSheet draws a list, the keys that work there, and the status of actions started from it.
func listSheet(m *model, w int, l listing) []string {
	inner := w - 4
	var lines []string
	if l.problem != "" {
		lines = append(lines, m.look.Paint(themes.Bad,
			widget.Cut("cannot be read: "+l.problem, inner, m.look.Glyphs.More)))
	}
	switch {
	case !l.known:
		lines = append(lines, m.look.Paint(themes.Dim, "loading "+m.look.Glyphs.More))
	case l.rows == 0 && l.problem == "":
		for _, part := range widget.Wrap(l.none, inner) {
			lines = append(lines, m.look.Paint(themes.Dim, part))
		}
	}
	room := max(1, m.h-8-len(lines))
	*l.offset = widget.ScrollTo(l.at, *l.offset, room, l.rows)
	if l.titled && l.at == 1 && room > 1 {
		*l.offset = 0
	}
	for i := *l.offset; i < min(l.rows, *l.offset+room); i++ {
		lines = append(lines, l.row(i, inner))
	}
	lines = append(lines, m.oldLine(inner),
		m.look.Paint(themes.Dim, widget.Hints(inner, l.keys...)))
	if (m.status.failed || m.status.pending || m.now.Sub(m.status.since) < fade) &&
		m.status.text != "" {
		lines = append(lines, statusLine(m, inner))
	}
	return lines
}
