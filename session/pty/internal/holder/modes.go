package holder

import (
	"bytes"
	"strconv"
)

// modes follows the terminal modes that a program switches on and off in its output, across writes that are cut
// anywhere. They decide how input is encoded, and they are told to a viewer whose replay no longer contains them.
type modes struct {
	on     uint32 // bit i: privateModes[i] differs from a fresh terminal's
	keypad bool   // ESC =

	state  scanState
	num    int // the parameter being read
	params [16]int
	n      int
	bad    bool // the sequence is not one of ours
}

type scanState uint8

const (
	ground scanState = iota
	escape
	csi     // after ESC [
	private // after ESC [ ?
)

// privateModes lists what is followed, and whether a fresh terminal has it on.
var privateModes = [...]struct {
	num   int
	fresh bool
}{
	{1, false}, {7, true}, {25, true}, {47, false}, {1000, false}, {1002, false}, {1003, false},
	{1004, false},
	{1005, false}, {1006, false}, {1015, false}, {1047, false}, {1049, false}, {2004, false},
}

const (
	appCursor      = 1
	bracketedPaste = 2004
)

func (m *modes) Write(p []byte) {
	for i := 0; i < len(p); i++ {
		if m.state == ground {
			next := bytes.IndexByte(p[i:], 0x1b)
			if next < 0 {
				return
			}
			i += next
			m.state = escape
			continue
		}
		m.step(p[i])
	}
}

func (m *modes) step(c byte) {
	switch {
	case c == 0x1b:
		m.state = escape
	case c < 0x20 || c == 0x7f: // controls inside a sequence act on their own
		if c == 0x18 || c == 0x1a {
			m.state = ground
		}
	case m.state == escape:
		m.escape(c)
	case c >= 0x40:
		if m.state == private && !m.bad && (c == 'h' || c == 'l') {
			m.param()
			for _, num := range m.params[:m.n] {
				m.set(num, c == 'h')
			}
		}
		m.state = ground
	case m.state == csi && c == '?':
		m.state = private
	case m.state == private && c >= '0' && c <= '9':
		m.num = min(m.num*10+int(c-'0'), 1<<20)
	case m.state == private && c == ';':
		m.param()
	default:
		m.bad = true
	}
}

func (m *modes) escape(c byte) {
	m.state = ground
	switch c {
	case '[':
		m.state, m.num, m.n, m.bad = csi, 0, 0, false
	case 'c': // full reset
		m.on, m.keypad = 0, false
	case '=', '>':
		m.keypad = c == '='
	}
}

func (m *modes) param() {
	if m.n < len(m.params) {
		m.params[m.n] = m.num
		m.n++
	}
	m.num = 0
}

func (m *modes) set(num int, on bool) {
	for i, mode := range privateModes {
		if mode.num == num {
			if on != mode.fresh {
				m.on |= 1 << i
			} else {
				m.on &^= 1 << i
			}
		}
	}
}

func (m *modes) has(num int) bool {
	for i, mode := range privateModes {
		if mode.num == num {
			return (m.on&(1<<i) != 0) != mode.fresh
		}
	}
	return false
}

// restore is what brings a fresh terminal into these modes.
func (m *modes) restore() []byte {
	var b []byte
	for i, mode := range privateModes {
		if m.on&(1<<i) == 0 {
			continue
		}
		b = append(b, "\x1b[?"...)
		b = strconv.AppendInt(b, int64(mode.num), 10)
		if mode.fresh {
			b = append(b, 'l')
		} else {
			b = append(b, 'h')
		}
	}
	if m.keypad {
		b = append(b, "\x1b="...)
	}
	return b
}
