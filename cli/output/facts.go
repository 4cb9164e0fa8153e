package output

import (
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/describe"
	"gcity/internal/span"
)

// Fact prints a labeled line of text. It prints nothing if text is empty.
func (p *Printer) Fact(label, text string) {
	if text != "" {
		p.Sayf("  %s %s", p.Paint(Dim, fmt.Sprintf("%-12s", label)), SafeLine(text))
	}
}

// FactLine is like Fact, but truncates the text to the terminal's width.
func (p *Printer) FactLine(label, text string) {
	if w := p.Columns(); w > 0 {
		text = ansi.Truncate(SafeLine(text), max(0, w-factIndent), "…")
	}
	p.Fact(label, text)
}

const factIndent = 15

// Ahead formats a future time and the duration until then.
func (p *Printer) Ahead(t time.Time) string {
	return fmt.Sprintf("%s (in %s)", p.Clock(t), Span(t.Sub(p.Now())))
}

// Next describes what happens next, and when.
func (p *Printer) Next(n *city.Next) string {
	text, _ := describe.Next(n, func(at time.Time) string { return Span(at.Sub(p.Now())) })
	if n != nil && n.At != nil {
		text += " (" + p.Clock(*n.At) + ")"
	}
	return text
}

// Ending formats how and when a process exited.
func (p *Printer) Ending(e *city.Exit) string {
	how := ExitText(e.Code, e.Signal) + fmt.Sprintf(" at %s after %s", p.Clock(e.At),
		span.Took(e.Uptime))
	if e.File != "" {
		how += "; its output is stored in " + e.File
	}
	return how
}
