package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/events"
)

// fact writes one thing that is known, with what it is about before it; nothing if there is nothing to say.
func (p *printer) fact(label, text string) {
	if text != "" {
		p.sayf("  %s %s", p.paint(dim, fmt.Sprintf("%-9s", label)), safeLine(text))
	}
}

// factLine is fact for what others have printed: no wider than the terminal.
func (p *printer) factLine(label, text string) {
	if w := p.columns(); w > 0 {
		text = ansi.Truncate(safeLine(text), max(0, w-factIndent), "…")
	}
	p.fact(label, text)
}

// factIndent is where the text of a fact begins.
const factIndent = 12

// standing is an agent's state in a sentence.
func (a *app) standing(g *city.Agent) string {
	return fmt.Sprintf("%s is %s since %s (%s)", a.paint(bold, safeLine(g.Name)), a.paint(stateColour(g.State), string(g.State)),
		a.clock(g.Since), a.age(g.Since))
}

// agentFacts writes what is known of an agent, one fact a line.
func (a *app) agentFacts(s *city.Snapshot, g *city.Agent, live bool) {
	a.fact("because", g.Reason)
	if g.Until != nil && (g.Next == nil || g.Next.At == nil) {
		a.fact("until", a.ahead(*g.Until))
	}
	a.fact("next", a.next(g.Next))
	if !live {
		a.fact("city", "no controller runs: nothing is started or restarted until one does")
	}
	if g.Frozen {
		a.fact("stopped", "by SIGSTOP"+contHint(g.PID))
	}
	if g.Drain != nil {
		a.fact("drain", a.draining(g.Drain))
	}
	if len(g.Drift) > 0 {
		a.fact("drift", "a restart is held back: "+strings.Join(g.Drift, ", "))
	}
	for i := range g.Sends {
		a.fact(fmt.Sprintf("text %d", g.Sends[i].ID), a.sendText(&g.Sends[i]))
	}
	a.fact("works on", g.Task)
	if id, _, _ := strings.Cut(g.AwaitsGate, " "); id != "" {
		a.fact("awaits", "gate "+g.AwaitsGate+"; `gcity bead close "+id+"` opens it")
	}
	if g.Stuck != nil {
		a.fact("stuck", strings.TrimPrefix(a.stuck(g.Stuck), "stuck ")+"; look at it: gcity agent attach "+g.Name)
	}
	for i := range s.Watchdogs {
		if w := &s.Watchdogs[i]; w.Watches == g.Name {
			a.fact("watched", fmt.Sprintf("by %s: %s, heartbeat %s", w.Name, w.Word(), a.heartbeatAge(w)))
		}
	}
	if g.Mail > 0 {
		a.fact("mail", fmt.Sprintf("%d unread", g.Mail))
	}
	a.fact("idle", a.idle(g))
	a.fact("needs", needs(s, g.DependsOn))
	a.fact("needed by", strings.Join(needers(s, g.Name, g.Pool), ", "))
	if p, ok := s.Pool(g.Pool); ok && p.Name != g.Name {
		a.fact("pool", fmt.Sprintf("%s, %s, %s", p.Name, sizes(p), p.Reason))
	}
	if g.Exit != nil {
		a.fact("last end", a.ending(g.Exit))
	}
	if g.Crashes > 0 {
		a.fact("crashes", fmt.Sprintf("%d within the restart window", g.Crashes))
	}
	if g.Restarts > 0 {
		a.fact("restarts", fmt.Sprint(g.Restarts))
	}
	if g.Session != nil {
		pid := ""
		if g.PID > 0 {
			pid = fmt.Sprintf(", pid %d", g.PID)
		}
		a.fact("session", fmt.Sprintf("%s%s, started %s", g.Session.Name, pid, a.clock(g.Session.Started)))
	}
	if g.Usage != nil {
		a.fact("usage", takes(*g.Usage))
	}
	a.fact("command", g.Command)
	if g.Dir != "" {
		a.fact("folder", g.Dir+" (as configured)") // that of a process is settled when it starts
	}
	a.fact("declared", declaredAt(g.Source, g.Patched))
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

// ahead is a moment to come and how long it is until then.
func (p *printer) ahead(t time.Time) string {
	return fmt.Sprintf("%s (in %s)", p.clock(t), span(t.Sub(p.now())))
}

// next is what happens next if nothing else does.
func (p *printer) next(n *city.Next) string {
	switch {
	case n == nil:
		return ""
	case n.At == nil:
		return n.What
	}
	return fmt.Sprintf("in %s, at %s: %s", span(n.At.Sub(p.now())), p.clock(*n.At), n.What)
}

// draining says who told an agent to finish, and how long it has.
func (a *app) draining(d *city.DrainInfo) string {
	text := fmt.Sprintf("told to finish by %s at %s", d.By, a.clock(d.Since))
	switch {
	case d.Acked:
		return text + "; it says that it has finished"
	case d.Deadline == nil:
		return text + "; it is waited for without end"
	}
	return text + ", to be done by " + a.ahead(*d.Deadline)
}

// idle says what an agent's idle timeout means for it now.
func (a *app) idle(g *city.Agent) string {
	if g.IdleTimeout <= 0 {
		return ""
	}
	text := fmt.Sprintf("restarted after %s without activity", exact(g.IdleTimeout))
	switch {
	case g.Session == nil:
		return text
	case g.Session.LastActivity == nil:
		return text + "; when it was active last is not known, so it is left alone"
	case g.Session.Attached:
		return text + "; not while somebody is attached"
	}
	end := g.Session.LastActivity.Add(g.IdleTimeout)
	return fmt.Sprintf("%s; the last was %s ago, so at %s", text, a.age(*g.Session.LastActivity), a.ahead(end))
}

// takes is what a process tree takes.
func takes(u city.Usage) string {
	text := fmt.Sprintf("cpu %s, memory %s", percent(&u), memory(&u))
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

func exitText(code int, signal string) string {
	if signal != "" {
		return signal
	}
	if code < 0 {
		return "exit code unknown"
	}
	return fmt.Sprintf("exit %d", code)
}

func (p *printer) ending(e *city.Exit) string {
	how := exitText(e.Code, e.Signal) + fmt.Sprintf(" at %s after %s", p.clock(e.At), e.Uptime.Round(time.Second/10))
	if e.File != "" {
		how += ", its output is kept in " + e.File
	}
	return how
}

// lately writes what was decided and what happened, with dates where not everything is of today.
func (a *app) lately(decided []city.Decision, past []events.Event) {
	var times []time.Time
	for _, d := range decided {
		times = append(times, d.At)
	}
	stamp := a.stamps(times)
	if len(decided) > 0 {
		a.sayf("\ndecided lately")
	}
	for _, d := range decided {
		a.sayf("  %s  %-11s %s", stamp(d.At), safeLine(d.What), safeLine(d.Why))
	}
	if len(past) > 0 {
		a.sayf("\nhappened lately")
		a.writeEventLines("  ", inOrder(past))
	}
}
