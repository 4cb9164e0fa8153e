package output

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/describe"
)

// ShortList returns the first few names, and how many more there are.
func ShortList(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	parts = slices.Clone(parts)
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}

// Part is a number of things for Tally.
type Part struct {
	N    int
	What string
}

// Tally returns a summary such as "3 automations: 1 broken, 2 due". It omits parts that are zero.
func Tally(total string, parts ...Part) string {
	said := make([]string, len(parts))
	for i, p := range parts {
		if p.N > 0 {
			said[i] = fmt.Sprintf("%d %s", p.N, p.What)
		}
	}
	return Join(": ", total, Join(", ", said...))
}

// InBrackets returns a process ID in parentheses, or "" if it is unknown.
func InBrackets(pid int) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

// ExitText returns how a process exited: its signal, or its exit code if signal is empty.
func ExitText(code int, signal string) string {
	if signal != "" {
		return signal
	}
	if code < 0 {
		return "exit code unknown"
	}
	return fmt.Sprintf("exit %d", code)
}

// FirstLine splits text into its first line and the rest.
func FirstLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(first), strings.TrimSpace(rest)
}

// HeadCount returns a summary such as "3 agents: 1 quarantined, 2 running", with urgent states first.
func HeadCount(s *city.Snapshot) string {
	if len(s.Agents) == 0 {
		return "no agents"
	}
	return Tally(describe.Count(len(s.Agents), "agent"), byState(s.Agents)...)
}

// ByState returns a summary such as "1 quarantined, 2 running", with urgent states first, or "" if there are no
// agents.
func ByState(agents []city.Agent) string { return Tally("", byState(agents)...) }

func byState(agents []city.Agent) (parts []Part) {
	count := (&city.Snapshot{Agents: agents}).Count()
	for _, state := range city.States {
		parts = append(parts, Part{count[state], string(state)})
	}
	return parts
}

// RemovalText returns a clause about the agents that a configuration would remove: "it removes 3 of 4 running agents
// (a, b, c)".
func RemovalText(removes []string, running int) string {
	return fmt.Sprintf("it removes %d of %s (%s)", len(removes),
		describe.Count(running, "running agent"), FirstNames(removes))
}

// FirstNames returns the first six names in natural order, as "a, b, c, d, e, f, …".
func FirstNames(all []string) string {
	names := slices.Clone(all)
	slices.SortFunc(names, city.CompareNames)
	if len(names) > 6 {
		names = append(names[:6:6], "…")
	}
	return strings.Join(names, ", ")
}
