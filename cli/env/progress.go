package env

import (
	"io"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/cli/output"
)

const progressEvery = 5 * time.Second

// Progress shows the progress of a long operation on stderr. It is not safe for concurrent use.
type Progress struct {
	e       *Env
	columns int // width of the terminal; 0 = not a terminal
	last    time.Time
	shown   string
}

// NewProgress returns a Progress for an operation that starts now.
func (e *Env) NewProgress() *Progress {
	p := &Progress{e: e, last: e.Now()}
	if cols, _, err := output.TerminalSize(e.Err); err == nil && e.Getenv("TERM") != "dumb" {
		p.columns = cols
	}
	return p
}

// Show replaces the progress line.
func (p *Progress) Show(text string) {
	text = output.SafeLine(text)
	if p.columns > 0 && text == p.shown {
		return
	}
	if p.columns > 0 {
		p.shown = text
		p.write("\r" + ansi.Truncate(text, max(0, p.columns-1), "…") + "\x1b[K")
		return
	}
	if now := p.e.Now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.write(text + "\n")
	}
}

// Clear removes the progress line.
func (p *Progress) Clear() {
	if p.shown != "" {
		p.shown = ""
		p.write("\r\x1b[K")
	}
}

// write ignores errors: if stderr is not writable, the command works without progress.
func (p *Progress) write(text string) { _, _ = io.WriteString(p.e.Err, text) }

func (p *Progress) wave(w city.Wave) {
	if w.Total > 1 {
		p.Show(w.String())
	} else {
		p.Clear()
	}
}

func (p *Progress) lines(all []string) {
	for _, line := range all {
		p.Clear()
		p.e.Note(line)
	}
}
