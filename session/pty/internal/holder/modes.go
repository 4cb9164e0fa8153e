package holder

import (
	"bytes"
	"strconv"
)

// modes tracks the terminal modes that a program's output sets. Output can be split anywhere.
type modes struct {
	on     uint32 // bit i is set if privateModes[i] differs from a new terminal
	keypad bool   // the keypad is in application mode (ESC =)
	// a sequence has changed other lasting state, for example the margins
	lasting bool

	otherKeys   int          // xterm's modifyOtherKeys
	cursorShape int          // 0 is the terminal's default
	kitty       [2]kittyKeys // of the main and the alternate screen

	pending queries // not answered yet

	state  scanState
	prefix byte // prefix of a control sequence: <, =, > or ?; 0 = none
	inter  byte // intermediate byte of the sequence; 0 = none
	num    int
	given  bool // this parameter has digits
	params [16]int
	n      int
	bad    bool // the sequence has a form that is not tracked
}

type scanState uint8

const (
	ground scanState = iota
	escape
	escapeInter // after ESC and an intermediate byte
	csi         // after ESC [
	str         // in a string that BEL does not end; its content has no effect
	osc         // in a string that BEL or ESC ends
)

// privateModes lists the tracked modes, and whether they are on in a new terminal.
var privateModes = [...]struct {
	num   int
	fresh bool
}{
	{1, false}, {7, true}, {25, true}, {47, false}, {1000, false}, {1002, false}, {1003, false},
	{1004, false},
	{1005, false}, {1006, false}, {1007, false}, {1015, false}, {1016, false}, {1047, false},
	{1049, false}, {2004, false}, {2031, false}, {2048, false},
}

const (
	appCursor      = 1
	bracketedPaste = 2004
)

func (m *modes) Write(p []byte) {
	if !m.lasting && bytes.IndexByte(p, shiftOut) >= 0 {
		m.lasting = true
	}
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

const shiftOut = 0x0e // selects the second character set

func (m *modes) step(c byte) {
	switch {
	case c == 0x1b:
		m.state = escape
	case c < 0x20 || c == 0x7f: // control characters take effect even inside a sequence
		if c == 0x18 || c == 0x1a || c == 0x07 && m.state == osc {
			m.state = ground
		}
	case m.state == str || m.state == osc:
	case c > 0x7f:
		m.state = ground // these characters are not part of any sequence
	case m.state == escape:
		m.escape(c)
	case m.state == escapeInter:
		m.designate(c)
	default:
		m.control(c)
	}
}

func (m *modes) escape(c byte) {
	m.state = ground
	switch {
	case c == '[':
		m.state, m.prefix, m.inter, m.bad = csi, 0, 0, false
		m.num, m.given, m.n = 0, false, 0
	case c == ']':
		m.state = osc
	case c == 'P', c == 'X', c == '^', c == '_':
		m.state = str
	case c < 0x30:
		m.state, m.inter = escapeInter, c
	case c == 'c': // full reset
		m.on, m.keypad, m.otherKeys, m.cursorShape = 0, false, 0, 0
		for i := range m.kitty {
			m.kitty[i] = kittyKeys{used: m.kitty[i].used}
		}
	case c == '=', c == '>':
		m.keypad = c == '='
	case c == '8', c == 'H': // restores the cursor, sets a tab stop
		m.lasting = true
	}
}

func (m *modes) designate(c byte) {
	if c < 0x30 {
		m.inter = c
		return
	}
	m.state = ground
	if c == '0' && (m.inter == '(' || m.inter == ')') { // the line drawing characters
		m.lasting = true
	}
}

func (m *modes) control(c byte) {
	switch {
	case c >= 0x40:
		m.state = ground
		m.param()
		m.final(c)
	case c >= '0' && c <= '9':
		m.num, m.given = min(m.num*10+int(c-'0'), 1<<20), true
	case c == ';':
		m.given = true
		m.param()
	case c >= '<' && m.prefix == 0 && !m.given:
		m.prefix = c
	case c < 0x30:
		m.inter, m.bad = c, true
	default:
		m.bad = true
	}
}

func (m *modes) final(c byte) {
	switch {
	case m.inter == ' ' && c == 'q' && m.prefix == 0:
		m.cursorShape = m.params[0]
	case m.inter != 0:
		m.lasting = m.lasting || c == 'p' // a soft reset; a query also matches, which does no harm
	case m.prefix == '?' && (c == 'h' || c == 'l'):
		m.private(c == 'h')
	case m.prefix == '>' && c == 'm' && m.params[0] == 4 && !m.bad:
		m.otherKeys = m.second()
	case m.prefix != 0 && c == 'u' && !m.bad:
		m.screenKeys().change(m.prefix, m.params[0], m.second())
	case m.prefix != 0:
	case (c == 'c' || c == 'n') && !m.bad:
		m.pending.add(c, m.params[0])
	case c == 'u', c == 'g': // restores the cursor, or clears tab stops
		m.lasting = true
	case c == 'r', c == 'h': // sets margins or a mode such as insert mode
		m.lasting = m.lasting || m.given
	}
}

// private sets or resets private modes. Mode 6 makes cursor positions relative to the margins. Mode 1048 saves and
// restores the cursor.
func (m *modes) private(on bool) {
	if m.bad {
		m.lasting = true
		return
	}
	for _, num := range m.params[:m.n] {
		m.set(num, on)
		m.lasting = m.lasting || num == 6 || num == 1048
	}
	m.lasting = m.lasting || m.n == len(m.params)
}

// isPlain reports whether the end of the output is enough to draw the screen in a new terminal.
func (m *modes) isPlain() bool {
	return !m.lasting && !m.alternate() && m.has(7)
}

func (m *modes) alternate() bool { return m.has(47) || m.has(1047) || m.has(1049) }

// screenKeys returns the keyboard flags of the current screen.
func (m *modes) screenKeys() *kittyKeys {
	if m.alternate() {
		return &m.kitty[1]
	}
	return &m.kitty[0]
}

func (m *modes) second() int {
	if m.n < 2 {
		return 0
	}
	return m.params[1]
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
	if m.otherKeys != 0 {
		b = appendSequence(b, "\x1b[>4;", m.otherKeys, "m")
	}
	if m.cursorShape != 0 {
		b = appendSequence(b, "\x1b[", m.cursorShape, " q")
	}
	return b
}
