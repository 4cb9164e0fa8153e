package palette

import (
	"cmp"
	"slices"
	"strings"

	"gcity/tui/dialog"
)

// Sections returns the sections of the help in their order.
func Sections() []string {
	return []string{SectionMove, SectionLook, "Agent", "Pool", "Automation", "Rig", "Work and mail",
		"Watchdog", "City", SectionScreen}
}

// SectionMove, SectionLook and SectionScreen are the sections about the view.
const SectionMove, SectionLook, SectionScreen = "Move", "Look", "Screen"

// SectionOf returns the section to which an action belongs, by the action's ID.
func SectionOf(id string) string {
	noun, rest, _ := strings.Cut(id, ".")
	switch noun {
	case "focus", "move":
		return SectionMove
	case "list", "event", "menu", "peek":
		return SectionLook
	case "pool", "automation", "rig", "watchdog":
		return strings.ToUpper(noun[:1]) + noun[1:]
	case "work", "mail":
		return "Work and mail"
	case "city", "config", "fleet":
		return "City"
	case "agent", "verb":
		if strings.HasPrefix(rest, "mark") {
			return SectionMove
		}
		return "Agent"
	}
	if slices.Contains([]string{"filter", "attention", "event", "messages"}, rest) {
		return SectionLook
	}
	return SectionScreen
}

// Help groups help entries by section. Entries with a rank come first, under title.
func Help[T any](title string, all []dialog.Item[T],
	rankOf func(id string) (rank int, ok bool)) []dialog.Item[T] {
	parts := map[string][]dialog.Item[T]{}
	for _, t := range all {
		section := SectionOf(t.Line)
		switch {
		case t.Info:
			section = "Symbols and files"
		default:
			if rank, ok := rankOf(t.Line); ok {
				section, t.Rank = title, dialog.Rank(rank)
			}
		}
		parts[section] = append(parts[section], t)
	}
	slices.SortStableFunc(parts[title], func(a, b dialog.Item[T]) int {
		return cmp.Compare(a.Rank, b.Rank)
	})
	var out []dialog.Item[T]
	for _, s := range slices.Concat([]string{title}, Sections(), []string{"Symbols and files"}) {
		if len(parts[s]) > 0 {
			out = append(out, dialog.Item[T]{Title: s, Heading: true, Info: true})
			out = append(out, parts[s]...)
		}
	}
	return out
}
