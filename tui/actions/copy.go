package actions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/shell"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// MaxCopy is the maximum length of text for a terminal's clipboard, in bytes. It is xterm's limit, which other
// terminals accept too.
const MaxCopy = 74994

func needCopies(m *state.Room) string {
	if len(Copies(m)) == 0 {
		return "nothing is selected"
	}
	return ""
}

// Copies returns the values that can be copied from the selection. Unknown values are omitted.
func Copies(m *state.Room) []panel.Copied {
	var all []panel.Copied
	switch p := m.ActionPanel(); {
	case p.About().Kind == panel.KindAgent:
		all = agentCopies(m)
	default:
		all = p.Copies()
	}
	known := all[:0]
	for _, c := range all {
		if c.Text = clean(c.Text); c.Text != "" {
			known = append(known, c)
		}
	}
	return known
}

// clean removes escape sequences and control characters from text, because users might paste it into a terminal (L12).
func clean(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || widget.Printable(r) {
			return r
		}
		return -1
	}, ansi.Strip(text)), "\n")
}

func agentCopies(m *state.Room) []panel.Copied {
	rows := state.Targets(m)
	if len(rows) > 1 {
		each := make([]string, len(rows))
		for i, r := range rows {
			each[i] = r.Name
		}
		return []panel.Copied{{What: "names, one per line", Text: strings.Join(each, "\n")}}
	}
	if len(rows) == 0 {
		return nil
	}
	r := rows[0]
	all := []panel.Copied{{What: "name", Text: r.Name}}
	if r.PID > 0 {
		all = append(all, panel.Copied{What: "pid", Text: fmt.Sprint(r.PID)})
	}
	if r.Session != nil {
		all = append(all, panel.Copied{What: "session id", Text: r.Session.ID})
	}
	a, ok := m.Snap.Agent(r.Name)
	if !ok {
		return all
	}
	all = append(all, panel.Copied{What: "attach command",
		Text: fmt.Sprintf("gcity agent attach %s --city %s", shell.Quote(r.Name),
			shell.Quote(m.Snap.Path))},
		panel.Copied{What: "folder", Text: a.Dir}, panel.Copied{What: "command", Text: a.Command},
		panel.Copied{What: "state and reason", Text: string(a.State) + ": " + a.Reason})
	if a.Exit != nil {
		all = append(all, panel.Copied{What: "last exit",
			Text: details.Exit(m.Details(), a.Exit)})
		if a.Exit.File != "" {
			all = append(all, panel.Copied{What: "file with its last output",
				Text: filepath.Join(m.Snap.Path, a.Exit.File)})
		}
	}
	return append(all, panel.Copied{What: "where it is declared", Text: a.Source})
}

// showCopies lists the values that can be copied from the selection.
func showCopies(m *state.Room) []feed.Effect {
	f := &state.Finder{Title: "Copy from " + subjectTitle(m),
		EmptyText: "No entry matches.",
		Copies:    true, Verb: "copies it"}
	for _, c := range Copies(m) {
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

// noProgram returns the reason why a clipboard program would not help the user, or "".
func noProgram(m *state.Room) string {
	if m.Remote {
		return "a clipboard program sets the clipboard of the machine that runs gcity, not yours"
	}
	return ""
}

// copyText copies a value with a clipboard program, or to the terminal's clipboard, which never confirms it.
func copyText(m *state.Room, c panel.Copied, program bool) []feed.Effect {
	m.CopiedLast = c
	if program {
		id := state.BeginAction(m, "copying the "+c.What)
		return []feed.Effect{feed.Copy{ID: id, What: c.What, Text: c.Text, Program: true}}
	}
	if len(c.Text) > MaxCopy {
		state.ShowFailure(m, fmt.Sprintf("the %s is too long for a terminal's clipboard: %d KB, "+
			"but the limit is %d KB",
			c.What, len(c.Text)>>10, MaxCopy>>10))
		return nil
	}
	state.Show(m, "copied: "+widget.FirstItem(c.Text), false)
	state.Record(m, details.Message{Text: m.Status.Text, Token: themes.Good})
	return []feed.Effect{feed.Copy{What: c.What, Text: c.Text}}
}
