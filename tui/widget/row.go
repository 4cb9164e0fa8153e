package widget

import (
	"cmp"

	"gcity/themes"
)

// RowState is the state of a row in a list.
type RowState struct {
	Cursor, Marked, Focus bool
	Unmatched             bool // the row no longer matches the filter
}

// NameToken returns the style of the row's name.
func (s *RowState) NameToken() themes.Token {
	switch {
	case s.Unmatched:
		return themes.Off
	case s.Cursor:
		return themes.Title
	}
	return themes.Text
}

// RowStart returns a line that begins with the cursor, the mark and a space.
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

// Reason is the reason for a state, followed by text that says what happens next.
type Reason struct {
	Text      string
	Brief     string // replaces Text if Text does not fit; "" = Text is cut
	Token     themes.Token
	Next      Phrase
	NextToken themes.Token
}

// Reason fills a cell with a reason, followed by what happens next.
func (k *Styles) Reason(l *Line, b Reason, w int) {
	const beginning = 16
	text, tail, more := b.Text, b.Next.Full, k.Glyphs.More
	if w-Width(tail)-3 < min(Width(text), beginning) {
		tail = b.Next.Brief
	}
	if tail == "" || Width(tail)+3 > w {
		if tail != "" {
			text = tail
			if Width(text) > w {
				text = cmp.Or(b.Next.Least, text)
			}
		}
		l.Add(b.Token, Fit(b.fitting(text, w), w, more))
		return
	}
	room := w - Width(tail) - 3
	if room < 10 {
		l.Add(b.Token, Fit(tail, w, more))
		return
	}
	text = Cut(b.fitting(text, room), room, more)
	l.Add(b.Token, text)
	if text != "" {
		l.Add(themes.Dim, " "+k.Glyphs.Dot+" ")
	}
	l.Add(b.NextToken, tail)
	l.Space(w - Width(text) - Width(tail) - 3)
	if text == "" {
		l.Space(3)
	}
}

func (b *Reason) fitting(text string, w int) string {
	if text == b.Text && b.Brief != "" && Width(text) > w {
		return b.Brief
	}
	return text
}

// Phrase says what will happen to an agent next, and when, in three lengths. The zero value means that nothing is
// expected.
type Phrase struct{ Full, Brief, Least string }

func SamePhrase(text string) Phrase { return Phrase{text, text, text} }
