package agents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/events"
)

func standing(e *env.Env, g *city.Agent) string {
	return fmt.Sprintf("%s: %s%s", e.Bold(g.Name),
		e.Paint(output.StateColor(g.State), string(g.State)), since(e, g.Since))
}

func since(e *env.Env, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", e.Clock(t), e.Age(t))
}

func agentFacts(e *env.Env, s *city.Snapshot, g *city.Agent, l *env.Link) {
	e.Fact("because", describe.Reason(g))
	if g.Until != nil && (g.Next == nil || g.Next.At == nil) {
		e.Fact("until", e.Ahead(*g.Until))
	}
	e.Fact("next", e.Next(g.Next))
	e.Fact("city", l.Idle("nothing is started or restarted"))
	stateFacts(e, s, g)
	if g.Mail > 0 {
		e.Fact("mail", fmt.Sprintf("%d unread", g.Mail))
	}
	e.Fact("idle", idle(e, g))
	e.Fact("needs", needs(s, g.DependsOn))
	e.Fact("needed by", strings.Join(dependents(s, g.Name, g.Pool), ", "))
	if p, ok := s.Pool(g.Pool); ok && p.Name != g.Name {
		e.Fact("pool", fmt.Sprintf("%s, %s, %s", p.Name, sizes(p), p.Reason))
	}
	processFacts(e, g)
	e.Fact("command", g.Command)
	if g.Dir != "" {
		// a running process keeps its folder when the configuration changes
		e.Fact("folder", g.Dir+" (as configured)")
	}
	e.Fact("declared", describe.Declared(g.Source, g.Patched))
}

func stateFacts(e *env.Env, s *city.Snapshot, g *city.Agent) {
	if g.Frozen {
		e.Fact("stopped", "by SIGSTOP"+continueHint(g.PID))
	}
	if g.Drain != nil {
		e.Fact("drain", draining(e, g.Drain))
	}
	if len(g.Drift) > 0 {
		e.Fact("drift", describe.HeldBack(g.Drift))
	}
	for i := range g.Sends {
		e.Fact(fmt.Sprintf("nudge %d", g.Sends[i].ID), sendText(e, &g.Sends[i]))
	}
	e.Fact("works on", g.Task)
	if id, _, _ := strings.Cut(g.AwaitsGate, " "); id != "" {
		e.Fact("awaits", "gate "+g.AwaitsGate+"; `gcity bead close "+id+"` opens it")
	}
	if g.Asks != nil && g.State != city.Starting {
		e.Fact("asks", describe.Asks(g.Asks, e.Age(g.Asks.Since))+": `gcity agent attach "+
			g.Name+"`")
	}
	if g.Stuck != nil {
		e.Fact("stuck", strings.TrimPrefix(stuck(e, g.Stuck), "stuck ")+
			"; run `gcity agent attach "+g.Name+"` to look at it")
	}
	for i := range s.Watchdogs {
		if w := &s.Watchdogs[i]; w.Watches == g.Name {
			e.Fact("watched", fmt.Sprintf("by %s: %s, heartbeat %s", w.Name, w.StatusWord(),
				heartbeatAge(e, w)))
		}
	}
}

func processFacts(e *env.Env, g *city.Agent) {
	if g.Exit != nil {
		e.Fact("last exit", e.Ending(g.Exit))
	}
	if g.Crashes > 0 {
		e.Fact("crashes", fmt.Sprintf("%d within the restart window", g.Crashes))
	}
	if g.Restarts > 0 {
		e.Fact("restarts", fmt.Sprintf("%d automatic (restarts by a user are not counted)",
			g.Restarts))
	}
	if g.Session != nil {
		pid := ""
		if g.PID > 0 {
			pid = fmt.Sprintf(", pid %d", g.PID)
		}
		e.Fact("session", fmt.Sprintf("%s%s, started %s%s", g.Session.Name, pid,
			e.Clock(g.Session.Started), g.Session.DetailText()))
	}
	if g.Usage != nil {
		e.Fact("usage", UsageText(*g.Usage))
	}
}

func continueHint(pid int) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf("; `kill -CONT %d` resumes it", pid)
}

func draining(e *env.Env, d *city.DrainInfo) string {
	text := "requested by " + d.By + " at " + e.Clock(d.Since)
	switch {
	case d.Acked:
		return text + "; reported done"
	case d.Deadline == nil:
		return text + "; " + describe.NoDeadline
	case d.Deadline.Before(e.Now()):
		return text + "; its deadline " + e.Clock(*d.Deadline) + " has passed"
	}
	return text + ", deadline " + e.Ahead(*d.Deadline)
}

func idle(e *env.Env, g *city.Agent) string {
	if g.IdleTimeout <= 0 {
		return ""
	}
	text := describe.Idle(g.IdleTimeout)
	switch {
	case g.Session == nil:
		return text
	case g.Session.LastActivity == nil:
		return text + "; its last activity is unknown, so it will not be restarted"
	case g.Session.Attached:
		return text + describe.NotWhileAttached
	}
	text += "; last activity " + e.Age(*g.Session.LastActivity) + " ago"
	end := g.Session.LastActivity.Add(g.IdleTimeout)
	if g.State != city.Running || g.Frozen || end.Before(e.Now()) { // the restart is held back
		return text
	}
	return text + ", so the agent will restart at " + e.Ahead(end)
}

// UsageText formats the resource usage of a process tree.
func UsageText(u city.Usage) string {
	return fmt.Sprintf("cpu %s, memory %s, %s", output.Percent(&u), output.Memory(&u),
		describe.Processes(u.Procs))
}

// Need is an agent or pool that an agent depends on, and its state.
type Need struct {
	Name  string `json:"name"`
	State string `json:"state"` // an agent's state, or "2/3 live" for a pool
	Up    bool   `json:"up"`
}

func dependencies(s *city.Snapshot, names []string) []Need {
	out := []Need{}
	for _, name := range names {
		if p, ok := s.Pool(name); ok {
			out = append(out, Need{name, sizes(p), p.Size > 0 || p.Desired == 0})
		} else if g, ok := s.Agent(name); ok {
			out = append(out, Need{name, string(g.State), g.State == city.Running})
		} else {
			out = append(out, Need{Name: name, State: "does not exist"})
		}
	}
	return out
}

func needs(s *city.Snapshot, names []string) string {
	var parts []string
	for _, n := range dependencies(s, names) {
		parts = append(parts, fmt.Sprintf("%s (%s)", n.Name, n.State))
	}
	return strings.Join(parts, ", ")
}

func dependents(s *city.Snapshot, name, pool string) []string {
	var out []string
	for i := range s.Agents {
		for _, d := range s.Agents[i].DependsOn {
			if d == name || pool != "" && d == pool {
				out = append(out, s.Agents[i].Name)
				break
			}
		}
	}
	return out
}

func decisionText(d city.Decision) [2]string {
	what, why := d.What, d.Why
	if what == "check failed" { // its reason begins with "the check"
		what, why = "check", strings.TrimPrefix(why, "the check ")
	}
	return [2]string{output.SafeLine(what), output.SafeLine(why)}
}

func writeRecent(e *env.Env, decided []city.Decision, past []events.Event) {
	var times []time.Time
	for _, d := range decided {
		times = append(times, d.At)
	}
	stamp := e.Stamps(times)
	if len(decided) > 0 {
		e.Sayf("\nrecent decisions")
	}
	widest := 10
	for _, d := range decided {
		widest = max(widest, len(decisionText(d)[0]))
	}
	for _, d := range decided {
		text := decisionText(d)
		e.Sayf("  %s  %-*s  %s", stamp(d.At), widest, text[0], text[1])
	}
	if len(past) > 0 {
		e.Sayf("\nrecent events")
		e.WriteEventLines("  ", output.OldestFirst(past))
	}
	writeCrashOutput(e, past)
}

// writeCrashOutput prints the end of the output before the newest crash. A program that exits at once usually gives the
// reason there.
func writeCrashOutput(e *env.Env, newestFirst []events.Event) {
	const most = 5
	for i := range newestFirst {
		c, ok := city.CrashOf(&newestFirst[i])
		if !ok || c.Output == "" {
			continue
		}
		e.Sayf("\nlast output before the crash at %s", e.Clock(c.At))
		lines := slices.DeleteFunc(strings.Split(c.Output, "\n"), func(line string) bool {
			return strings.TrimSpace(line) == ""
		})
		for _, line := range lines[max(0, len(lines)-most):] {
			e.Sayf("  %s", e.Paint(output.Dim, output.SafeLine(line)))
		}
		return
	}
}
