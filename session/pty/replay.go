package pty

import "bytes"

// withoutQueries removes queries from old output. A viewer's terminal would reply to them, and the replies would end up
// as input for the agent.
func withoutQueries(old []byte) []byte {
	out := make([]byte, 0, len(old))
	for i := 0; i < len(old); {
		switch c := old[i]; c {
		case 0x05: // ENQ
			i++
			continue
		case 0x1b:
			n := sequence(old[i:])
			if !isQuery(old[i : i+n]) {
				out = append(out, old[i:i+n]...)
			}
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func sequence(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 { // a control character: the sequence ends before it
				return i
			}
		}
		return len(b)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 && b[1] == ']' {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(b)
	}
	return 2
}

func isQuery(seq []byte) bool {
	if len(seq) < 2 {
		return false
	}
	body := seq[2:]
	switch seq[1] {
	case 'Z': // DECID
		return true
	case '[':
		return isControlQuery(body)
	case ']':
		return isOSCQuery(body)
	case 'P': // DECRQSS, XTGETTCAP
		return len(body) > 1 && (body[0] == '$' || body[0] == '+') && body[1] == 'q'
	case '_': // terminals also reply to kitty's graphics commands
		return len(body) > 0 && body[0] == 'G'
	}
	return false
}

// isOSCQuery recognizes a value "?". In kitty's sequences for colors (21) and notifications (99), values have names.
func isOSCQuery(body []byte) bool {
	named := bytes.HasPrefix(body, []byte("21;")) || bytes.HasPrefix(body, []byte("99;"))
	return bytes.Contains(body, []byte(";?")) || named && bytes.Contains(body, []byte("=?"))
}

func isControlQuery(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	first, last := body[0], body[len(body)-1]
	switch last {
	case 'c', 'n', 'x':
		return true
	case 'p':
		return len(body) > 1 && body[len(body)-2] == '$'
	case 'q':
		return first == '>'
	case 'u', 'm', 'S': // kitty's keyboard protocol, XTQMODKEYS, XTSMGRAPHICS
		return first == '?'
	case 't':
		// 22 and 23 push and pop the title, without a reply
		op, _, _ := bytes.Cut(body[:len(body)-1], []byte{';'})
		return string(op) != "22" && string(op) != "23"
	}
	return false
}
