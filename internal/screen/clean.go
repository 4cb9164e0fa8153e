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

// Clean returns any text as one line of at most 4 KiB that is safe for a terminal: only printable characters and SGR.
// Clean is idempotent.
func Clean(s string) string { return clean(s, true) }

// Plain is like Clean, but also drops SGR.
func Plain(s string) string { return clean(s, false) }

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

func clean(s string, style bool) string {
	s = strings.TrimRight(s, "\r\n")
	if isPlainASCII(s) {
		return s
	}
	c := cleaner{style: style}
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
	style      bool
	out        []byte
	pending    []byte
	col        int
	styleOn    bool
	cutAt      int // length to which the output is cut, so that an ellipsis and a reset fit
	cutStyleOn bool
}

func (c *cleaner) full() bool { return len(c.out) > maxLine }

func (c *cleaner) add(s string, width int, on bool) {
	if c.full() {
		return
	}
	c.out = append(c.out, s...)
	c.col += width
	c.styleOn = on
	if len(c.out) <= maxLine-len(ellipsis)-len(sgrReset) {
		c.cutAt, c.cutStyleOn = len(c.out), on
	}
}

func (c *cleaner) flush() {
	for b := c.pending; len(b) > 0 && !c.full(); {
		_, rest, show, width := grapheme.First(b)
		c.add(show, width, c.styleOn)
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
		c.add("        "[:n], n, c.styleOn)
	case 0x7f:
		c.add("␡", 1, c.styleOn)
	default:
		c.add(string(rune(0x2400+int(b))), 1, c.styleOn)
	}
}

func (c *cleaner) escape(byte, byte)     { c.flush() }
func (c *cleaner) csiInter([]byte, byte) { c.flush() }

func (c *cleaner) csi(params []byte, final byte) {
	c.flush()
	if final != 'm' || !c.style || len(params) > 64 {
		return
	}
	for _, b := range params {
		if b > ';' {
			return
		}
	}
	p := string(params)
	c.add("\x1b["+p+"m", 0, p != "" && p != "0")
}

func (c *cleaner) finish() string {
	c.flush()
	out, on := c.out, c.styleOn
	n := len(out)
	if on {
		n += len(sgrReset)
	}
	if n > maxLine {
		out, on = append(out[:c.cutAt], ellipsis...), c.cutStyleOn
	}
	if on {
		out = append(out, sgrReset...)
	}
	return string(out)
}
