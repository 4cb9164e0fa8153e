package screen

import (
	"bytes"
	"strings"
)

// maxPrinted is the maximum length of printedText's input, in bytes. Its lines then fit into the history of a Screen.
const maxPrinted = 1 << 20

// printedText is like replay, but a hundred times faster. ok is false if the output does more than print lines.
func printedText(raw []byte, cols, rows, lines int) (text string, ok bool) {
	if len(raw) > maxPrinted {
		return "", false
	}
	p := lineCollector{cols: clamp(cols, 1, maxCols), starts: make([]int, 1, 64)}
	p.text = make([]byte, 0, len(raw))
	var split parser
	for rest := raw; len(rest) > 0 && !p.unsupported; {
		n := split.step(rest, &p)
		if n == 0 {
			break // an incomplete character
		}
		rest = rest[n:]
	}
	if p.unsupported {
		return "", false
	}
	return p.end(clamp(rows, 1, maxRows), lines), true
}

// lineCollector moves the cursor as Screen does.
type lineCollector struct {
	cols        int
	text        []byte
	starts      []int
	width       int  // of the last row, in cells
	x           int  // of the cursor, which is always in the last row
	wrap        bool // the next character goes to the next row
	unsupported bool
}

func (p *lineCollector) end(rows, lines int) string {
	top := max(0, len(p.starts)-rows)
	end := len(p.starts)
	for end > top && p.row(end-1) == "" {
		end--
	}
	from := top
	if lines > 0 {
		from = max(0, top-lines, end-lines)
	}
	all := make([]string, 0, end-from)
	for i := from; i < end; i++ {
		all = append(all, p.row(i))
	}
	return strings.Join(all, "\n")
}

func (p *lineCollector) row(i int) string {
	end := len(p.text)
	if i+1 < len(p.starts) {
		end = p.starts[i+1]
	}
	return string(bytes.TrimRight(p.text[p.starts[i]:end], " "))
}

func (p *lineCollector) ascii(run []byte) {
	for len(run) > 0 && p.space() {
		n := min(len(run), p.cols-p.x)
		p.text = append(p.text, run[:n]...)
		p.advance(n)
		run = run[n:]
	}
}

func (p *lineCollector) wide(r rune) {
	if !oneCell(r) {
		p.unsupported = true
		return
	}
	if p.space() {
		p.text = append(p.text, string(r)...)
		p.advance(1)
	}
}

// oneCell returns true only for common one-cell characters that never join their neighbors.
func oneCell(r rune) bool {
	switch {
	case r > 0xa0 && r < 0x300: // Latin
		return r != 0xad
	case r >= 0x391 && r <= 0x481, r >= 0x48a && r < 0x530: // Greek, Cyrillic
		return true
	case r >= 0x2010 && r <= 0x2027: // dashes, quotation marks, dots
		return true
	case r >= 0x2500 && r < 0x25fd: // boxes, blocks, shapes
		return true
	}
	return r >= 0x2190 && r <= 0x2193 || r == 0x2713 || r == 0x2717 // arrows, check marks
}

func (p *lineCollector) space() bool {
	if p.wrap {
		p.x = 0
		p.lineFeed()
	}
	if p.x < p.width {
		p.unsupported = true
		return false
	}
	for ; p.width < p.x; p.width++ {
		p.text = append(p.text, ' ')
	}
	return true
}

func (p *lineCollector) advance(n int) {
	p.x += n
	p.width = p.x
	if p.x >= p.cols {
		p.x, p.wrap = p.cols-1, true
	}
}

func (p *lineCollector) lineFeed() {
	p.starts = append(p.starts, len(p.text))
	p.width, p.wrap = 0, false
}

func (p *lineCollector) control(c byte) {
	switch c {
	case '\r':
		p.x, p.wrap = 0, false
	case '\n':
		p.lineFeed()
	case '\t':
		p.x = min(p.cols-1, (p.x/8+1)*8)
	case '\b', '\v', '\f', 0x0e, 0x0f:
		p.unsupported = true
	}
}

func (p *lineCollector) escape(inter, final byte) {
	// ESC ( B selects the character set that is already active
	p.unsupported = p.unsupported || inter != '(' || final != 'B'
}

func (p *lineCollector) csiInter([]byte, byte) { p.unsupported = true }

func (p *lineCollector) csi(_ []byte, final byte) { p.unsupported = p.unsupported || final != 'm' }
