package tui

import "gcity/themes"

// prompt is a line being typed at the foot of the screen.
type prompt struct {
	label  string
	hint   string
	edit   entry
	refuse func(text string) string             // on enter: why it cannot be that, "" = it can; nil = anything can
	change func(m *model, text string)          // after every change, nil = nothing
	done   func(m *model, text string) []effect // on enter
	cancel func(m *model)                       // on esc, nil = nothing

	problem string // why it was refused, until something else is typed
}

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
	l := line{look: &m.look}
	hint, token := "  "+p.hint, themes.Dim
	if p.problem != "" {
		hint, token = "  "+cut(p.problem, w/2, m.look.glyph.More), themes.Bad
	}
	label := cut(p.label, w*3/4, m.look.glyph.More)
	if p.problem != "" { // it is worth more than the label
		label = cut(p.label, w-width(hint)-8, m.look.glyph.More)
	} else if w < 70 || width(hint) > w-width(label)-12 {
		hint = ""
	}
	l.add(themes.Accent, " "+label+": ")
	text, at := p.edit.show(w - l.used - width(hint) - 1)
	x := l.used + at
	l.add(themes.Text, text)
	l.space(w - l.used - width(hint))
	l.add(token, hint)
	return crop(l.close(w), w), x
}
