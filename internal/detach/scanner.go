package detach

import (
	"strconv"
	"strings"
)

// Scanner looks for a Key in what a person types: as its byte, 0x11 for ctrl+q, and in the forms that terminals use
// once an agent has asked for more exact keys (CSI 113;5u and CSI 27;5;113~). A paste may contain anything. What is
// not that key comes out byte for byte; only the beginning of an escape sequence is held back until its end has
// come or Flush is called. Not for concurrent use.
type Scanner struct {
	Key Key

	held    []byte // an incomplete escape sequence
	pasting bool
	marked  int // bytes of the mark that begins a paste, or ends this one, that have come
}

// maxHeld is longer than any key. A longer sequence is not a key.
const maxHeld = 48

// Feed takes typed bytes and returns what is to be passed on, and whether the key was pressed; what comes after it is
// dropped.
func (s *Scanner) Feed(p []byte) (out []byte, leave bool) {
	for _, b := range p {
		s.follow(b)
		if len(s.held) > 0 {
			s.held = append(s.held, b)
			switch {
			case b == 0x1b || len(s.held) == 2 && b != '[' || len(s.held) > maxHeld ||
				len(s.held) > 2 && (b < 0x20 || b > 0x7e):
				out = append(out, s.held[:len(s.held)-1]...)
				s.held = s.held[:0] // and b is looked at by itself
			case len(s.held) > 2 && b >= 0x40: // the final byte
				if s.isLeave() {
					s.held = s.held[:0]
					return out, true
				}
				out = append(out, s.held...)
				s.held = s.held[:0]
				continue
			default:
				continue
			}
		}
		switch {
		case b == s.Key.plain() && !s.pasting:
			return out, true
		case b == 0x1b:
			s.held = append(s.held, b)
		default:
			out = append(out, b)
		}
	}
	return out, false
}

// Flush returns the bytes that are held back: nothing followed them, so they were a key of their own.
func (s *Scanner) Flush() []byte {
	out := s.held
	s.held = nil
	return out
}

// follow looks for the marks around a paste in all that is typed, whatever of it Flush gave out meanwhile: where a line
// stutters, a mark may come in pieces.
func (s *Scanner) follow(b byte) {
	mark := "\x1b[200~"
	if s.pasting {
		mark = "\x1b[201~"
	}
	switch b {
	case mark[s.marked]:
		s.marked++
	case 0x1b:
		s.marked = 1
	default:
		s.marked = 0
	}
	if s.marked == len(mark) {
		s.pasting, s.marked = !s.pasting, 0
	}
}

// isLeave reports whether the sequence held is a press of the key.
func (s *Scanner) isLeave() bool {
	if s.pasting {
		return false
	}
	final, want := s.held[len(s.held)-1], strconv.Itoa(int(s.Key.code()))
	params := strings.Split(string(s.held[2:len(s.held)-1]), ";")
	switch {
	case final == 'u' && len(params) >= 2:
		code, _, _ := strings.Cut(params[0], ":")
		return code == want && onlyCtrl(params[1])
	case final == '~' && len(params) == 3:
		return params[0] == "27" && params[2] == want && onlyCtrl(params[1])
	}
	return false
}

// onlyCtrl reads "modifiers:event": ctrl and no other but the locks, and not the release of the key.
func onlyCtrl(param string) bool {
	const ctrl, locks = 4, 64 | 128
	mods, event, _ := strings.Cut(param, ":")
	n, err := strconv.Atoi(mods)
	return err == nil && (n-1)&^locks == ctrl && event != "3"
}
