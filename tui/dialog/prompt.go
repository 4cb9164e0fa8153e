package dialog

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Prompt is an input line at the bottom of the screen.
type Prompt[T any] struct {
	passive
	Label        string
	CurrentLabel func() string // returns the current label; nil = the label is constant
	Hint         string
	Edit         widget.Entry
	// returns the reason why text is not accepted, or ""; nil = any text is accepted
	Validate func(text string) string
	Change   func(text string)   // called after every change; nil = not called
	Done     func(text string) T // returns the task for the line; nil = no task
	// returns the text that replaces the typed text at the next step; nil = none
	Next   func(text string) string
	Leads  bool   // another input follows this one
	Cancel func() // called if the user leaves the line without submitting it; nil = not called
	About  any    // what the owner uses the prompt for

	problem string
}

// Zone implements Dialog.
func (p *Prompt[T]) Zone() keymap.Zone { return keymap.InPrompt }

// Key edits the text.
func (p *Prompt[T]) Key(k tea.KeyPressMsg, _ func()) []T {
	if p.Edit.Key(k) {
		p.changed()
	}
	return nil
}

// Paste inserts text.
func (p *Prompt[T]) Paste(text string) {
	if !p.Edit.Paste(text) {
		p.problem = pasteTooLong()
		return
	}
	p.changed()
}

func pasteTooLong() string {
	return fmt.Sprintf("the pasted text is too long: a line holds at most %d characters",
		widget.MaxTyped)
}

func (p *Prompt[T]) changed() {
	p.problem = ""
	if p.Change != nil {
		p.Change(p.Edit.String())
	}
}

// Submit closes the line and returns its task, unless the text is rejected.
func (p *Prompt[T]) Submit(close func()) []T {
	text := p.Edit.String()
	if p.Validate != nil {
		if p.problem = p.Validate(text); p.problem != "" {
			return nil
		}
	}
	close()
	if p.Done == nil {
		return nil
	}
	return []T{p.Done(text)}
}

// Step goes to the next step of the input.
func (p *Prompt[T]) Step(close func()) []T {
	switch {
	case p.Next != nil:
		p.Edit = widget.NewEntry(p.Next(p.Edit.String()))
		p.changed()
	case p.Leads:
		return p.Submit(close)
	}
	return nil
}

// Leave closes the line without a task.
func (p *Prompt[T]) Leave(close func()) {
	close()
	if p.Cancel != nil {
		p.Cancel()
	}
}

// fitLabel shortens a label to w columns. It drops whole parts from the end before it cuts text.
func fitLabel(label string, w int, more string) string {
	for widget.Width(label) > w {
		end := max(strings.LastIndex(label, ", \""), strings.LastIndex(label, ": "),
			strings.LastIndex(label, " ("))
		if end <= 0 {
			break
		}
		label = label[:end]
	}
	return widget.Cut(label, w, more)
}

// Draw implements Dialog.
func (p *Prompt[T]) Draw(c Canvas) Frame {
	asked, w := p.Label, c.W
	if p.CurrentLabel != nil {
		asked = p.CurrentLabel()
	}
	l := widget.Line{Styles: c.Styles}
	hint, token := "  "+p.Hint, themes.Dim
	if p.problem != "" {
		hint, token = "  "+c.Styles.Cut(p.problem, w/2), themes.Bad
	}
	label := fitLabel(asked, w*3/4, c.more())
	if p.problem != "" { // the problem is more important than the label
		label = fitLabel(asked, w-widget.Width(hint)-8, c.more())
	} else if w < 70 || widget.Width(hint) > w-widget.Width(label)-max(12,
		widget.Width(p.Edit.String())+5) { // the typed text is more important than the hint
		hint = ""
	}
	l.Add(themes.Accent, " "+label+": ")
	text, at := p.Edit.Show(w - l.Width - widget.Width(hint) - 1)
	x := l.Width + at
	typed := themes.Text
	if p.Edit.Suggested {
		typed = themes.Select
	}
	l.Add(typed, text)
	l.Space(w - l.Width - widget.Width(hint))
	l.Add(token, hint)
	return Frame{Lines: []string{l.Row(w)}, X: x}
}
