package palette

import (
	"fmt"
	"slices"
	"strings"

	"gcity/tui/dialog"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// The kinds of objects that a command line can name.
const (
	NounAgent      = "agent"
	NounPool       = "pool"
	NounAutomation = "automation"
	NounWatchdog   = "watchdog"
	NounRig        = "rig"
	NounCity       = "city"
)

// Agents returns the agents that the earlier arguments do not name, the selected one first.
func Agents(l *panel.Lists, before []string, selected string) []Word {
	all := make([]Word, 0, len(l.Agents.Rows))
	for r := range l.Agents.All() {
		if !slices.Contains(before, r.Name) {
			all = append(all, Word{Word: r.Name, Note: string(r.State), Noun: NounAgent})
		}
	}
	return chosenFirst(all, selected)
}

// Pools returns the pools, the selected one first.
func Pools(l *panel.Lists) []Word {
	all := make([]Word, 0, len(l.Pools.Rows))
	for p := range l.Pools.All() {
		all = append(all, Word{Word: p.Name, Note: "pool, " + p.Sizes(), Noun: NounPool})
	}
	return chosenFirst(all, l.Pools.SelectedKey)
}

// Automations returns the automations, the selected one first.
func Automations(l *panel.Lists) []Word {
	all := make([]Word, 0, len(l.Automations.Rows))
	for r := range l.Automations.All() {
		all = append(all, Word{Word: r.Name, Note: "automation, " + string(r.State),
			Noun: NounAutomation})
	}
	return chosenFirst(all, l.Automations.SelectedKey)
}

// Watchdogs returns the watchdogs.
func Watchdogs(l *panel.Lists) []Word {
	all := make([]Word, 0, len(l.Watchdogs.Rows))
	for r := range l.Watchdogs.All() {
		all = append(all, Word{Word: r.Name, Note: "watchdog, " + r.Status, Noun: NounWatchdog})
	}
	return all
}

func chosenFirst(all []Word, chosen string) []Word {
	if i := slices.IndexFunc(all, func(w Word) bool { return w.Word == chosen }); i > 0 {
		w := all[i]
		copy(all[1:i+1], all[:i])
		all[0] = w
	}
	return all
}

// Members returns palette rows for members of a pool. Selecting the row of r runs run(r).
func Members[T any](look *widget.Styles, rows []*panel.AgentRow,
	run func(r *panel.AgentRow) T) []dialog.Item[T] {
	name := 0
	for _, r := range rows {
		name = max(name, min(28, widget.Width(r.Shown)))
	}
	items := make([]dialog.Item[T], len(rows))
	for i, r := range rows {
		sign, _ := panel.ConditionOf(look, r)
		items[i] = dialog.Item[T]{
			Title: look.FitName(r.Shown, name) + "  " + sign,
			Words: r.Shown + " " + r.Why, Line: r.Name, Name: r.Name, Note: r.Why, Run: run(r)}
		if at := strings.LastIndexByte(r.Name, '-'); at >= 0 {
			number := strings.ToLower(r.Name[at+1:])
			items[i].Names = []string{number, "m" + number} // m is the key for this list
		}
	}
	return items
}

// Unknown returns the message for a name that does not exist, with a suggestion.
func Unknown(what, name string, known []Word) string {
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].Word
	}
	return fmt.Sprintf("unknown %s %q", what, widget.Plain(name)) + Suggestion(name, names)
}
