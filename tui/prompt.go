package tui

import "gcity/themes"

// prompt is a line being typed at the foot of the screen.
type prompt struct {
	label  string
	live   func(m *model) string // says the label anew, nil = it stays
	hint   string
	edit   entry
	refuse func(text string) string             // on enter: why it cannot be that, "" = it can; nil = anything can
	change func(m *model, text string)          // after every change, nil = nothing
	done   func(m *model, text string) []effect // on enter
	cancel func(m *model)                       // on esc, nil = nothing
	within bool                                 // it searches in what the pane shows

	problem string // why it was refused, until something else is typed
}

// typing reports whether something is typed at the foot of the screen.
func (m *model) typing() bool { return m.prompt != nil || m.composer != nil }

func (m *model) donePrompt() []effect {
	p := m.prompt
	if p.refuse != nil {
		if p.problem = p.refuse(p.edit.String()); p.problem != "" {
			return nil
		}
	}
	m.prompt = nil
	return p.done(m, p.edit.String())
}

func (m *model) cancelPrompt() []effect {
	p := m.prompt
	m.prompt = nil
	if p.cancel != nil {
		p.cancel(m)
	}
	return nil
}

// promptLine draws it and says where the cursor is.
func (m *model) promptLine(w int) (string, int) {
	p := m.prompt
	asked := p.label
	if p.live != nil {
		asked = p.live(m)
	}
	l := line{look: &m.look}
	hint, token := "  "+p.hint, themes.Dim
	if p.problem != "" {
		hint, token = "  "+cut(p.problem, w/2, m.look.glyph.More), themes.Bad
	}
	label := cut(asked, w*3/4, m.look.glyph.More)
	if p.problem != "" { // it is worth more than the label
		label = cut(asked, w-width(hint)-8, m.look.glyph.More)
	} else if w < 70 || width(hint) > w-width(label)-12 {
		hint = ""
	}
	l.add(themes.Accent, " "+label+": ")
	text, at := p.edit.show(w - l.used - width(hint) - 1)
	x := l.used + at
	typed := themes.Text
	if p.edit.chosen {
		typed = themes.Select
	}
	l.add(typed, text)
	l.space(w - l.used - width(hint))
	l.add(token, hint)
	return crop(l.close(w), w), x
}
