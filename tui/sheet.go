package tui

import (
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
	"gcity/tui/widget"
)

// sheet lays a dialog over the screen, which steps back behind it.
func (m *model) sheet(s screenful) screenful {
	title, lines, w, x, y := m.sheetContent()
	if title == "" || m.w < 12 || m.h < 5 {
		return s
	}
	left, top, h := m.sheetPlace(len(lines), w)
	box := m.look.Box(title, lines[:h-2], w)
	for i := range s.lines {
		behind := ansi.Strip(s.lines[i])
		if i < top || i >= top+h {
			s.lines[i] = m.look.Paint(themes.Off, behind)
			continue
		}
		s.lines[i] = m.look.Paint(themes.Off, widget.Fit(behind, left, "")) + box[i-top] +
			m.look.Paint(themes.Off, widget.SkipColumns(behind, left+w))
	}
	s.x, s.y = -1, -1
	if x >= 0 && y+1 < h-1 {
		s.x, s.y = min(left+2+x, left+w-2), top+1+y
	}
	return s
}

// sheetPlace is where a dialog of that many lines is.
func (m *model) sheetPlace(lines, w int) (left, top, h int) {
	h = min(lines+2, m.h)
	return (m.w - w) / 2, max(0, (m.h-h)/3), h
}

// sheetContent is the open dialog, title "" if there is none.
func (m *model) sheetContent() (title string, lines []string, w, x, y int) {
	switch {
	case m.choice != nil:
		w = m.sheetWidth(76)
		lines, x, y = m.choiceSheet(w)
		return m.choice.title, lines, w, x, y
	case m.finder != nil:
		w = m.sheetWidth(max(96, min(140, m.w-16)))
		lines, x, y = m.finderSheet(w, min(m.h-2, len(m.finder.all)+finderHead+finderFoot))
		return m.finder.title, lines, w, x, y
	case m.reader != nil:
		w = m.sheetWidth(110)
		return m.reader.title, m.readerSheet(w), w, -1, -1
	case m.inbox != nil && !m.typing():
		w = m.sheetWidth(120)
		return m.inbox.title(), m.inboxSheet(w), w, -1, -1
	case m.inbox == nil && m.work != nil && m.prompt == nil:
		w = m.sheetWidth(120)
		return m.work.title(), m.workSheet(w), w, -1, -1
	}
	return "", nil, 0, -1, -1
}

// sheetWidth is the width of a sheet that would have want columns. Where it leaves only scraps of what is behind it, it takes
// the whole width.
func (m *model) sheetWidth(want int) int {
	const scraps = 8 // columns at each side
	if m.w < want+2*scraps {
		return m.w
	}
	return want
}

// sheetRows is how many lines of a text a sheet shows.
func (m *model) sheetRows() int {
	const low = 16 // below it no row is left to what is behind
	if m.h < low {
		return max(1, m.h-4)
	}
	return m.h - 6
}

func (m *model) readerSheet(w int) []string {
	r := m.reader
	all := r.lines(m, w-4)
	r.length = len(all)
	rows := min(m.sheetRows(), len(all))
	if r.runs != nil {
		r.offset = r.runs.scrollTo(r.offset, rows)
	}
	r.offset = max(0, min(r.offset, len(all)-rows))
	lines := append(make([]string, 0, rows+2), all[r.offset:r.offset+rows]...)
	keys := append(m.readerKeys(), m.keys.KeyOf("reader.close")+" closes")
	if len(all) > rows {
		keys = append([]string{m.keys.KeyOf("reader.down") + " " + m.keys.KeyOf("reader.up") + " scroll"}, keys...)
	}
	return append(lines, m.oldLine(w-4), m.look.Paint(themes.Dim, widget.Hints(w-4, keys...)))
}

// oldLine says below a sheet's text that the city is not heard: the sheet may cover the line that says it otherwise. "" = it is.
func (m *model) oldLine(w int) string {
	text := ""
	switch {
	case m.stopped():
		text = "the city was stopped " + widget.Age(m.now.Sub(m.lone)) + " ago"
	case m.lost():
		text = "the city is gone for " + widget.Age(m.now.Sub(m.lone))
	case m.gone != "":
		text = "the city cannot be heard"
	default:
		return ""
	}
	return m.look.Paint(themes.Bad, widget.Cut(m.look.Glyphs.Alert+" "+text+": this is how it was",
		w, m.look.Glyphs.More))
}
