package tui

import (
	"bytes"
	"strconv"
	"strings"
)

// scanner looks for the key that leaves an attached terminal, ctrl+q, in what a person types: as the byte 0x11 and in
// the forms that terminals use once an agent has asked for more exact keys (CSI 113;5u and CSI 27;5;113~). A paste may
// contain anything. What is not that key comes out byte for byte; only the beginning of an escape sequence is held
// back until its end has come or flush is called.
type scanner struct {
	held    []byte // an escape sequence that has begun
	pasting bool
}

// maxHeld is longer than any key; what is longer is no key.
const maxHeld = 48

// feed takes typed bytes and returns what is to be passed on, and whether the key was pressed; what comes after it is
// dropped.
func (s *scanner) feed(p []byte) (out []byte, leave bool) {
	for _, b := range p {
		if len(s.held) == 0 {
			switch {
			case b == 0x11 && !s.pasting:
				return out, true
			case b == 0x1b:
				s.held = append(s.held, b)
			default:
				out = append(out, b)
			}
			continue
		}
		s.held = append(s.held, b)
		switch {
		case b == 0x1b || len(s.held) == 2 && b != '[' || len(s.held) > maxHeld || len(s.held) > 2 && (b < 0x20 || b > 0x7e):
			out = append(out, s.held[:len(s.held)-1]...)
			s.held = s.held[:0]
			more, left := s.feed([]byte{b})
			out = append(out, more...)
			if left {
				return out, true
			}
		case len(s.held) > 2 && b >= 0x40: // the final byte
			if s.isLeave() {
				s.held = s.held[:0]
				return out, true
			}
			s.paste()
			out = append(out, s.held...)
			s.held = s.held[:0]
		}
	}
	return out, false
}

// flush gives out what is held back: nothing came after it, so it was a key of its own.
func (s *scanner) flush() []byte {
	out := s.held
	s.held = nil
	return out
}

func (s *scanner) paste() {
	switch {
	case bytes.Equal(s.held, []byte("\x1b[200~")):
		s.pasting = true
	case bytes.Equal(s.held, []byte("\x1b[201~")):
		s.pasting = false
	}
}

// isLeave reports whether the sequence held is a press of ctrl+q.
func (s *scanner) isLeave() bool {
	if s.pasting {
		return false
	}
	final := s.held[len(s.held)-1]
	params := strings.Split(string(s.held[2:len(s.held)-1]), ";")
	switch {
	case final == 'u' && len(params) >= 2:
		code, _, _ := strings.Cut(params[0], ":")
		return code == "113" && onlyCtrl(params[1])
	case final == '~' && len(params) == 3:
		return params[0] == "27" && params[2] == "113" && onlyCtrl(params[1])
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
