package actions

import (
	"fmt"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// MaxCopy is the maximum length of text for a terminal's clipboard, in bytes. It is xterm's limit.
const MaxCopy = 74994

func needCopies(m *state.Room) string {
	if len(state.Copies(m)) == 0 {
		return "nothing is selected"
	}
	return ""
}

func showCopies(m *state.Room) []feed.Effect {
	f := &state.Finder{Title: "Copy from " + subjectTitle(m),
		EmptyText: "No entry matches.",
		Copies:    true, Verb: "copies it"}
	for _, c := range state.Copies(m) {
		f.All = append(f.All, state.Item{Title: c.What, Note: widget.FirstItem(c.Text),
			Run: func(m *state.Room) []feed.Effect { return copyText(m, c, false) }})
	}
	if last := m.CopiedLast; last.Text != "" {
		f.All = append(f.All, state.Item{Title: "copy again: " + last.What +
			", with a clipboard program",
			Note: "wl-copy, xclip or pbcopy",
			Why:  func() string { return noProgram(m) }, Run: func(m *state.Room) []feed.Effect {
				return copyText(m, last, true)
			}})
	}
	openFinderOf(m, f)
	return nil
}

func noProgram(m *state.Room) string {
	if m.Remote {
		return "a clipboard program sets the clipboard on the machine that runs gcity, not on yours"
	}
	return ""
}

func copyText(m *state.Room, c panel.Copied, program bool) []feed.Effect {
	m.CopiedLast = c
	if program {
		id := state.BeginAction(m, "copying the "+c.What)
		return []feed.Effect{feed.Copy{ID: id, What: c.What, Text: c.Text, Program: true}}
	}
	if len(c.Text) > MaxCopy {
		state.ShowFailure(m, fmt.Sprintf("the %s is too long for a terminal's clipboard: %d KB, "+
			"but the limit is %d KB", c.What, (len(c.Text)+1023)>>10, MaxCopy>>10))
		return nil
	}
	state.Show(m, "copied: "+widget.FirstItem(c.Text), false)
	state.Record(m, details.Message{Text: m.Status.Text, Token: themes.Good})
	return []feed.Effect{feed.Copy{What: c.What, Text: c.Text}}
}
