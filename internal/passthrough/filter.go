package passthrough

import (
	"io"
	"unicode/utf8"
)

// Filter drops the sequences that its Set does not admit from a stream of terminal output. The result does not
// depend on how the stream is cut into pieces. A sequence that is not complete, or that control characters
// interrupt, is dropped too: no terminal obeys it, and what follows must not complete it. Not for concurrent use.
type Filter struct {
	Allow Set

	state state
	held  []byte // bytes of an undecided character or sequence
	body  int    // where in held the sequence's body begins, after its introducer
	long  bool   // the CSI sequence is longer than held
	bell  bool   // a BEL ends the string that is being dropped
	end   bool   // the ESC that is held last may begin the end of a string
}

// state is what the next byte belongs to.
type state uint8

const (
	ground state = iota // text, or the payload of a string that passes
	escape              // ESC and its intermediates
	csi
	osc  // an OSC that is not decided
	dcs  // a DCS that is not decided
	drop // the rest of a string that does not pass
)

// Limits on what is held back. A longer ESC, OSC or DCS header is dropped, and so is a longer CSI sequence.
const (
	maxEscape = 16
	maxCSI    = 1 << 10
	maxString = 1 << 10
)

const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
	st  = 0x9c
)

// Append appends to dst what of p passes, as far as it is decided.
func (f *Filter) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		if f.state == ground && len(f.held) == 0 {
			n := f.text(p)
			dst, p = append(dst, p[:n]...), p[n:]
			if len(p) == 0 {
				break
			}
		}
		dst, p = f.step(dst, p[0]), p[1:]
	}
	return dst
}

// Flush appends what is held back at the end of the stream and is text.
func (f *Filter) Flush(dst []byte) []byte {
	if f.state == ground {
		dst = append(dst, f.held...)
	}
	f.reset(ground)
	return dst
}

// text returns how much of the beginning of p is text that passes in any case.
func (f *Filter) text(p []byte) int {
	for i := 0; i < len(p); {
		b := p[i]
		if b < utf8.RuneSelf {
			if b == esc || b == enq {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if n == 1 || r < 0xa0 {
			return i
		}
		i += n
	}
	return len(p)
}

func (f *Filter) reset(s state) {
	f.state, f.held, f.long, f.end = s, f.held[:0], false, false
}

// pass appends what is held; what follows is text.
func (f *Filter) pass(dst []byte) []byte {
	dst = append(dst, f.held...)
	f.reset(ground)
	return dst
}

func (f *Filter) step(dst []byte, b byte) []byte {
	if b == enq && f.Allow&Answerback == 0 {
		return dst // terminals answer it even within a sequence
	}
	switch f.state {
	case escape:
		return f.inEscape(dst, b)
	case csi:
		return f.inCSI(dst, b)
	case osc, dcs:
		return f.inString(dst, b)
	case drop:
		f.inDropped(b)
		return dst
	}
	return f.inText(dst, b)
}

// inText takes a byte of text. A character waits for its last byte: bytes from 0x80 to 0x9f are control characters
// unless they belong to one.
func (f *Filter) inText(dst []byte, b byte) []byte {
	if len(f.held) == 0 && b == esc {
		f.start(escape, b)
		return dst
	}
	f.held = append(f.held, b)
	if !utf8.FullRune(f.held) {
		return dst
	}
	r, n := utf8.DecodeRune(f.held)
	if n == len(f.held) {
		if n == 1 && r == utf8.RuneError {
			r = rune(b)
		}
		return f.character(dst, r)
	}
	rest := [utf8.UTFMax]byte{} // the first byte begins no character, so each stands for itself
	n = copy(rest[:], f.held[1:])
	f.held = f.held[:1]
	dst = f.character(dst, rune(f.held[0]))
	for _, b := range rest[:n] {
		dst = f.step(dst, b)
	}
	return dst
}

// character takes the character that is held.
func (f *Filter) character(dst []byte, r rune) []byte {
	f.body = len(f.held)
	switch r {
	case 0x90:
		f.state = dcs
	case 0x9b:
		f.state = csi
	case 0x9d:
		f.state = osc
	default:
		return f.pass(dst)
	}
	return dst
}

func (f *Filter) start(s state, b byte) {
	f.reset(s)
	f.held = append(f.held, b)
}

func (f *Filter) inEscape(dst []byte, b byte) []byte {
	ended := f.end
	switch {
	case b == esc:
		f.start(escape, b)
	case b < 0x20 || b >= del:
		f.reset(ground)
		return f.step(dst, b)
	case b < 0x30:
		if f.held = append(f.held, b); len(f.held) > maxEscape {
			f.reset(ground)
		}
	case len(f.held) == 1 && (b == '[' || b == ']' || b == 'P'):
		f.held = append(f.held, b)
		f.body, f.end = 2, false
		switch f.state = csi; b {
		case ']':
			f.state = osc
		case 'P':
			f.state = dcs
		}
	case b == '\\' && len(f.held) == 1 && ended:
		f.reset(ground)
	case len(f.held) > 1 && f.held[1] == '%' && !(len(f.held) == 2 && b == 'G'):
		// another coding than UTF-8
		f.reset(ground)
	default:
		f.held = append(f.held, b)
		return f.pass(dst)
	}
	return dst
}

func (f *Filter) inCSI(dst []byte, b byte) []byte {
	switch {
	case b == esc:
		f.start(escape, b)
		return dst
	case b == can || b == sub || b > del:
		f.reset(ground)
		return f.step(dst, b)
	case len(f.held) >= maxCSI:
		f.long = true
	default:
		f.held = append(f.held, b)
	}
	switch {
	case b < 0x40 || b == del:
		return dst
	case f.long || !f.admits(controlClass(f.held[f.body:])):
		f.reset(ground)
		return dst
	}
	return f.pass(dst)
}

// admits reports whether sequences of a class pass; 0 is the class of those that always do.
func (f *Filter) admits(class Set) bool { return class&^f.Allow == 0 }

// inString takes a byte of the header of an OSC or DCS. Once it is decided that the string passes, the rest of it is
// text: it has no ESC but the one that ends it.
func (f *Filter) inString(dst []byte, b byte) []byte {
	if f.end {
		return f.inEnd(dst, b)
	}
	if b == esc && f.state == osc { // whether the string ends here is known with the next byte
		f.held, f.end = append(f.held, b), true
		return dst
	}
	ends := b == bel && f.state == osc || b == st
	body := f.held[f.body:]
	if !ends {
		f.held = append(f.held, b)
		body = f.held[f.body:]
	}
	v := more
	switch {
	case b < 0x20 && !ends || b == del || len(body) > maxString:
		v = is(never)
	case f.state == osc:
		v = oscClass(body, ends)
	case ends:
		v = is(never)
	default:
		v = dcsClass(body)
	}
	if !v.known {
		return dst
	}
	if f.admits(v.class) {
		if !ends {
			f.held = f.held[:len(f.held)-1]
		}
		return f.step(f.pass(dst), b)
	}
	f.bell = f.state == osc
	f.reset(drop)
	return f.step(dst, b)
}

// inEnd takes the byte after an ESC in the header of an OSC. Only the two together end the string. Another byte begins
// another sequence, and the header is dropped: what follows that sequence must not complete it.
func (f *Filter) inEnd(dst []byte, b byte) []byte {
	body := f.held[f.body : len(f.held)-1]
	switch {
	case b != '\\':
		f.start(escape, esc)
		return f.step(dst, b)
	case !f.admits(oscClass(body, true).class):
		f.reset(ground)
		return dst
	}
	f.held = append(f.held, b)
	return f.pass(dst)
}

// inDropped takes a byte of a string that does not pass, its end included.
func (f *Filter) inDropped(b byte) {
	switch {
	case b == esc:
		f.start(escape, b)
		f.end = true
	case b == st || b == can || b == sub || b == bel && f.bell:
		f.reset(ground)
	}
}

// Reader filters what it reads.
type Reader struct {
	r    io.Reader
	f    Filter
	buf  []byte
	rest []byte // filtered, and not yet read
	out  []byte
	err  error
}

// NewReader returns a Reader of what passes of r.
func NewReader(r io.Reader, allow Set) *Reader {
	return &Reader{r: r, f: Filter{Allow: allow}, buf: make([]byte, 32<<10)}
}

func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.r.Read(r.buf)
		r.out = r.f.Append(r.out[:0], r.buf[:n])
		if r.err = err; err != nil {
			r.out = r.f.Flush(r.out)
		}
		r.rest = r.out
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
