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

// unknownLines returns one line for each provider that is missing from the plan.
func unknownLines(p *session.Partial) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Unknown)) {
		out = append(out, fmt.Sprintf("sessions of %s are unknown, so this plan leaves "+
			"them out: %v", name, p.Unknown[name]))
	}
	return out
}

// bars returns why an agent with a changed definition is not restarted: it could not start again.
func (v sight) bars(w agent.Want, st session.Status) string {
	if w.Problem != "" || !st.Swapped(&w.Spec) || v.unable == nil {
		return w.Problem
	}
	return v.unable(w.Spec.Provider)
}

// hidden returns why the state of an agent without a session is unknown: it may run with a provider that could not
// be listed. "" means that it is not running.
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
		return "unknown: the sessions of " + g.Provider + " cannot be listed"
	}
	if ok && g.State == city.Waiting && len(g.DependsOn) == 0 { // for the same reason
		return g.Reason
	}
	return ""
}
