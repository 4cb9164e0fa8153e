package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gcity/city"
	"gcity/session"
)

func unknownLines(p *session.PartialError) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Unknown)) {
		out = append(out, fmt.Sprintf("the sessions of %s are unknown, so this plan leaves "+
			"them out: %v", name, p.Unknown[name]))
	}
	return out
}

func (v *planInput) unlistedReason(name string) string {
	g := v.agent(name)
	switch {
	case len(v.unknown) == 0 || g == nil:
		return ""
	case g.Running && v.unknown[cmp.Or(g.Provider, "pty")] != nil:
		return "unknown: the sessions of " + g.Provider + " cannot be listed"
	case g.State == city.Waiting && len(g.DependsOn) == 0:
		return g.Reason
	}
	return ""
}
