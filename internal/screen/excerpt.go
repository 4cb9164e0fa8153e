package screen

import "strings"

const (
	excerptLines = 20
	// in bytes, including escape sequences
	excerptBytes = 2 << 10
)

// Excerpt returns the last lines of a program's output, without escape sequences.
func Excerpt(raw []byte) string {
	text := strings.TrimRight(string(raw[max(0, len(raw)-excerptBytes):]), "\n")
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-excerptLines):]
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}
