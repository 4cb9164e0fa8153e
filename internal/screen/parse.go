package screen

import "unicode/utf8"

type sink interface {
	// run is valid only during the call
	ascii(run []byte)
	wide(r rune)              // one character beyond ASCII, or utf8.RuneError for invalid UTF-8
	control(c byte)           // C0 controls except ESC, and DEL
	escape(inter, final byte) // ESC [inter] final; inter 0 = none
	// params is valid only during the call
	csi(params []byte, final byte)
	// CSI params b2 p, such as CSI ! p; other sequences with an intermediate byte (b2) are dropped
	csiInter(params []byte, b2 byte)
}

type state uint8

const (
	ground state = iota
	escaped
	escapedInter
	inCSI
	inString // DCS, APC, PM, SOS: dropped, so that long ones need no memory
	inOSC    // like inString, but a BEL also ends the string
)

// maxCSI limits the parameters of a control sequence, in bytes.
const maxCSI = 256

// parser treats raw C1 bytes as invalid UTF-8, not as control characters.
type parser struct {
	state  state
	inter  byte
	params []byte
	long   bool
	tail   []byte
}

func (p *parser) feed(b []byte, to sink) {
	if len(p.tail) > 0 {
		b = append(p.tail, b...)
		p.tail = nil
	}
	for len(b) > 0 {
		n := p.step(b, to)
		if n == 0 {
			p.tail = append([]byte(nil), b...)
			return
		}
		b = b[n:]
	}
}

func (p *parser) end(to sink) (open bool) {
	for range p.tail {
		to.wide(utf8.RuneError)
	}
	open = p.state != ground
	*p = parser{params: p.params[:0]}
	return open
}

// step returns the number of consumed bytes, or 0 if the last character is incomplete.
func (p *parser) step(b []byte, to sink) int {
	switch p.state {
	case ground:
		return p.text(b, to)
	case inString, inOSC:
		return p.skip(b)
	}
	c := b[0]
	switch {
	case c == 0x1b:
		p.enter(escaped)
		return 1
	case c == 0x18 || c == 0x1a:
		p.state = ground
		return 1
	case c < 0x20:
		to.control(c)
		return 1
	case c == 0x7f:
		return 1
	case c > 0x7f:
		p.state = ground
		return p.text(b, to)
	}
	switch p.state {
	case escaped:
		p.escape(c, to)
	case escapedInter:
		if c < 0x30 {
			p.inter = c
			break
		}
		p.state = ground
		to.escape(p.inter, c)
	case inCSI:
		p.csi(c, to)
	}
	return 1
}

func (p *parser) enter(s state) {
	p.state, p.inter, p.params, p.long = s, 0, p.params[:0], false
}

func (p *parser) text(b []byte, to sink) int {
	n := 0
	for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
		n++
	}
	if n > 0 {
		to.ascii(b[:n])
		return n
	}
	switch c := b[0]; {
	case c == 0x1b:
		p.enter(escaped)
		return 1
	case c < 0x80:
		to.control(c)
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	to.wide(r)
	return n
}

func (p *parser) skip(b []byte) int {
	for i, c := range b {
		switch {
		case c == 0x1b:
			p.enter(escaped)
			return i + 1
		case c == 0x18, c == 0x1a, c == 0x07 && p.state == inOSC:
			p.state = ground
			return i + 1
		}
	}
	return len(b)
}

func (p *parser) escape(c byte, to sink) {
	switch {
	case c == '[':
		p.enter(inCSI)
	case c == ']':
		p.enter(inOSC)
	case c == 'P', c == 'X', c == '^', c == '_':
		p.enter(inString)
	case c < 0x30:
		p.enter(escapedInter)
		p.inter = c
	default:
		p.state = ground
		to.escape(0, c)
	}
}

func (p *parser) csi(c byte, to sink) {
	switch {
	case c >= 0x40:
		p.state = ground
		switch {
		case p.long:
		case p.inter == 0:
			to.csi(p.params, c)
		case c == 'p':
			to.csiInter(p.params, p.inter)
		}
	case c < 0x30:
		p.inter = c
	case len(p.params) < maxCSI:
		p.params = append(p.params, c)
	default:
		p.long = true
	}
}
