package state

import (
	"path/filepath"
	"strconv"
	"strings"

	"gcity/tui/feed"
	"gcity/tui/widget"
)

// PlaceOf parses the position of a declaration, such as "teams/one.toml:12:3". It returns false if there is no line
// number.
func PlaceOf(m *Room, source string) (feed.FileLine, bool) {
	parts := strings.Split(source, ":")
	if len(parts) < 3 {
		return feed.FileLine{}, false
	}
	line, err := strconv.Atoi(parts[len(parts)-2])
	if err != nil {
		return feed.FileLine{}, false
	}
	p := feed.FileLine{File: strings.Join(parts[:len(parts)-2], ":"), Line: line}
	if p.File == filepath.Base(m.Files.Path("")) {
		p.File = ""
	}
	return p, true
}

func declaredText(m *Room, source string, patched []string) string {
	one := func(at string) string {
		if m.Files != nil && m.Mode != ReadOnly {
			if p, ok := PlaceOf(m, at); ok && m.Files.ReadOnlyReason(p.File) != "" {
				return widget.Plain(at) + " (cannot be edited here)"
			}
		}
		return widget.Plain(at)
	}
	text := one(source)
	for i, at := range patched {
		text += [...]string{", changed at ", " and "}[min(i, 1)] + one(at)
	}
	return text
}
