package details

import (
	"time"

	"gcity/themes"
	"gcity/tui/widget"
)

// Message is a message that the status line has shown.
type Message struct {
	ID    int // ID of the action that it reports; 0 = none
	At    time.Time
	Text  string
	Token themes.Token
	Each  []string // result for each target, if there were several
}

// MessageLines returns past messages as lines of w columns, newest last.
func MessageLines(k *widget.Styles, all []Message, now time.Time, w int) []string {
	if len(all) == 0 {
		return []string{k.Paint(themes.Dim, "No messages yet. Results of actions are "+
			"listed here.")}
	}
	room := 0
	for i := range all {
		room = max(room, widget.Width(widget.Clock(all[i].At, now)))
	}
	var lines []string
	for i := range all {
		s := &all[i]
		sign, signs := k.Glyphs.OK, widget.Width(k.Glyphs.OK)
		switch s.Token {
		case themes.Bad:
			sign = k.Glyphs.Failed
		case themes.Busy:
			sign = k.Glyphs.Starting
		}
		at := k.Paint(themes.Dim, widget.Fit(widget.Clock(s.At, now), room, ""))
		sign = k.Paint(s.Token, widget.Fit(sign, signs, ""))
		lines = append(lines, widget.Hanging(at+"  "+sign+" ", s.Text, w)...)
		for _, one := range s.Each {
			lines = append(lines, widget.Hanging(widget.Spaces(room+3+signs)+
				k.Paint(themes.Dim, k.Glyphs.Dot)+" ", one, w)...)
		}
	}
	return lines
}
