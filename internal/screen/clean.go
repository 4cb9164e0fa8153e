package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"gcity/internal/grapheme"
)

// maxLine is the maximum length of a cleaned line, in bytes.
const maxLine = 4096

const ellipsis = "…"

// Plain returns any text as one line of at most 4 KiB that is safe for a terminal: only printable characters. Plain is
// idempotent.
func Plain(s string) string {
	s = strings.TrimRight(s, "\r\n")
	if isPlainASCII(s) {
		return s
	}
	var c cleaner
	var p parser
	for len(s) > 0 && !c.full() {
		n := min(len(s), maxLine)
		p.feed([]byte(s[:n]), &c)
		s = s[n:]
	}
	if p.end(&c) {
		c.wide(utf8.RuneError)
	}
	return c.finish()
}

// FirstItem returns the first line of a list, cleaned by Plain, and a suffix such as " and 3 more". The suffix is ""
// for a single line.
func FirstItem(s string) (one, others string) {
	first, rest, _ := strings.Cut(strings.Trim(s, "\r\n"), "\n")
	more := 0
	for line := range strings.SplitSeq(rest, "\n") {
		if strings.TrimSpace(line) != "" {
			more++
		}
	}
	if more > 0 {
		others = " and " + strconv.Itoa(more) + " more"
	}
	return Plain(first), others
}

func isPlainASCII(s string) bool {
	if len(s) > maxLine {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

type cleaner struct {
	out     []byte
	pending []byte
	col     int
	cutAt   int // length to which the output is cut, so that an ellipsis fits
}

func (c *cleaner) full() bool { return len(c.out) > maxLine }

func (c *cleaner) add(s string, width int) {
	if c.full() {
		return
	}
	c.out = append(c.out, s...)
	c.col += width
	if len(c.out) <= maxLine-len(ellipsis) {
		c.cutAt = len(c.out)
	}
}

func (c *cleaner) flush() {
	for b := c.pending; len(b) > 0 && !c.full(); {
		_, rest, show, width := grapheme.First(b)
		c.add(show, width)
		b = rest
	}
	c.pending = c.pending[:0]
}

func (c *cleaner) ascii(run []byte) { c.pending = append(c.pending, run...) }

func (c *cleaner) wide(r rune) {
	if unsafeRune(r) {
		r = utf8.RuneError
	}
	c.pending = utf8.AppendRune(c.pending, r)
}

func (c *cleaner) control(b byte) {
	c.flush()
	switch b {
	case '\t':
		n := 8 - c.col%8
		c.add("        "[:n], n)
	case 0x7f:
		c.add("␡", 1)
	default:
		c.add(string(rune(0x2400+int(b))), 1)
	}
}

func (c *cleaner) escape(byte, byte)     { c.flush() }
func (c *cleaner) csi([]byte, byte)      { c.flush() }
func (c *cleaner) csiInter([]byte, byte) { c.flush() }

func (c *cleaner) finish() string {
	c.flush()
	if c.full() {
		c.out = append(c.out[:c.cutAt], ellipsis...)
	}
	return string(c.out)
}
