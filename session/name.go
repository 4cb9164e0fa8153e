package session

import (
	"fmt"
	"strings"
)

// Encode converts an agent's qualified name to one that is valid in a file name, a socket path and a tmux target.
// Different names stay different: "_" becomes "__", "/" becomes "_s", "." becomes "_d".
func Encode(agent string) string { return encoder.Replace(agent) }

// Decode is the inverse of Encode.
func Decode(name string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' {
			b.WriteByte(c)
			continue
		}
		i++
		if i == len(name) {
			return "", fmt.Errorf("session name %q ends in an incomplete escape", name)
		}
		switch name[i] {
		case '_':
			b.WriteByte('_')
		case 's':
			b.WriteByte('/')
		case 'd':
			b.WriteByte('.')
		default:
			return "", fmt.Errorf("session name %q has an unknown escape _%c", name, name[i])
		}
	}
	return b.String(), nil
}

// A Replacer is immutable and safe for concurrent use.
var encoder = strings.NewReplacer("_", "__", "/", "_s", ".", "_d")
