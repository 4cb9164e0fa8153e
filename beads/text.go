package beads

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"gcity/internal/screen"
)

func checkLine(field, s string, most int) error {
	if len(s) > most {
		return invalid(field, "has %d bytes, but at most %d are allowed", len(s), most)
	}
	if ordinary(s) {
		return nil
	}
	if strings.ContainsAny(s, "\n\r\t") {
		return invalid(field, "contains a line break or a tab")
	}
	if err := checkText(field, s, most); err != nil {
		return err
	}
	// Plain replaces undisplayable characters with this one.
	const unshown = string(utf8.RuneError)
	if strings.Count(screen.Plain(s), unshown) != strings.Count(s, unshown) {
		return invalid(field, "contains characters that cannot be displayed: %s", quote(s))
	}
	return nil
}

// checkText is like checkLine, but also allows tabs and several lines.
func checkText(field, s string, most int) error {
	if len(s) > most {
		return invalid(field, "has %d bytes, but at most %d are allowed", len(s), most)
	}
	if ordinary(s) {
		return nil
	}
	line := 1
	for i, r := range s {
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			return invalid(field, "is not valid UTF-8 in line %d", line)
		case r != '\t' && hidden(r):
			return invalid(field, "contains the character %U, which is invisible or hides other "+
				"characters, in line %d: remove it", r, line)
		}
	}
	return nil
}

// Text returns a string as a bead store keeps it. It rejects invisible characters, and characters that change how
// other characters are displayed.
func Text(field, s string, most int) (string, error) {
	s = lineEnds(s)
	return s, checkText(field, s, most)
}

// ordinary reports whether s contains only printable ASCII characters.
func ordinary(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character is invisible or can hide others. It returns false for joiners, because some
// scripts and emoji need them.
func hidden(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad || r == 0x200c || r == 0x200d:
		return false
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}
