package widget

import (
	"gcity/themes"
)

// RowState is how a row of a list is marked.
type RowState struct {
	Cursor, Marked, Focus bool
	Stray                 bool // the filter leaves it out by now
}

// NameToken is how the row's name is painted.
func (s *RowState) NameToken() themes.Token {
	switch {
	case s.Stray:
		return themes.Off
	case s.Cursor:
		return themes.Title
	}
	return themes.Text
}

// RowStart begins a row: cursor, mark, a blank.
func (k *Styles) RowStart(s RowState) Line {
	l := Line{Styles: k}
	if s.Cursor && s.Focus {
		l.Selected = true
	}
	cursor, token := " ", themes.Text
	if s.Cursor {
		cursor, token = k.Glyphs.Cursor, themes.Dim
		if s.Focus {
			token = themes.Accent
		}
	}
	l.Add(token, cursor)
	mark := " "
	if s.Marked {
		mark = k.Glyphs.Mark
	}
	l.Add(themes.Accent, mark)
	l.Add(themes.Text, " ")
	return l
}

// Reason is a reason with what belongs to it.
type Reason struct {
	Text      string
	Token     themes.Token
	Tail      Phrase
	TailToken themes.Token
}

// Reason fills a cell: the text, shortened, and its tail, never shortened as long as it fits at all; in few words where
// that leaves the text more than a beginning.
func (k *Styles) Reason(l *Line, b Reason, w int) {
	const beginning = 16
	text, tail, more := b.Text, b.Tail.Full, k.Glyphs.More
	if w-Width(tail)-3 < min(Width(text), beginning) {
		tail = b.Tail.Brief
	}
	if tail == "" || Width(tail)+3 > w {
		if tail != "" {
			text = tail
		}
		l.Add(b.Token, Fit(text, w, more))
		return
	}
	room := w - Width(tail) - 3
	if room < 10 {
		l.Add(b.Token, Fit(tail, w, more))
		return
	}
	text = Cut(text, room, more)
	l.Add(b.Token, text)
	if text != "" {
		l.Add(themes.Dim, " "+k.Glyphs.Dot+" ")
	}
	l.Add(b.TailToken, tail)
	l.Space(w - Width(text) - Width(tail) - 3)
	if text == "" {
		l.Space(3)
	}
}

// Phrase is what will happen to an agent by itself, and when: in full, and in as few words as beside its state will do.
// The zero value says that nothing is known to happen.
type Phrase struct{ Full, Brief string }

func Same(text string) Phrase { return Phrase{text, text} }
