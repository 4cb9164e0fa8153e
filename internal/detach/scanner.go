package detach

import (
	"strconv"
	"strings"
	"time"
)

// Scanner searches typed input for a Key. It recognizes the byte (0x11 for ctrl+q) and the sequences of extended keys:
// CSI 113;5u and CSI 27;5;113~. It ignores the key within a paste. All other bytes pass unchanged. It must not be used
// concurrently.
type Scanner struct {
	Key Key

	held  []byte // an incomplete escape sequence
	paste Paste
}

// maxHeld is longer than the escape sequence of any key.
const maxHeld = 48

// Feed returns the bytes to forward. leave is true if the key was pressed; later bytes are dropped.
func (s *Scanner) Feed(p []byte) (out []byte, leave bool) {
	for _, b := range p {
		s.paste.follow(b)
		if len(s.held) > 0 {
			s.held = append(s.held, b)
			switch {
			case b == 0x1b || len(s.held) == 2 && b != '[' || len(s.held) > maxHeld ||
				len(s.held) > 2 && (b < 0x20 || b > 0x7e):
				out = append(out, s.held[:len(s.held)-1]...)
				s.held = s.held[:0]
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
		case b == s.Key.plain() && !s.paste.open:
			return out, true
		case b == 0x1b:
			s.held = append(s.held, b)
		default:
			out = append(out, b)
		}
	}
	return out, false
}

// pasteTimeout is longer than any pause within a paste.
const pasteTimeout = time.Second

// Pause notes that no input arrived for d. After a long pause, the end of a paste is considered lost, so that the key
// works again.
func (s *Scanner) Pause(d time.Duration) {
	if d >= pasteTimeout {
		s.paste = Paste{}
	}
}

// Resume is like Paste.Resume.
func (s *Scanner) Resume() []byte { return s.paste.Resume() }

// Flush returns the held bytes. They are a complete key, such as Escape, if no bytes follow.
func (s *Scanner) Flush() []byte {
	out := s.held
	s.held = nil
	return out
}

func (s *Scanner) isLeave() bool {
	if s.paste.open {
		return false
	}
	final := s.held[len(s.held)-1]
	params := strings.Split(string(s.held[2:len(s.held)-1]), ";")
	switch {
	case final == 'u' && len(params) >= 2:
		return s.Key.matches(params[0], params[1])
	case final == '~' && len(params) == 3 && params[0] == "27":
		return s.Key.matches(params[2], params[1])
	}
	return false
}

// matches parses "code:shifted:base" and "modifiers:event". It ignores lock keys and rejects key releases.
func (k Key) matches(codes, modifiers string) bool {
	const shift, ctrl, locks = 1, 4, 64 | 128
	mods, event, _ := strings.Cut(modifiers, ":")
	n, err := strconv.Atoi(mods)
	if err != nil || event == "3" {
		return false
	}
	want := strconv.Itoa(int(k.code()))
	fields := append(strings.Split(codes, ":"), "", "")
	code, shifted, base := fields[0], fields[1], fields[2]
	switch (n - 1) &^ locks {
	case ctrl:
		// base is the key at the same place of a US keyboard, for layouts without Latin letters
		letter, err := strconv.Atoi(code)
		return code == want || base == want && err == nil && letter > 0x7f
	case ctrl | shift:
		unshifted := k.unshifted()
		return unshifted != "" &&
			(code == want || shifted == want || shifted == "" && code == unshifted)
	}
	return false
}

// unshifted returns the code of the key that types k's character together with shift on a US keyboard, or "" if the
// character needs no shift.
func (k Key) unshifted() string {
	switch k.code() {
	case '^':
		return strconv.Itoa('6')
	case '_':
		return strconv.Itoa('-')
	}
	return ""
}
