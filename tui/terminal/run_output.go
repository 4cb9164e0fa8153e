package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gcity/city"
	"gcity/tui/widget"
)

// RunOutput collects the last lines of the output of a run.
type RunOutput struct {
	Lines         []string
	clean         []string
	open          bool // the last line is not complete
	LinesReceived uint64
}

func (p *RunOutput) Add(piece city.Piece) {
	if piece.Dropped > 0 {
		p.open = false
		p.line(fmt.Sprintf("[%d bytes omitted]", piece.Dropped))
		p.open = false
		piece.Text = strings.TrimPrefix(piece.Text, "\n")
	}
	for text := piece.Text; text != ""; {
		line, rest, ended := strings.Cut(text, "\n")
		if n := MaxRunLine; len(line) > n {
			for n > MaxRunLine-utf8.UTFMax && !utf8.RuneStart(line[n]) {
				n--
			}
			line, rest, ended = text[:n], text[n:], true
		}
		p.line(line)
		p.open, text = !ended, rest
	}
	if over := len(p.Lines) - MaxRunLines; over > MaxRunLines/4 {
		p.Lines = append(p.Lines[:0], p.Lines[over:]...)
		p.clean = append(p.clean[:0], p.clean[min(over, len(p.clean)):]...)
	}
}

func (p *RunOutput) line(text string) {
	if last := len(p.Lines) - 1; p.open && len(p.Lines[last])+len(text) <= 2*MaxRunLine {
		p.Lines[last] += text
		p.clean = p.clean[:min(last, len(p.clean))]
		return
	}
	p.Lines = append(p.Lines, text)
	p.LinesReceived++
}

// Plain returns the cleaned lines in a new slice.
func (p *RunOutput) Plain() []string {
	for _, text := range p.Lines[len(p.clean):] {
		p.clean = append(p.clean, widget.Plain(text))
	}
	return slices.Clone(p.clean)
}

const (
	MaxRunLines = 1000
	MaxRunLine  = 2 << 10 // maximum number of bytes in a line; longer lines are split
)
