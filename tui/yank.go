package tui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/beads"
	"gcity/internal/shell"
	"gcity/themes"
	"gcity/tui/widget"
)

// maxClip bounds what a terminal is given for its clipboard, in bytes: what xterm takes, which the others do too.
const maxClip = 74994

func needCopies(m *model) string {
	if len(m.copies()) == 0 {
		return "nothing is selected"
	}
	return ""
}

// copies are what may be copied from what is selected; what is not known is left out.
func (m *model) copies() []copied {
	var all []copied
	switch p := m.worked(); {
	case m.inbox != nil:
		if l := m.inbox.under(); l != nil {
			all = mailCopies(l)
		}
	case m.work != nil:
		if b := m.work.under(); b != nil {
			all = beadCopies(b)
		}
	case p.about().kind == KindAgent:
		all = m.agentCopies()
	default:
		all = p.Copies()
	}
	known := all[:0]
	for _, c := range all {
		if c.text = clean(c.text); c.text != "" {
			known = append(known, c)
		}
	}
	return known
}

// clean leaves escape sequences and what may not be typed out of a text: what is pasted is read by a terminal too
// (L12).
func clean(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || widget.Printable(r) {
			return r
		}
		return -1
	}, ansi.Strip(text)), "\n")
}

func (m *model) agentCopies() []copied {
	rows := m.targets()
	if len(rows) > 1 {
		each := make([]string, len(rows))
		for i, r := range rows {
			each[i] = r.name
		}
		return []copied{{"names, one a line", strings.Join(each, "\n")}}
	}
	if len(rows) == 0 {
		return nil
	}
	r := rows[0]
	all := []copied{{"name", r.name}}
	if r.pid > 0 {
		all = append(all, copied{"pid", fmt.Sprint(r.pid)})
	}
	if r.session != nil {
		all = append(all, copied{"session id", r.session.ID})
	}
	a, ok := m.snap.Agent(r.name)
	if !ok {
		return all
	}
	all = append(all, copied{"attach command",
		fmt.Sprintf("gcity attach %s --city %s", shell.Quote(r.name), shell.Quote(m.snap.Path))},
		copied{"folder", a.Dir}, copied{"command", a.Command},
		copied{"state and why", string(a.State) + ": " + a.Reason})
	if a.Exit != nil {
		all = append(all, copied{"last exit", m.exitText(a.Exit)})
		if a.Exit.File != "" {
			all = append(all, copied{"file with its last words",
				filepath.Join(m.snap.Path, a.Exit.File)})
		}
	}
	return append(all, copied{"where it is declared", a.Source})
}

func beadCopies(b *beads.Bead) []copied {
	all := []copied{{"id", b.ID}, {"title", b.Title}, {"description", b.Description},
		{"who has it", b.Assignee}}
	if raw, err := json.Marshal(b); err == nil {
		all = append(all, copied{"bead as JSON", string(raw)})
	}
	return all
}

// showCopies lists what can be copied from what is selected, and what it is.
func (m *model) showCopies() []effect {
	f := &finder{Title: "Copy from " + m.subjectTitle(), None: "Nothing here is called that.",
		Copies: true, Verb: "copies it"}
	for _, c := range m.copies() {
		f.All = append(f.All, item{Title: c.what, Tail: widget.Lead(c.text),
			Run: func(m *model) []effect { return m.copy(c, false) }})
	}
	if last := m.copiedLast; last.text != "" {
		f.All = append(f.All, item{Title: "once more the " + last.what + ", by a clipboard program",
			Tail: "wl-copy, xclip or pbcopy",
			Why:  m.noProgram, Run: func(m *model) []effect { return m.copy(last, true) }})
	}
	m.open(f)
	return nil
}

// noProgram says why a clipboard program would be no help, "" if it may be one.
func (m *model) noProgram() string {
	if m.remote {
		return "it would fill the clipboard of the machine that runs gcity, not of yours"
	}
	return ""
}

// copy gives a text to the terminal for its clipboard, which never answers; or to a program that was asked for.
func (m *model) copy(c copied, program bool) []effect {
	m.copiedLast = c
	if program {
		id := m.begin("copying the " + c.what)
		return []effect{clip{id: id, what: c.what, text: c.text, program: true}}
	}
	if len(c.text) > maxClip {
		m.complain(fmt.Sprintf("the %s is too long for a terminal's clipboard: %d KB of at most %d",
			c.what, len(c.text)>>10, maxClip>>10))
		return nil
	}
	m.show("gave the "+c.what+" to the terminal's clipboard: "+widget.Lead(c.text), false)
	m.record(message{text: m.status.text, token: themes.Good})
	return []effect{clip{what: c.what, text: c.text}}
}
