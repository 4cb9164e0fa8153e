// Package color parses terminal colors as users write them.
package color

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse parses one of the sixteen color names, a number of the 256-color palette, or #rrggbb. The result is a number,
// or "#rrggbb" in lower case.
func Parse(word string) (string, error) {
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		if _, err := strconv.ParseUint(hex, 16, 32); err != nil || len(hex) != 6 {
			return "", fmt.Errorf("invalid color %q: write #rrggbb", word)
		}
		return strings.ToLower(word), nil
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n < 0 || n > 255 {
			return "", fmt.Errorf("invalid color %q: write a number from 0 to 255", word)
		}
		return strconv.Itoa(n), nil
	}
	name, bright := strings.CutPrefix(word, "bright-")
	for i, known := range Names() {
		if name != known {
			continue
		}
		if bright {
			i += 8
		}
		return strconv.Itoa(i), nil
	}
	return "", fmt.Errorf("invalid color %q: write a name (%s; also with bright- before it), a "+
		"number from 0 to 255, or #rrggbb",
		word, strings.Join(Names(), ", "))
}

// Names returns the names of the eight basic colors, in the order of their numbers.
func Names() []string {
	return []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
}
