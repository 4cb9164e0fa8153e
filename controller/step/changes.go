package step

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Changes contains the names of agents and pools that differ between two configurations, by kind of change. Waiting
// contains the keys that have changed and take effect at the controller's next start.
type Changes struct{ Added, Changed, Removed, Suspended, Resumed, Waiting []string }

func (ch *Changes) each(do func(verb string, names []string)) {
	do("added", ch.Added)
	do("changed", ch.Changed)
	do("removed", ch.Removed)
	do("suspended", ch.Suspended)
	do("resumed", ch.Resumed)
}

func (ch *Changes) Payload() json.RawMessage {
	about := map[string]any{}
	ch.each(func(verb string, names []string) {
		if len(names) > 0 {
			about[verb] = names
		}
	})
	return Payload(about)
}

// Lines returns one line for each kind of change. Long lists of names are shortened.
func (ch *Changes) Lines() []string {
	var lines []string
	ch.each(func(verb string, names []string) {
		if len(names) > 0 {
			lines = append(lines, verb+" "+Few(names))
		}
	})
	if len(ch.Waiting) > 0 {
		lines = append(lines, "waits for the controller's next start: "+Few(ch.Waiting))
	}
	if len(lines) == 0 {
		lines = append(lines, "no agent changed")
	}
	return lines
}

func (ch *Changes) Summary(revision string) string {
	return "revision " + Short(revision) + " is in force: " + strings.Join(ch.Lines(), "; ")
}

// Few joins at most five names, and appends the number of omitted names.
func Few(names []string) string {
	text := strings.Join(names[:min(len(names), 5)], ", ")
	if more := len(names) - 5; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func Short(revision string) string { return revision[:min(12, len(revision))] }
