package holder

import "strconv"

// kittyKeys tracks the flags of the Kitty keyboard protocol. A terminal has one stack of them for each screen.
type kittyKeys struct {
	flags [8]uint8 // flags[top] are in effect
	top   uint8
	used  bool
}

// change handles the control sequence with final byte u, and prefix > (push), < (pop) or = (set).
func (k *kittyKeys) change(prefix byte, first, second int) {
	flags := uint8(first & 0x1f)
	switch prefix {
	case '>':
		if int(k.top) == len(k.flags)-1 {
			copy(k.flags[:], k.flags[1:])
			k.top--
		}
		k.top++
		k.flags[k.top] = flags
	case '<':
		if n := max(1, first); n <= int(k.top) {
			k.top -= uint8(n)
		} else {
			k.top, k.flags[0] = 0, 0
		}
	case '=':
		switch current := &k.flags[k.top]; second {
		case 2:
			*current |= flags
		case 3:
			*current &^= flags
		default:
			*current = flags
		}
	default: // a query
		return
	}
	k.used = true
}

// restore returns the sequences that replace a terminal's stack with this one.
func (k *kittyKeys) restore() []byte {
	if !k.used {
		return nil
	}
	b := []byte("\x1b[<9u")
	for i, flags := range k.flags[:k.top+1] {
		switch {
		case i > 0:
			b = appendSequence(b, "\x1b[>", int(flags), "u")
		case flags != 0:
			b = appendSequence(b, "\x1b[=", int(flags), "u")
		}
	}
	return b
}

func appendSequence(b []byte, head string, param int, tail string) []byte {
	return append(strconv.AppendInt(append(b, head...), int64(param), 10), tail...)
}
