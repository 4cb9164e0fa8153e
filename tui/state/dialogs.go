package state

import (
	"gcity/mail"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Task is a function that a dialog asks the model to run.
type Task = func(m *Room) []feed.Effect

type (
	Choice = dialog.Confirm[Task]
	Answer = dialog.Answer[Task]
	Reader = dialog.Reader[Task]
	Finder = dialog.Finder[Task]
	Item   = dialog.Item[Task]
	Prompt = dialog.Prompt[Task]

	Composer = dialog.Composer[Task]
	Unsent   = dialog.Unsent
)

type dialogs struct{ dialog.Stack[Task] }

// Choice returns the open question, or nil.
func (d *dialogs) Choice() *Choice {
	c, _ := d.In(keymap.InChoice).(*Choice)
	return c
}

// Reader returns the open reader, or nil.
func (d *dialogs) Reader() *Reader {
	r, _ := d.In(keymap.InReader).(*Reader)
	return r
}

// Finder returns the open searchable list, or nil.
func (d *dialogs) Finder() *Finder {
	f, _ := d.In(keymap.InFinder).(*Finder)
	return f
}

// Prompt returns the open input line, or nil.
func (d *dialogs) Prompt() *Prompt {
	p, _ := d.In(keymap.InPrompt).(*Prompt)
	return p
}

// Composer returns the open composer, or nil.
func (d *dialogs) Composer() *Composer {
	c, _ := d.In(keymap.InComposer).(*Composer)
	return c
}

// FootDialog returns the dialog at the bottom of the screen, or nil.
func (d *dialogs) FootDialog() dialog.Dialog[Task] {
	if p := d.In(keymap.InPrompt); p != nil {
		return p
	}
	return d.In(keymap.InComposer)
}

// Subject returns the subject of the open reader, or nil.
func (d *dialogs) Subject() any {
	if r := d.Reader(); r != nil {
		return r.About
	}
	return nil
}

// AgentText is the subject of a reader that shows an agent.
type AgentText struct {
	*details.Inspection
	Crashes bool
	Prompt  bool
}

// EventAgent is the agent of the open event.
type EventAgent string

// Inspection returns the inspection of the agent in the open reader, or nil.
func (d *dialogs) Inspection() *details.Inspection {
	if t, ok := d.Subject().(AgentText); ok {
		return t.Inspection
	}
	return nil
}

// History returns the runs of the automation in the open reader, or nil.
func (d *dialogs) History() *details.RunHistory {
	h, _ := d.Subject().(*details.RunHistory)
	return h
}

// OpenMessage returns the open message, or nil.
func (d *dialogs) OpenMessage() *mail.Message {
	l, _ := d.Subject().(*mail.Message)
	return l
}

// EventAgent returns the agent of the open event, or "".
func (d *dialogs) EventAgent() string {
	name, _ := d.Subject().(EventAgent)
	return string(name)
}

// Covers reports whether a question, a reader or a searchable list covers the panels.
func (d *dialogs) Covers() bool {
	return d.Choice() != nil || d.Reader() != nil || d.Finder() != nil
}

// RunTasks runs tasks from a dialog and returns their effects.
func (m *Room) RunTasks(tasks []Task) (todo []feed.Effect) {
	for _, t := range tasks {
		if t != nil {
			todo = append(todo, t(m)...)
		}
	}
	return todo
}

// Canvas returns the size, styles and keys that dialogs are drawn with.
func (m *Room) Canvas() dialog.Canvas {
	return dialog.Canvas{W: m.W, H: m.H, Styles: &m.Look, Keys: m.Keys, Stale: m.staleWarning}
}

// Overlay draws the dialog that covers the panels. Without one, the title is "".
func (m *Room) Overlay() (f dialog.Frame) {
	if m.Dialogs.Covers() {
		f = m.Dialogs.Top().Draw(m.Canvas())
	}
	return f
}

// staleWarning repeats the header's warning, because a dialog might cover it.
func (m *Room) staleWarning(w int) string {
	text := ""
	switch {
	case HasStopped(m):
		text = "the city stopped " + widget.Ago(m.SilentSince, m.Now)
	case Uncontrollable(m):
		text = "no response from the city for " + widget.Since(m.SilentSince, m.Now)
	case m.Unreachable != "":
		text = "the city cannot be reached"
	default:
		return ""
	}
	return m.Look.Paint(themes.Bad, m.Look.Cut(m.Look.Glyphs.Alert+" "+text+
		"; this is its last known state",
		w))
}

// Typing reports whether an input line or a composer is open at the bottom of the screen.
func (m *Room) Typing() bool { return m.Dialogs.FootDialog() != nil }
