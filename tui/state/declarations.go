package state

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Declaration is a position in the configuration, with a description of what is declared there.
type Declaration struct {
	feed.FileLine
	What string
}

var errorPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\S.*?:\d+:\d+): `)
})

// ConfigError returns the position of the first error in the configuration on disk, if it is invalid.
func ConfigError(m *Room) (feed.FileLine, bool) {
	if m.Snap == nil || m.Snap.Config.Rejected == "" {
		return feed.FileLine{}, false
	}
	at := errorPosition().FindStringSubmatch(m.Snap.Config.Rejected)
	if at == nil {
		return feed.FileLine{}, false
	}
	return PlaceOf(m, at[1])
}

func editSubject(m *Room) (name, source string, patched []string) {
	if r := Selected(m); r != nil {
		name = r.Name
	}
	switch {
	case m.Snap == nil:
		return "", "", nil
	case m.Dialogs.Inspection() != nil:
		name = m.Dialogs.Inspection().Name
	case m.Subject().Kind == panel.KindPool:
		if p := Pool(m); p != nil {
			return p.Shown, p.Pool.Source, p.Patched
		}
	}
	if a, ok := m.Snap.Agent(name); ok {
		return widget.Plain(a.Name), a.Source, a.Patched
	}
	return "", "", nil
}

// Declarations returns the positions at which an edit can start. An error in the configuration comes first.
func Declarations(m *Room) (name string, all []Declaration) {
	name, source, patched := editSubject(m)
	add := func(p feed.FileLine, what string) {
		if !slices.ContainsFunc(all, func(w Declaration) bool { return w.FileLine == p }) {
			all = append(all, Declaration{p, what})
		}
	}
	if p, ok := ConfigError(m); ok {
		add(p, "contains the error")
	}
	if p, ok := PlaceOf(m, source); ok {
		add(p, "declares "+name)
	}
	for _, at := range patched {
		if p, ok := PlaceOf(m, at); ok {
			add(p, "changes "+name)
		}
	}
	return name, all
}

// PlaceName returns a place in the configuration in a readable form.
func PlaceName(m *Room, p feed.FileLine) string {
	file := p.File
	if file == "" {
		file = filepath.Base(m.Files.Path(""))
	}
	if p.Line == 0 {
		return widget.Plain(file)
	}
	return fmt.Sprintf("%s, line %d", widget.Plain(file), p.Line)
}
