package screen

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON returns JSON with every character escaped that a terminal would act on or that changes how others are
// read: DEL, C1 controls, and what turns text around or is invisible. A parser reads the same values from it.
func EscapeJSON(b []byte) []byte {
	out := b[:0:0]
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case !hides(r):
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

// hides reports whether a character is escaped. Joiners belong to scripts and emoji.
func hides(r rune) bool {
	if r < 0x7f || r == 0x200c || r == 0x200d {
		return false
	}
	return r < 0xa0 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
