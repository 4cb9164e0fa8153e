package actions

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// declaration is a position in the configuration, with a description of what is declared there.
type declaration struct {
	feed.FileLine
	what string
}

// errorPosition returns a pattern that matches the position of an error at the beginning of a line.
var errorPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\S.*?:\d+:\d+): `)
})

// configError returns the position of the first error in the configuration on disk, if it is invalid.
func configError(m *state.Room) (feed.FileLine, bool) {
	if m.Snap == nil || m.Snap.Config.Rejected == "" {
		return feed.FileLine{}, false
	}
	at := errorPosition().FindStringSubmatch(m.Snap.Config.Rejected)
	if at == nil {
		return feed.FileLine{}, false
	}
	return state.PlaceOf(m, at[1])
}

// editSubject returns the agent or pool that an edit is about, and where it is declared and patched. The name is "" if
// the edit is about neither.
func editSubject(m *state.Room) (name, source string, patched []string) {
	if r := state.Selected(m); r != nil {
		name = r.Name
	}
	switch {
	case m.Snap == nil:
		return "", "", nil
	case m.Dialogs.Inspection() != nil:
		name = m.Dialogs.Inspection().Name
	case m.Subject().Kind == panel.KindPool:
		if p := state.Pool(m); p != nil {
			if q, ok := m.Snap.Pool(p.Name); ok {
				return p.Shown, q.Source, q.Patched
			}
		}
	}
	if a, ok := m.Snap.Agent(name); ok {
		return widget.Plain(a.Name), a.Source, a.Patched
	}
	return "", "", nil
}

// declarations returns the positions at which an edit can start: first an error in the configuration, then the
// declaration of the subject, then the patches to it.
func declarations(m *state.Room) (name string, all []declaration) {
	name, source, patched := editSubject(m)
	add := func(p feed.FileLine, what string) {
		if !slices.ContainsFunc(all, func(w declaration) bool { return w.FileLine == p }) {
			all = append(all, declaration{p, what})
		}
	}
	if p, ok := configError(m); ok {
		add(p, "contains the error")
	}
	if p, ok := state.PlaceOf(m, source); ok {
		add(p, "declares "+name)
	}
	for _, at := range patched {
		if p, ok := state.PlaceOf(m, at); ok {
			add(p, "changes "+name)
		}
	}
	return name, all
}

// editPlace starts an edit at the declaration of the subject, or at an error in city.toml. It first asks which file to
// edit, unless city.toml is the only candidate or contains the error.
func editPlace(m *state.Room) []feed.Effect {
	_, all := declarations(m)
	_, invalid := configError(m)
	switch {
	case len(all) == 0:
		return []feed.Effect{feed.Edit{}}
	case all[0].File == "" && (len(all) == 1 || invalid):
		return []feed.Effect{feed.Edit{At: all[0].FileLine}}
	}
	askWhichFile(m, all)
	return nil
}

// askWhichFile asks which of several files to edit. If a file cannot be edited here, it shows the reason.
func askWhichFile(m *state.Room, all []declaration) {
	c := &state.Choice{Title: "Edit which file?", Since: m.Now}
	if !slices.ContainsFunc(all, func(w declaration) bool { return w.File == "" }) {
		all = append(all, declaration{what: "the city's own file"})
	}
	shown := map[string]bool{}
	for _, w := range all {
		why := m.Files.ReadOnlyReason(w.File)
		if why == "" {
			c.Answers = append(c.Answers, state.Answer{Key: strconv.Itoa(len(c.Answers) + 1),
				Title: placeName(m, w.FileLine) + ": " + w.what, Safe: true,
				Do: func(*state.Room) []feed.Effect {
					return []feed.Effect{feed.Edit{At: w.FileLine}}
				}})
			continue
		}
		c.Body = append(c.Body, placeName(m, w.FileLine)+" "+w.what+".")
		if !shown[why] {
			c.Body = append(c.Body, widget.PlainLines(why)...)
		}
		shown[why] = true
	}
	c.Answers = append(c.Answers, state.Answer{Key: "n", Title: "none, cancel", Safe: true})
	m.Dialogs.Open(c)
}

// placeName formats a position for the user.
func placeName(m *state.Room, p feed.FileLine) string {
	file := p.File
	if file == "" {
		file = filepath.Base(m.Files.Path(""))
	}
	if p.Line == 0 {
		return widget.Plain(file)
	}
	return fmt.Sprintf("%s, line %d", widget.Plain(file), p.Line)
}

// draftName returns the name of the edited file, for use in a question.
func draftName(d *feed.Draft) string {
	if d.File == "" {
		return "configuration"
	}
	return widget.Plain(d.File)
}
