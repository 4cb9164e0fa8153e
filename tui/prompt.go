package tui

import (
	"gcity/themes"
	"gcity/tui/widget"
)

// prompt is a line being typed at the foot of the screen.
type prompt struct {
	label  string
	live   func(m *model) string // says the label anew, nil = it stays
	hint   string
	edit   widget.Entry
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
	l := widget.Line{Styles: &m.look}
	hint, token := "  "+p.hint, themes.Dim
	if p.problem != "" {
		hint, token = "  "+widget.Cut(p.problem, w/2, m.look.Glyphs.More), themes.Bad
	}
	label := widget.Cut(asked, w*3/4, m.look.Glyphs.More)
	if p.problem != "" { // it is worth more than the label
		label = widget.Cut(asked, w-widget.Width(hint)-8, m.look.Glyphs.More)
	} else if w < 70 || widget.Width(hint) > w-widget.Width(label)-12 {
		hint = ""
	}
	l.Add(themes.Accent, " "+label+": ")
	text, at := p.edit.Show(w - l.Width - widget.Width(hint) - 1)
	x := l.Width + at
	typed := themes.Text
	if p.edit.Replaces {
		typed = themes.Select
	}
	l.Add(typed, text)
	l.Space(w - l.Width - widget.Width(hint))
	l.Add(token, hint)
	return widget.Crop(l.Fill(w), w), x
}
