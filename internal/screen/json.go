package screen

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON escapes characters in JSON that are not safe to print on a terminal. The decoded values do not change.
func EscapeJSON(b []byte) []byte {
	out := b[:0:0]
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case !mustEscape(r):
			out = append(out, b[i:i+n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

// mustEscape keeps joiners, which are part of some scripts and of emoji.
func mustEscape(r rune) bool {
	if r < 0x7f || r == 0x200c || r == 0x200d {
		return false
	}
	return r < 0xa0 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
