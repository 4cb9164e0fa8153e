package describe

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/internal/span"
)

// Ready describes when a starting agent counts as running. The spec must contain a readiness condition.
func Ready(s *city.Spec) string {
	var parts []string
	if s.ReadyPrefix != "" {
		parts = append(parts, fmt.Sprintf("when a line begins with %q", s.ReadyPrefix))
	}
	if s.ReadyDelay > 0 {
		parts = append(parts, "after "+span.Text(s.ReadyDelay))
	}
	return strings.Join(parts, " or ") + ", within " + span.Text(s.ReadyLimit)
}

// Restart describes in one line what happens when an agent exits.
func Restart(p *city.RestartPolicy) string {
	if p.Mode == "never" {
		return "never"
	}
	text := p.Mode
	if p.Mode == "always" && p.MinUptime > 0 {
		text += "; an exit within " + span.Text(p.MinUptime) + " is a crash"
	}
	if p.MaxRestarts > 0 {
		text += fmt.Sprintf("; quarantine on crash %d within %s", p.MaxRestarts+1,
			span.Text(p.Window))
	}
	if wait := waits(p); wait != "" {
		text += "; " + wait
	}
	return text
}

func waits(p *city.RestartPolicy) string {
	switch first, most := p.Waits(); {
	case first > 0 && first < most:
		return "waits " + span.Text(first) + ", doubling up to " + span.Text(most)
	case first > 0:
		return "waits " + span.Text(first)
	}
	return ""
}

// RestartLines describes what happens when an agent exits, one fact per line.
func RestartLines(s *city.Spec) []string {
	p := &s.Restart
	lines := []string{p.Mode}
	if p.Mode == "never" {
		return lines
	}
	if p.Mode == "always" && p.MinUptime > 0 {
		lines[0] += "; an exit within " + span.Text(p.MinUptime) + " of the start is a crash"
	}
	if p.MaxRestarts > 0 {
		lines = append(lines, fmt.Sprintf("quarantined on crash %d within %s",
			p.MaxRestarts+1, span.Text(p.Window)))
	} else {
		lines = append(lines, "crashes never lead to quarantine")
	}
	if wait := waits(p); wait != "" {
		lines = append(lines, "first restart: immediate; then "+wait)
	}
	switch s.Strategy {
	case "rest_for_one":
		lines = append(lines, "agents that depend on it restart with it")
	case "one_for_all":
		lines = append(lines, "all agents in its dependency group restart too")
	}
	return lines
}

// Unrecorded is the message for an unknown value in a running session.
const Unrecorded = "unknown: gcity keeps only a fingerprint of the running value"

// NotStarted is the message for an agent that could not start.
func NotStarted(why string) string { return "not started: " + why }

// Variables are environment variables with the same origin.
type Variables struct {
	Title string
	All   []city.Variable
}

// Environment groups an environment by origin, and omits empty groups.
func Environment(all []city.Variable) []Variables {
	var out []Variables
	for _, g := range []struct {
		from  city.Origin
		title string
	}{
		{city.FromConfig, "environment from the configuration"},
		{city.FromCity, "environment from the city"},
		{city.FromInherited, "environment inherited from the controller"},
	} {
		var mine []city.Variable
		for _, v := range all {
			if v.From == g.from {
				mine = append(mine, v)
			}
		}
		if len(mine) > 0 {
			out = append(out, Variables{g.title, mine})
		}
	}
	return out
}
