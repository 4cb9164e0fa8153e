package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gcity/city"
	"gcity/tui/widget"
)

// Paper is the end of a run's output, in lines.
type Paper struct {
	Lines []string
	clean []string // cleaned lines
	open  bool     // the last line may continue
	Fed   uint64   // lines so far
}

func (p *Paper) Add(piece city.Piece) {
	if piece.Dropped > 0 {
		p.open = false
		p.line(fmt.Sprintf("[%d bytes are left out]", piece.Dropped))
		p.open = false
		piece.Text = strings.TrimPrefix(piece.Text, "\n")
	}
	for text := piece.Text; text != ""; {
		line, rest, ended := strings.Cut(text, "\n")
		if n := PaperLine; len(line) > n {
			for n > PaperLine-utf8.UTFMax && !utf8.RuneStart(line[n]) {
				n--
			}
			line, rest, ended = text[:n], text[n:], true
		}
		p.line(line)
		p.open, text = !ended, rest
	}
	if over := len(p.Lines) - PaperLines; over > PaperLines/4 {
		p.Lines = append(p.Lines[:0], p.Lines[over:]...)
		p.clean = append(p.clean[:0], p.clean[min(over, len(p.clean)):]...)
	}
}

// line adds to the line that is open, or begins one.
func (p *Paper) line(text string) {
	if last := len(p.Lines) - 1; p.open && len(p.Lines[last])+len(text) <= 2*PaperLine {
		p.Lines[last] += text
		p.clean = p.clean[:min(last, len(p.clean))]
		return
	}
	p.Lines = append(p.Lines, text)
	p.Fed++
}

// Plain returns clean lines, which never change. A line is cleaned once, and again after it has grown.
func (p *Paper) Plain() []string {
	for _, text := range p.Lines[len(p.clean):] {
		p.clean = append(p.clean, widget.Plain(text))
	}
	return slices.Clone(p.clean)
}

const (
	PaperLines = 1000    // lines that are stored of an output
	PaperLine  = 2 << 10 // bytes after which a line is split
)
