package passthrough

import (
	"io"
	"unicode/utf8"
)

// Filter copies a stream of terminal output without the sequences that its Set does not allow. The result does not
// depend on how the stream is divided. Incomplete sequences are dropped. A Filter must not be used concurrently.
type Filter struct {
	Allow Set

	state state
	held  []byte // bytes of a character or sequence that might still be dropped
	body  int    // index in held at which the sequence's body begins, after its introducer
	long  bool   // the CSI sequence exceeds the limit for held bytes
	bell  bool   // BEL also ends the string that is being dropped
	end   bool   // the last held byte is an ESC
}

type state uint8

const (
	ground state = iota // text, or the rest of a string that passes
	escape              // an ESC and its intermediate bytes
	csi
	osc  // an OSC string of unknown class
	dcs  // a DCS string of unknown class
	drop // the rest of a string that is dropped
)

// Limits for held bytes. Longer sequences and headers are dropped.
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

// Append appends the allowed bytes of p to dst. It holds back bytes if the decision depends on later ones.
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

// Flush appends the held bytes to dst if they are text. It must be called at the end of the stream.
func (f *Filter) Flush(dst []byte) []byte {
	if f.state == ground {
		dst = append(dst, f.held...)
	}
	f.reset(ground)
	return dst
}

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

func (f *Filter) pass(dst []byte) []byte {
	dst = append(dst, f.held...)
	f.reset(ground)
	return dst
}

func (f *Filter) step(dst []byte, b byte) []byte {
	if b == enq && f.Allow&Answerback == 0 {
		return dst // terminals reply to ENQ even within a sequence
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

// A byte from 0x80 to 0x9f is a control character unless it is part of a longer character.
func (f *Filter) inText(dst []byte, b byte) []byte {
	if len(f.held) == 0 && b == esc {
		f.startEscape(b)
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
	// not a valid character
	rest := [utf8.UTFMax]byte{}
	n = copy(rest[:], f.held[1:])
	f.held = f.held[:1]
	dst = f.character(dst, rune(f.held[0]))
	for _, b := range rest[:n] {
		dst = f.step(dst, b)
	}
	return dst
}

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

func (f *Filter) startEscape(b byte) {
	f.reset(escape)
	f.held = append(f.held, b)
}

func (f *Filter) inEscape(dst []byte, b byte) []byte {
	ended := f.end
	switch {
	case b == esc:
		f.startEscape(b)
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
		// selects an encoding other than UTF-8
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
		f.startEscape(b)
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

func (f *Filter) admits(class Set) bool { return class&^f.Allow == 0 }

// Once a string passes, inString treats the rest of it as text.
func (f *Filter) inString(dst []byte, b byte) []byte {
	if f.end {
		return f.inEnd(dst, b)
	}
	if b == esc && f.state == osc { // the next byte decides whether the string ends here
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

// inEnd handles the byte after an ESC in an OSC string. A backslash ends the string; with any other byte, the ESC
// begins a new sequence.
func (f *Filter) inEnd(dst []byte, b byte) []byte {
	body := f.held[f.body : len(f.held)-1]
	switch {
	case b != '\\':
		f.startEscape(esc)
		return f.step(dst, b)
	case !f.admits(oscClass(body, true).class):
		f.reset(ground)
		return dst
	}
	f.held = append(f.held, b)
	return f.pass(dst)
}

func (f *Filter) inDropped(b byte) {
	switch {
	case b == esc:
		f.startEscape(b)
		f.end = true
	case b == st || b == can || b == sub || b == bel && f.bell:
		f.reset(ground)
	}
}

// Reader filters what it reads from another reader.
type Reader struct {
	r    io.Reader
	f    Filter
	buf  []byte
	rest []byte
	out  []byte
	err  error
}

// NewReader returns a Reader that filters r.
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
