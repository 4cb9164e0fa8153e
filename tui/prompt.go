package tui

import "gcity/themes"

// prompt is a line being typed at the foot of the screen.
type prompt struct {
	label  string
	hint   string
	edit   entry
	change func(m *model, text string)          // after every change, nil = nothing
	done   func(m *model, text string) []effect // on enter
	cancel func(m *model)                       // on esc, nil = nothing
}

func (m *model) donePrompt() []effect {
	p := m.prompt
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
	l.add(themes.Accent, " "+cut(p.label, w/2, m.look.glyph.More)+m.look.glyph.Cursor+" ")
	hint := "  " + p.hint
	if w < 70 || width(hint) > w/2 {
		hint = ""
	}
	text, at := p.edit.show(w - l.used - width(hint) - 1)
	x := l.used + at
	l.add(themes.Text, text)
	l.space(w - l.used - width(hint))
	l.add(themes.Dim, hint)
	return crop(l.close(w), w), x
}
