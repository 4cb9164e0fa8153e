package tui

import (
	"gcity/mail"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// task is a function that a dialog asks the model to run.
type task = func(m *model) []feed.Effect

type (
	choice = dialog.Confirm[task]
	answer = dialog.Answer[task]
	reader = dialog.Reader[task]
	finder = dialog.Finder[task]
	item   = dialog.Item[task]
	prompt = dialog.Prompt[task]

	composer = dialog.Composer[task]
	unsent   = dialog.Unsent
)

// dialogs is the stack of dialogs over the panels. It finds dialogs by type.
type dialogs struct{ dialog.Stack[task] }

// choice returns the open question, or nil.
func (d *dialogs) choice() *choice {
	c, _ := d.In(keymap.InChoice).(*choice)
	return c
}

// reader returns the open text, or nil.
func (d *dialogs) reader() *reader {
	r, _ := d.In(keymap.InReader).(*reader)
	return r
}

// finder returns the open searchable list, or nil.
func (d *dialogs) finder() *finder {
	f, _ := d.In(keymap.InFinder).(*finder)
	return f
}

// prompt returns the line that is being typed, or nil.
func (d *dialogs) prompt() *prompt {
	p, _ := d.In(keymap.InPrompt).(*prompt)
	return p
}

// composer returns the text that is being written, or nil.
func (d *dialogs) composer() *composer {
	c, _ := d.In(keymap.InComposer).(*composer)
	return c
}

// foot returns the dialog at the foot of the screen, or nil.
func (d *dialogs) foot() dialog.Dialog[task] {
	if p := d.In(keymap.InPrompt); p != nil {
		return p
	}
	return d.In(keymap.InComposer)
}

// about returns the subject of the open text, or nil.
func (d *dialogs) about() any {
	if r := d.reader(); r != nil {
		return r.About
	}
	return nil
}

type agentText struct {
	*details.Inspection
	crashes bool // the text shows the agent's crashes
	prompt  bool // the text shows the agent's prompt
}

// eventAgent is the agent of the open event.
type eventAgent string

// dossier returns the inspection of the agent that the open text is about, or nil.
func (d *dialogs) dossier() *details.Inspection {
	if t, ok := d.about().(agentText); ok {
		return t.Inspection
	}
	return nil
}

// history returns the runs of the automation of the open text, or nil.
func (d *dialogs) history() *details.RunHistory {
	h, _ := d.about().(*details.RunHistory)
	return h
}

// openMessage returns the open message, or nil.
func (d *dialogs) openMessage() *mail.Message {
	l, _ := d.about().(*mail.Message)
	return l
}

// eventAgent returns the agent of the open event, or "".
func (d *dialogs) eventAgent() string {
	name, _ := d.about().(eventAgent)
	return string(name)
}

// covers reports whether a question, a text or a searchable list covers the panels.
func (d *dialogs) covers() bool {
	return d.choice() != nil || d.reader() != nil || d.finder() != nil
}

func (m *model) runTasks(tasks []task) (todo []feed.Effect) {
	for _, t := range tasks {
		if t != nil {
			todo = append(todo, t(m)...)
		}
	}
	return todo
}

// canvas returns the size, styles and keys that dialogs are drawn with.
func (m *model) canvas() dialog.Canvas {
	return dialog.Canvas{W: m.w, H: m.h, Styles: &m.look, Keys: m.keys, Stale: m.oldLine}
}

// oldLine returns a warning that the city does not answer, or "". Dialogs show it because they may cover the header.
func (m *model) oldLine(w int) string {
	text := ""
	switch {
	case stopped(m):
		text = "the city stopped " + widget.Age(m.now.Sub(m.lone)) + " ago"
	case lost(m):
		text = "no answer from the city for " + widget.Age(m.now.Sub(m.lone))
	case m.gone != "":
		text = "the city cannot be reached"
	default:
		return ""
	}
	return m.look.Paint(themes.Bad, widget.Cut(m.look.Glyphs.Alert+" "+text+
		": this is its last known state",
		w, m.look.Glyphs.More))
}

// typing reports whether an input line or composer is open at the foot of the screen.
func (m *model) typing() bool { return m.dialogs.foot() != nil }
