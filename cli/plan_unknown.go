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

// unknownLines returns one line for each provider with sessions that are missing from the plan.
func unknownLines(p *session.PartialError) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Unknown)) {
		out = append(out, fmt.Sprintf("the sessions of %s are unknown, so this plan leaves "+
			"them out: %v", name, p.Unknown[name]))
	}
	return out
}

// cannotRestart returns the reason why an agent with a changed definition could not start again, or "" if it could.
// The controller does not restart an agent that could not start again.
func (v planInput) cannotRestart(w agent.Want, st session.Status) string {
	if w.Problem != "" || !st.ProviderChanged(&w.Spec) || v.unable == nil {
		return w.Problem
	}
	return v.unable(w.Spec.Provider)
}

// unlistedReason returns the reason why it is unknown whether an agent without a session is running: its provider may
// be unable to list sessions. It returns "" for an agent that is known not to be running.
func (v planInput) unlistedReason(name string) string {
	if len(v.unknown) == 0 {
		return ""
	}
	if v.running == nil {
		return "waits until the sessions of " +
			strings.Join(slices.Sorted(maps.Keys(v.unknown)), ", ") +
			" can be listed, because it might be running there"
	}
	g, ok := v.running.Agent(name)
	if ok && g.Running && v.unknown[cmp.Or(g.Provider, "pty")] != nil {
		return "unknown: the sessions of " + g.Provider + " cannot be listed"
	}
	// the controller waits for the same reason
	if ok && g.State == city.Waiting && len(g.DependsOn) == 0 {
		return g.Reason
	}
	return ""
}
