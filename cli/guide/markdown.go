package guide

import "strings"

type kind int

const (
	heading kind = iota
	paragraph
	item
	code
	table
)

type block struct {
	kind  kind
	level int
	text  string
	lines []string
	rows  [][]string // row 0 is the header
}

// parse supports only the parts of Markdown that occur in docs.
func parse(text string) []block {
	p := &parser{lines: strings.Split(text, "\n")}
	for p.at < len(p.lines) {
		p.block()
	}
	return p.out
}

type parser struct {
	lines []string
	at    int
	out   []block
}

func (p *parser) block() {
	line := p.lines[p.at]
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || strings.HasPrefix(trimmed, "<!--"):
		p.at++
	case strings.HasPrefix(line, "```"):
		p.fenced()
	case strings.HasPrefix(line, "    "):
		p.indented()
	case strings.HasPrefix(line, "|"):
		p.table()
	case strings.HasPrefix(line, "#"):
		text := strings.TrimLeft(line, "#")
		p.out = append(p.out, block{
			kind: heading, level: len(line) - len(text), text: strings.TrimSpace(text)})
		p.at++
	default:
		p.text()
	}
}

func (p *parser) fenced() {
	b := block{kind: code}
	for p.at++; p.at < len(p.lines) && !strings.HasPrefix(p.lines[p.at], "```"); p.at++ {
		b.lines = append(b.lines, p.lines[p.at])
	}
	p.at++
	p.out = append(p.out, b)
}

func (p *parser) indented() {
	b := block{kind: code}
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "    ") {
			break
		}
		b.lines = append(b.lines, strings.TrimPrefix(line, "    "))
	}
	for len(b.lines) > 0 && strings.TrimSpace(b.lines[len(b.lines)-1]) == "" {
		b.lines = b.lines[:len(b.lines)-1]
	}
	p.out = append(p.out, b)
}

func (p *parser) table() {
	b := block{kind: table}
	for ; p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "|"); p.at++ {
		line := strings.ReplaceAll(p.lines[p.at], `\|`, "\x00")
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if strings.Trim(line, "|-: ") == "" && len(b.rows) > 0 && strings.Contains(line, "-") {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		b.rows = append(b.rows, cells)
	}
	p.out = append(p.out, b)
}

func (p *parser) text() {
	b := block{kind: paragraph}
	line := strings.TrimSpace(p.lines[p.at])
	if starts(line) {
		b.kind = item
	}
	words := []string{line}
	for p.at++; p.at < len(p.lines); p.at++ {
		line := strings.TrimSpace(p.lines[p.at])
		if line == "" || starts(line) || strings.HasPrefix(line, "```") ||
			strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") {
			break
		}
		words = append(words, line)
	}
	b.text = strings.Join(words, " ")
	p.out = append(p.out, b)
}

func starts(line string) bool {
	number, _, dot := strings.Cut(line, ". ")
	return strings.HasPrefix(line, "- ") ||
		dot && number != "" && strings.Trim(number, "0123456789") == ""
}
