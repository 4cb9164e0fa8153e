package cli

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/output"
	"gcity/events"
)

// standing is an agent's state in a sentence.
func (a *app) standing(g *city.Agent) string {
	return fmt.Sprintf("%s is %s since %s (%s)", a.Paint(output.Bold, output.SafeLine(g.Name)), a.Paint(output.StateColour(g.State), string(g.State)),
		a.Clock(g.Since), a.Age(g.Since))
}

// agentFacts writes what is known of an agent, one fact a line.
func (a *app) agentFacts(s *city.Snapshot, g *city.Agent, live bool) {
	a.Fact("because", g.Reason)
	if g.Until != nil && (g.Next == nil || g.Next.At == nil) {
		a.Fact("until", a.Ahead(*g.Until))
	}
	a.Fact("next", a.Next(g.Next))
	if !live {
		a.Fact("city", "no controller runs: nothing is started or restarted until one does")
	}
	if g.Frozen {
		a.Fact("stopped", "by SIGSTOP"+contHint(g.PID))
	}
	if g.Drain != nil {
		a.Fact("drain", a.draining(g.Drain))
	}
	if len(g.Drift) > 0 {
		a.Fact("drift", "a restart is held back: "+strings.Join(g.Drift, ", "))
	}
	for i := range g.Sends {
		a.Fact(fmt.Sprintf("text %d", g.Sends[i].ID), a.sendText(&g.Sends[i]))
	}
	a.Fact("works on", g.Task)
	if id, _, _ := strings.Cut(g.AwaitsGate, " "); id != "" {
		a.Fact("awaits", "gate "+g.AwaitsGate+"; `gcity bead close "+id+"` opens it")
	}
	if g.Stuck != nil {
		a.Fact("stuck", strings.TrimPrefix(a.stuck(g.Stuck), "stuck ")+"; look at it: gcity agent attach "+g.Name)
	}
	for i := range s.Watchdogs {
		if w := &s.Watchdogs[i]; w.Watches == g.Name {
			a.Fact("watched", fmt.Sprintf("by %s: %s, heartbeat %s", w.Name, w.Word(), a.heartbeatAge(w)))
		}
	}
	if g.Mail > 0 {
		a.Fact("mail", fmt.Sprintf("%d unread", g.Mail))
	}
	a.Fact("idle", a.idle(g))
	a.Fact("needs", needs(s, g.DependsOn))
	a.Fact("needed by", strings.Join(needers(s, g.Name, g.Pool), ", "))
	if p, ok := s.Pool(g.Pool); ok && p.Name != g.Name {
		a.Fact("pool", fmt.Sprintf("%s, %s, %s", p.Name, sizes(p), p.Reason))
	}
	if g.Exit != nil {
		a.Fact("last end", a.Ending(g.Exit))
	}
	if g.Crashes > 0 {
		a.Fact("crashes", fmt.Sprintf("%d within the restart window", g.Crashes))
	}
	if g.Restarts > 0 {
		a.Fact("restarts", fmt.Sprint(g.Restarts))
	}
	if g.Session != nil {
		pid := ""
		if g.PID > 0 {
			pid = fmt.Sprintf(", pid %d", g.PID)
		}
		a.Fact("session", fmt.Sprintf("%s%s, started %s", g.Session.Name, pid, a.Clock(g.Session.Started)))
	}
	if g.Usage != nil {
		a.Fact("usage", takes(*g.Usage))
	}
	a.Fact("command", g.Command)
	if g.Dir != "" {
		a.Fact("folder", g.Dir+" (as configured)") // that of a process is settled when it starts
	}
	a.Fact("declared", declaredAt(g.Source, g.Patched))
}

// contHint says how a stopped process continues, "" where its number is not known.
func contHint(pid int) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf("; `kill -CONT %d` continues it", pid)
}

// declaredAt says where something is declared, and where that is changed.
func declaredAt(source string, patched []string) string {
	if len(patched) == 0 {
		return source
	}
	return source + ", changed at " + strings.Join(patched, " and ")
}

// draining says who told an agent to finish, and how long it has.
func (a *app) draining(d *city.DrainInfo) string {
	text := fmt.Sprintf("told to finish by %s at %s", d.By, a.Clock(d.Since))
	switch {
	case d.Acked:
		return text + "; it says that it has finished"
	case d.Deadline == nil:
		return text + "; it is waited for without end"
	}
	return text + ", to be done by " + a.Ahead(*d.Deadline)
}

// idle says what an agent's idle timeout means for it now.
func (a *app) idle(g *city.Agent) string {
	if g.IdleTimeout <= 0 {
		return ""
	}
	text := fmt.Sprintf("restarted after %s without activity", output.Exact(g.IdleTimeout))
	switch {
	case g.Session == nil:
		return text
	case g.Session.LastActivity == nil:
		return text + "; when it was active last is not known, so it is left alone"
	case g.Session.Attached:
		return text + "; not while somebody is attached"
	}
	end := g.Session.LastActivity.Add(g.IdleTimeout)
	return fmt.Sprintf("%s; the last was %s ago, so at %s", text, a.Age(*g.Session.LastActivity), a.Ahead(end))
}

// takes is what a process tree takes.
func takes(u city.Usage) string {
	text := fmt.Sprintf("cpu %s, memory %s", output.Percent(&u), output.Memory(&u))
	if u.Procs == 1 {
		return text + ", 1 process"
	}
	return text + fmt.Sprintf(", %d processes", u.Procs)
}

// need is something that an agent waits for, and how it stands.
type need struct {
	Name  string `json:"name"`
	State string `json:"state"` // an agent's, or of a pool "2/3 live"
	Up    bool   `json:"up"`
}

// dependencies tells how what an agent depends on stands. A pool is up when one member runs or none is wanted.
func dependencies(s *city.Snapshot, names []string) []need {
	out := []need{}
	for _, name := range names {
		if p, ok := s.Pool(name); ok {
			out = append(out, need{name, sizes(p), p.Size > 0 || p.Desired == 0})
		} else if g, ok := s.Agent(name); ok {
			out = append(out, need{name, string(g.State), g.State == city.Running})
		} else {
			out = append(out, need{Name: name, State: "not there"})
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

// needers lists the agents that depend on one, or on its pool.
func needers(s *city.Snapshot, name, pool string) []string {
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

// lately writes what was decided and what happened, with dates where not everything is of today.
func (a *app) lately(decided []city.Decision, past []events.Event) {
	var times []time.Time
	for _, d := range decided {
		times = append(times, d.At)
	}
	stamp := a.Stamps(times)
	if len(decided) > 0 {
		a.Sayf("\ndecided lately")
	}
	for _, d := range decided {
		a.Sayf("  %s  %-11s %s", stamp(d.At), output.SafeLine(d.What), output.SafeLine(d.Why))
	}
	if len(past) > 0 {
		a.Sayf("\nhappened lately")
		a.WriteEventLines("  ", output.InOrder(past))
	}
}
