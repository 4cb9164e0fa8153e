package holder

// draft counts the characters that viewers have typed and neither submitted nor deleted. The count may be wrong until
// the next Enter.
type draft struct {
	n      int
	left   bool // the draft is only text that was typed for a client
	before int  // the value of n before an Escape byte that might begin a sequence

	state  keyState
	num    int
	params [2]int
	at     int
	odd    bool // the sequence contains characters other than digits and separators
	paste  bool
	skip   int // remaining bytes of a mouse report in the old format
}

type keyState uint8

const (
	keyGround    keyState = iota
	keyEscape             // after ESC
	keyCSI                // after ESC [
	keyApp                // after ESC O
	keyString             // after ESC ], P, _, ^ or X, which begin a terminal's reply
	keyStringEsc          // after ESC in such a reply
)

func endsDraft(c byte) bool {
	return c == '\r' || c == '\n' || c == 3 || c == 4 || c == 0x15
}

// Write handles typed bytes. Sequences may be split across calls.
func (d *draft) Write(p []byte) {
	if len(p) == 0 {
		return
	}
	d.left = false
	if d.state == keyEscape && p[0] != '[' && p[0] != 'O' { // the Escape was a separate key press
		d.state, d.before = keyGround, 0
	}
	for _, c := range p {
		d.step(c)
	}
	switch d.state {
	case keyEscape:
		if !d.paste {
			d.before, d.n = d.n, 0
		}
	case keyString: // two bytes are Alt and a key; a terminal's reply is longer
		if len(p) == 2 {
			d.state = keyGround
		}
	}
}

func (d *draft) end() { d.n, d.before, d.left = 0, 0, false }

// leftover notes text that was typed for a client but not submitted.
func (d *draft) leftover() {
	if d.n == 0 {
		d.n, d.left = 1, true
	}
}

// endLeftover ends the draft unless a viewer has typed.
func (d *draft) endLeftover() {
	if d.left {
		d.end()
	}
}

func (d *draft) step(c byte) {
	if d.skip > 0 {
		d.skip--
		return
	}
	switch d.state {
	case keyGround:
		d.key(c)
	case keyEscape:
		d.escaped(c)
	case keyApp:
		d.state = keyGround
	case keyCSI:
		d.sequence(c)
	case keyString, keyStringEsc:
		switch {
		case endsDraft(c):
			d.state = keyGround
			d.key(c)
		case c == 7 || d.state == keyStringEsc:
			d.state = keyGround
		case c == 0x1b:
			d.state = keyStringEsc
		}
	}
}

func (d *draft) key(c byte) {
	switch {
	case c == 0x1b:
		d.state = keyEscape
	case d.paste:
		if c&0xc0 != 0x80 {
			d.n++
		}
	case endsDraft(c):
		d.end()
	case c == 0x7f || c == 8:
		d.n = max(0, d.n-1)
	case c >= ' ' && c&0xc0 != 0x80:
		d.n++
	}
}

func (d *draft) escaped(c byte) {
	// the Escape came with an earlier write
	if d.before > 0 && (c == '[' || c == 'O') {
		d.n = d.before
	}
	d.before = 0
	d.state = keyGround
	switch c {
	case '[':
		d.state, d.num, d.at, d.odd, d.params = keyCSI, 0, 0, false, [2]int{}
	case 'O':
		d.state = keyApp
	case ']', 'P', '_', '^', 'X':
		d.state = keyString
	case 0x1b:
		d.end()
		d.state = keyEscape
	}
}

func (d *draft) sequence(c byte) {
	switch {
	case c >= '0' && c <= '9':
		d.num = min(d.num*10+int(c-'0'), 1<<20)
	case c == ';':
		d.param()
	case c >= 0x40 && c <= 0x7e:
		d.param()
		d.state = keyGround
		d.sequenced(c)
	case c == 0x1b:
		d.state = keyEscape
	case endsDraft(c):
		d.state = keyGround
		d.key(c)
	default:
		d.odd = true
	}
}

func (d *draft) param() {
	if d.at < len(d.params) {
		d.params[d.at] = d.num
		d.at++
	}
	d.num = 0
}

func (d *draft) sequenced(final byte) {
	switch {
	case d.odd:
	case final == '~' && (d.params[0] == 200 || d.params[0] == 201):
		d.paste = d.params[0] == 200
	case final == 'M' && d.params[0] == 0:
		d.skip = 3
	case final == 'u':
		d.numbered(d.params[0], max(0, d.params[1]-1))
	}
}

func (d *draft) numbered(key, held int) {
	const ctrl, alt = 4, 2
	switch {
	case held&ctrl != 0 && (key == 'c' || key == 'd' || key == 'u'), key == 27,
		key == '\r' && held == 0:
		d.end()
	case held&(ctrl|alt) != 0 || key < ' ':
	case key == 0x7f:
		d.n = max(0, d.n-1)
	case key < 57344 || key > 63743: // keys from 57344 to 63743 print nothing
		d.n++
	}
}
