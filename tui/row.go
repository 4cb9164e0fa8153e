package tui

import (
	"gcity/themes"
)

// rowState is how a row of a list is marked.
type rowState struct {
	cursor, marked, focus bool
	stray                 bool // the filter leaves it out by now
}

// name is how the row's name is painted.
func (s *rowState) name() themes.Token {
	switch {
	case s.stray:
		return themes.Off
	case s.cursor:
		return themes.Title
	}
	return themes.Text
}

// start begins a row: cursor, mark, a blank.
func (k *look) start(s rowState) line {
	l := line{look: k}
	if s.cursor && s.focus {
		l.here = true
	}
	cursor, token := " ", themes.Text
	if s.cursor {
		cursor, token = k.glyph.Cursor, themes.Dim
		if s.focus {
			token = themes.Accent
		}
	}
	l.add(token, cursor)
	mark := " "
	if s.marked {
		mark = k.glyph.Mark
	}
	l.add(themes.Accent, mark)
	l.add(themes.Text, " ")
	return l
}

// because is a reason with what belongs to it.
type because struct {
	text      string
	token     themes.Token
	tail      outlook
	tailToken themes.Token
}

// because fills a cell: the text, shortened, and its tail, never shortened as long as it fits at all; in few words where
// that leaves the text more than a beginning.
func (k *look) because(l *line, b because, w int) {
	const beginning = 16
	text, tail, more := b.text, b.tail.full, k.glyph.More
	if w-width(tail)-3 < min(width(text), beginning) {
		tail = b.tail.brief
	}
	if tail == "" || width(tail)+3 > w {
		if tail != "" {
			text = tail
		}
		l.add(b.token, fit(text, w, more))
		return
	}
	room := w - width(tail) - 3
	if room < 10 {
		l.add(b.token, fit(tail, w, more))
		return
	}
	text = cut(text, room, more)
	l.add(b.token, text)
	if text != "" {
		l.add(themes.Dim, " "+k.glyph.Dot+" ")
	}
	l.add(b.tailToken, tail)
	l.space(w - width(text) - width(tail) - 3)
	if text == "" {
		l.space(3)
	}
}

// outlook is what will happen to an agent by itself, and when: in full, and in as few words as beside its state will do.
// The zero value says that nothing is known to happen.
type outlook struct{ full, brief string }

func same(text string) outlook { return outlook{text, text} }
