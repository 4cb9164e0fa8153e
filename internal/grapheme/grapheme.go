// Package grapheme divides text into what a terminal shows in one place: a character with its combining marks.
//
// The program calls the generic functions of x/ansi only here. The compiler copies them into each package that calls
// them, and the linker keeps any one of the copies. The tests need one that is compiled without the race detector
// (NORACED in the Makefile).
package grapheme

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// Placeholder replaces what cannot be shown; one cell wide.
	Placeholder = "\uFFFD"
	// MaxBytes is the length of the longest cluster that is shown. Longer ones are replaced.
	MaxBytes = 64
)

// Walk calls f for each part of a styled line: a character with its combining marks, or an escape sequence of width 0.
// Walk stops when f returns false.
func Walk(s string, f func(part string, col, w int) bool) {
	var state byte
	for col := 0; len(s) > 0; {
		_, w, n, next := ansi.DecodeSequence(s, state, nil)
		// the decoder returns combining marks and joiners after an ASCII character as separate parts
		for w > 0 && n < len(s) && s[n] >= utf8.RuneSelf {
			_, more, m, after := ansi.DecodeSequence(s[n:], next, nil)
			if more != 0 || m <= 0 {
				break
			}
			n, next = n+m, after
			w = ansi.StringWidth(s[:n])
		}
		if n <= 0 || !f(s[:n], col, w) {
			return
		}
		s, state = s[n:], next
		col += w
	}
}

// First divides a nonempty text without control characters after its first cluster, and returns what to show for it
// and its width, which is 1 or 2.
func First(b []byte) (head, rest []byte, show string, width int) {
	n := 1
	if b[0] >= utf8.RuneSelf || len(b) > 1 && b[1] >= utf8.RuneSelf {
		head, width = ansi.FirstGraphemeCluster(b, ansi.GraphemeWidth)
		n = max(1, len(head))
	} else {
		width = 1
	}
	head, rest = b[:n], b[n:]
	if width < 1 || width > 2 || n > MaxBytes {
		return head, rest, Placeholder, 1
	}
	if n >= utf8.UTFMax {
		show, width = stableWidth(string(head), width)
		return head, rest, show, width
	}
	return head, rest, string(head), width
}

const joiner, emojiSelector = 0x200d, 0xfe0f

// stableWidth keeps only the first emoji of a cluster, because terminals show joined emoji with different widths.
func stableWidth(head string, width int) (string, int) {
	for i, r := range head {
		if i == 0 {
			continue
		}
		if r == emojiSelector || width == 2 && (r == joiner || r >= 0x1f3fb && r <= 0x1f3ff) {
			return head[:i], ansi.StringWidth(head[:i])
		}
	}
	return head, width
}
