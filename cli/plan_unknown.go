package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/city"
	"gcity/session"
)

// unknownLines says, a provider a line, what a plan is made without.
func unknownLines(p *session.Partial) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Unknown)) {
		out = append(out, fmt.Sprintf("what runs by %s is not known, and what would become of it "+
			"is not in this plan: %v", name, p.Unknown[name]))
	}
	return out
}

// bars says why an agent that runs otherwise than it is wanted is not restarted for that: it could not be started
// again.
func (v sight) bars(w agent.Want, st session.Status) string {
	if w.Problem != "" || !st.Swapped(&w.Spec) || v.unable == nil {
		return w.Problem
	}
	return v.unable(w.Spec.Provider)
}

// hidden says why nobody knows what becomes of an agent that was not found: it may run where nobody could look. "" = it
// does not run.
func (v sight) hidden(name string) string {
	if len(v.unknown) == 0 {
		return ""
	}
	if v.running == nil {
		return "waits until the sessions of " +
			strings.Join(slices.Sorted(maps.Keys(v.unknown)), ", ") +
			" can be listed, because it may run there"
	}
	g, ok := v.running.Agent(name)
	if ok && g.Running && v.unknown[cmp.Or(g.Provider, "pty")] != nil {
		return "not known: the sessions of " + g.Provider + " cannot be listed"
	}
	if ok && g.State == city.Waiting && len(g.DependsOn) == 0 { // for the same reason
		return g.Reason
	}
	return ""
}
