package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gcity/city"
	"gcity/tui/widget"
)

// Paper is the end of what a run has printed, in lines.
type Paper struct {
	Lines []string
	clean []string // as many of them as have been made safe to show
	open  bool     // the last line may go on
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

// Plain are safe lines, which never change. A line is made safe once, and again when it has grown.
func (p *Paper) Plain() []string {
	for _, text := range p.Lines[len(p.clean):] {
		p.clean = append(p.clean, widget.Plain(text))
	}
	return slices.Clone(p.clean)
}

const (
	PaperLines = 1000    // of an output that are kept
	PaperLine  = 2 << 10 // bytes after which a line is broken
)
