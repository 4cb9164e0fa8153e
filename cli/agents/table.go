package agents

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/shell"
)

// Section is a part of the output. Any reports whether it has content.
type Section struct {
	Any   bool
	Write func() error
}

// Sections writes the parts that have content, with a blank line between them.
func Sections(w io.Writer, parts ...Section) error {
	parts = slices.DeleteFunc(parts, func(p Section) bool { return !p.Any })
	for i, p := range parts {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := p.Write(); err != nil {
			return err
		}
	}
	return nil
}

const (
	usageWidth = 100
	separator  = " · " // between the parts of a reason
)

// WriteAgents writes a table of agents, with the most urgent first.
func WriteAgents(e *env.Env, w io.Writer, agents []city.Agent) error {
	width := e.Columns()
	table := output.NewTable("STATE", "AGENT", "SINCE", "CPU", "MEM", "PID", "WHY")
	for _, g := range byUrgency(agents) {
		table.Add(output.Tinted(string(g.State), output.StateColor(g.State)),
			output.Tinted(g.Name, output.Bold), e.Age(g.Since), output.Percent(g.Usage),
			output.Memory(g.Usage), output.Tinted(pid(&g), output.Dim),
			reasonCell(e, &g))
	}
	measured := slices.ContainsFunc(agents, func(g city.Agent) bool { return g.Usage != nil })
	if measured && (width == 0 || width >= usageWidth) {
		table.FlushRight(3, 4)
	} else {
		table.Head = slices.Delete(table.Head, 3, 5)
		for i, row := range table.Rows {
			table.Rows[i] = slices.Delete(row, 3, 5)
		}
	}
	return e.WriteTable(w, width, table)
}

func byUrgency(agents []city.Agent) []city.Agent {
	agents = slices.Clone(agents)
	slices.SortStableFunc(agents, func(x, y city.Agent) int {
		return cmp.Or(x.State.Urgency()-y.State.Urgency(), x.Rank()-y.Rank(),
			city.CompareNames(x.Name, y.Name))
	})
	return agents
}

func pid(g *city.Agent) string {
	if g.PID == 0 {
		return ""
	}
	return fmt.Sprint(g.PID)
}

func reasonCell(e *env.Env, g *city.Agent) output.Cell {
	c := output.Plain(stateReason(e, g))
	if end := stateEnd(e, g); end != "" {
		c.Keep = separator + end
	}
	return c
}

func stateReason(e *env.Env, g *city.Agent) string {
	parts := []string{g.Reason}
	if g.State == city.Running && slices.Contains([]string{"", "declared at " + g.Source,
		"member of pool " + g.Pool}, g.Reason) {
		// prefer the description to a reason that names only a file or pool
		parts[0] = cmp.Or(g.Description, g.Reason)
	}
	if g.Until != nil {
		parts = append(parts, stateEnd(e, g))
	}
	switch d := g.Drain; {
	case d == nil:
	case d.Acked:
		parts = append(parts, "reported done")
	case d.Deadline == nil:
		parts = append(parts, "no deadline")
	case g.Until == nil:
		parts = append(parts, stateEnd(e, g))
	}
	if g.AwaitsGate != "" {
		parts = append([]string{city.AwaitingGate + " " + g.AwaitsGate}, parts...)
	}
	if g.Stuck != nil {
		parts = append([]string{stuck(e, g.Stuck)}, parts...)
	}
	if g.Asks != nil && g.State != city.Starting { // otherwise, the reason says the same
		parts = append([]string{describe.Asks(g.Asks, e.Age(g.Asks.Since))}, parts...)
	}
	if g.Frozen {
		parts = append(parts, "stopped by SIGSTOP")
	}
	if len(g.Drift) > 0 && g.State != city.Stopping && !strings.Contains(g.Reason, "held back") {
		parts = append(parts, "restart held back: "+strings.Join(g.Drift, ", "))
	}
	if g.Session != nil && g.Session.Attached {
		parts = append(parts, "attached")
	}
	if g.Restarts > 0 {
		parts = append(parts, describe.Count(g.Restarts, "restart"))
	}
	return output.Join(separator, parts...)
}

// stateEnd says when the agent's state ends or its drain times out, or returns "" if neither has a time.
func stateEnd(e *env.Env, g *city.Agent) string {
	switch {
	case g.Until != nil && (g.State == city.Failed || g.State == city.Backoff):
		return "tries again at " + e.Clock(*g.Until)
	case g.Until != nil:
		return "until " + e.Clock(*g.Until)
	case g.Drain != nil && !g.Drain.Acked && g.Drain.Deadline != nil:
		return "deadline " + e.Clock(*g.Drain.Deadline)
	}
	return ""
}

// Alerts returns a line for each state that needs attention, with the names of the agents in it. The control room shows
// the same alerts.
func Alerts(s *city.Snapshot) []string {
	var out []string
	alerts := describe.AgentAlerts(func(yield func(string, city.State) bool) {
		for i := range s.Agents {
			a := &s.Agents[i]
			if !yield(a.Name, describe.AlertState(a.State, &a.Blocker)) {
				return
			}
		}
	})
	for i := range alerts {
		a := &alerts[i]
		text, name := a.Text("")+": "+output.FirstNames(a.Names), "NAME"
		if len(a.Names) == 1 {
			text, name = "agent "+a.Names[0]+" "+a.State.Is(), shell.Quote(a.Names[0])
		}
		if a.State != describe.Asking {
			out = append(out, text+"; `gcity why "+name+"` shows why")
			continue
		}
		if len(a.Names) == 1 {
			text = a.Text("agent " + a.Names[0])
		}
		out = append(out, text+"; answer with `gcity agent attach "+name+"`")
	}
	return out
}
