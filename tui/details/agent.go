package details

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Agent describes an agent as the snapshot shows it, beginning with the reasons for its state.
func Agent(src *Source, d *Inspection, w int) []string {
	name := d.Name
	r := src.Agents.Find(name)
	if r == nil {
		return []string{"This agent is no longer part of the city."}
	}
	a, p := r.Agent, newPage(src)
	p.showState(r)
	if q := a.Asks; q != nil && r.State != city.Starting {
		p.Show("asks", widget.Plain(describe.Asks(q, widget.Since(q.Since, p.Now)))+" ("+
			p.KeyOf("agent.attach")+")")
	}
	if s := a.Stuck; s != nil {
		p.Show("stuck", "screen unchanged since "+widget.Clock(s.Since, p.Now)+", with "+
			widget.Plain(s.Task)+"; "+p.KeyOf("agent.attach")+" attaches")
	}
	if a.AwaitsGate != "" {
		p.Show("awaits", "gate "+widget.Plain(a.AwaitsGate))
	}
	for _, d := range p.Watchdogs.Watching(name) {
		p.Show("watched", "by "+d.Shown+p.dot()+d.Status+p.dot()+"heartbeat "+
			d.BeatAge(p.Now).Full)
	}
	p.showSends(a.Sends)
	if len(a.Drift) > 0 {
		p.ShowPlain("drift", describe.HeldBack(a.Drift))
	}
	p.ShowKnownPlain("problem", a.UnavailableReason)
	if pool := p.Pools.Find(a.Pool); pool != nil {
		p.Show("pool", pool.Shown+", "+string(pool.State(p.Now))+", "+pool.Sizes())
	}
	p.ShowKnown("working on", r.Task)
	if a.Mail > 0 {
		p.Show("mail", p.Paint(themes.Accent,
			widget.Count(a.Mail, "message")+", unread by the agent"))
	}
	p.ShowKnown("rig", rigText(src, a.Rig))
	p.ShowKnown("needs", needsText(src, a.DependsOn))
	if a.IdleTimeout > 0 {
		p.Show("idle", idleText(src, a))
	}
	p.ShowKnownPlain("about", a.Description)
	p.showLife(a, d, w)
	p.Add(panel.Decisions(src.Env, a.Decisions)...)
	return p.Lines
}

func (p *page) showLife(a *city.Agent, d *Inspection, w int) {
	p.ShowPlain("command", a.Command)
	p.ShowPlain("folder", a.Dir)
	p.Show("declared", p.Declared(a.Source, a.Patched))
	p.Show("session", sessionText(p.Source, a))
	if drawn := p.Agents.Rates.Draw(a.Name, p.Now, &p.Glyphs); drawn != "" {
		p.showChart("activity", drawn, "output in the last 10 minutes")
	}
	if u := a.Usage; u != nil {
		p.Show("uses", widget.CPU(u)+" of a CPU, "+widget.Memory(u)+" in "+
			describe.Processes(u.Procs))
	}
	p.showHour(a.Name, w-widget.FieldWidth)
	var window time.Duration
	if d.About != nil && d.About.Spec != nil {
		window = d.About.Spec.Restart.Window
	}
	p.Show("restarts", restartsText(a, window, p.dot()))
	p.Show("last exit", lastExit(p.Source, a, d))
	if a.Exit != nil && a.Exit.File != "" {
		p.Show("output in", outputFile(p.Source, a.Exit.File, w-widget.FieldWidth))
	}
}

func (p *page) showChart(label, drawn, note string) {
	p.Show(label, p.Paint(themes.Accent, drawn)+p.Paint(themes.Dim, "  "+note))
}

func (p *page) showHour(name string, w int) {
	const narrow, broad = 15, 30 // columns of a chart
	n := broad
	if w < 2*broad {
		n = narrow
	}
	c := p.Agents.Hours.Hour(name, p.Now, &p.Glyphs, n)
	hour := p.Agents.Hours.Period(p.Now, time.Hour, "last hour")
	if c.Peak != nil {
		p.showChart("cpu", c.CPU, hour+", at most "+widget.CPU(c.Peak))
		p.showChart("memory", c.Memory, hour+", at most "+widget.Memory(c.Peak))
	}
	if c.RestartCount > 0 {
		p.showChart("restarts 1h", c.Restarts,
			fmt.Sprintf("%s, %d automatic, while this room was open", hour, c.RestartCount))
	}
}

// window is the period in which crashes count towards a quarantine; 0 = unknown.
func restartsText(a *city.Agent, window time.Duration, dot string) string {
	text := fmt.Sprintf("%d automatic", a.Restarts)
	crashes := widget.Number(a.Crashes) + " crashes"
	if a.Crashes == 1 {
		crashes = "1 crash"
	}
	switch {
	case a.Crashes == 0:
	case a.State == city.Quarantined:
		text += dot + crashes + " led to the quarantine"
	case window > 0:
		text += dot + crashes + " in the last " + widget.Age(window)
	default:
		text += dot + crashes + " recently"
	}
	return text
}

func (p *page) showState(r *panel.AgentRow) {
	sign, token := panel.ConditionOf(p.Look, r)
	state := p.Paint(token, sign) + " " + widget.Lasted(r.State, p.Now.Sub(r.Since))
	if r.Condition() != r.State {
		state = p.Paint(token, sign) + " for " + widget.Since(r.ConditionSince(), p.Now) + p.dot() +
			string(r.State) + " for " + widget.Since(r.Since, p.Now)
	}
	change := r.NextChange(p.Env).Full
	if change != "" {
		state += p.dot() + change
		if !r.Until.IsZero() {
			state += " (" + widget.Clock(r.Until, p.Now) + ")"
		}
	}
	p.Show("state", state)
	a := r.Agent
	p.ShowPlain("why", describe.Reason(a))
	shown := change != "" && a.Next != nil && a.Next.At != nil && a.Next.At.Equal(r.Until)
	if next := panel.NextText(a.Next, p.Now); next != "" && !shown {
		if a.Next.At != nil {
			next += " (" + widget.Clock(*a.Next.At, p.Now) + ")"
		}
		p.Show("next", next)
	}
	if a.Drain != nil {
		p.Show("drain", drainText(p.Source, a.Drain, r.Until))
	}
}

// drainText omits the deadline if another line already shows it.
func drainText(src *Source, d *city.DrainInfo, shown time.Time) string {
	text := describe.ToldToFinish(widget.Plain(d.By), widget.Ago(d.Since, src.Now))
	switch {
	case d.Acked:
		return text + "; it has reported done"
	case d.Deadline == nil:
		return text + "; it has not reported done, and there is no deadline"
	}
	text += "; it has not reported done"
	if d.Deadline.Equal(shown) {
		return text
	}
	return text + ", the deadline is " + widget.Clock(*d.Deadline, src.Now)
}

func rigText(src *Source, name string) string {
	if r, ok := src.Snap.Rig(name); ok {
		return Rig(src, r)
	}
	return widget.Plain(name)
}

func needsText(src *Source, names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = widget.Plain(name)
		if r := src.Agents.Find(name); r != nil {
			texts[i] += " " + string(r.State)
		} else if p := src.Pools.Find(name); p != nil {
			texts[i] += " " + p.Sizes()
		}
	}
	return strings.Join(texts, ", ")
}

func idleText(src *Source, a *city.Agent) string {
	text := describe.Idle(a.IdleTimeout)
	switch {
	case a.Session == nil:
	case a.Session.Attached:
		text += describe.NotWhileAttached
	case a.Session.LastActivity != nil:
		text += "; idle for " + outputAge(src, a)
	}
	return text
}

// lastOutput returns the time of an agent's last output. a.Session.LastActivity must not be nil. The city updates it
// only once per patrol, so the pane may have received newer output.
func lastOutput(src *Source, a *city.Agent) time.Time {
	at := *a.Session.LastActivity
	if heard := src.Heard(a.Name); heard.After(at) {
		return heard
	}
	return at
}

// outputAge returns the age of an agent's last output, or "at most 20s" if only an upper limit is known.
func outputAge(src *Source, a *city.Agent) string {
	at, read, text := lastOutput(src, a), src.Snap.Patrol.Last, ""
	recent := read.Sub(at) < max(src.Snap.Patrol.Interval, time.Second)
	if recent && src.Now.Sub(read) > time.Second && src.Heard(a.Name).IsZero() {
		text = "at most "
	}
	return text + widget.Since(at, src.Now)
}

func outputText(src *Source, a *city.Agent) string {
	age := outputAge(src, a)
	if limit, ok := strings.CutPrefix(age, "at most "); ok {
		return "output within the last " + limit
	}
	return "last output " + age + " ago"
}

func sessionText(src *Source, a *city.Agent) string {
	if a.Session == nil {
		return "none"
	}
	s := "up " + widget.Since(a.Session.Started, src.Now)
	if a.PID > 0 {
		s = fmt.Sprintf("pid %d, %s", a.PID, s)
	}
	if a.Session.LastActivity != nil {
		s += ", " + outputText(src, a)
	}
	if a.Session.Viewers > 0 {
		s += ", " + widget.Count(a.Session.Viewers, "viewer")
	}
	return s + ", id " + widget.Plain(a.Session.ID+a.Session.DetailText())
}

func outputFile(src *Source, file string, w int) string {
	if full := widget.Plain(filepath.Join(src.Snap.Path, file)); widget.Width(full) <= w {
		return full
	}
	return widget.Plain(file)
}

func lastExit(src *Source, a *city.Agent, d *Inspection) string {
	if a.Exit != nil || d.About == nil || len(d.About.Crashes) == 0 {
		return Exit(src, a.Exit)
	}
	c := &d.About.Crashes[0]
	return crashText(c) + ", " + widget.Ago(c.At, src.Now)
}

func Exit(src *Source, e *city.Exit) string {
	if e == nil {
		return "none"
	}
	return panel.LastExit(e) + ", " + widget.Ago(e.At, src.Now)
}

func (p *page) showSends(sends []city.Send) {
	label := "sent"
	for i := range sends {
		s := &sends[i]
		token := themes.Good
		switch s.Stage {
		case city.Queued:
			token = themes.Warn
		case city.Typing:
			token = themes.Busy
		case city.GivenUp:
			token = themes.Bad
		}
		text := p.Paint(token, widget.Plain(s.Stage.Text())) + " for " +
			widget.Since(s.Since, p.Now)
		if s.Stage.Over() {
			stage, note := s.Stage, ""
			if stage == city.Acknowledged {
				stage, note = city.Submitted, "; "+city.OutputSince
			}
			text = p.Paint(token, widget.Plain(stage.Text())) + " " +
				widget.Ago(s.Since, p.Now) + note
		}
		if s.Why != "" {
			text += ": " + widget.Plain(s.Why)
		}
		p.Show(label, text)
		p.Show("", p.Paint(themes.Dim, panel.Quoted(s)))
		label = ""
	}
}

// Rig returns one line about a rig and its agents.
func Rig(src *Source, r *city.Rig) string {
	dot := src.Look.Between()
	text := widget.Plain(r.Name) + dot +
		fmt.Sprintf("%d of %s running", r.Running, widget.Count(r.Agents, "agent")) + dot +
		widget.Plain(r.Path)
	if r.Suspended {
		text += dot + "suspended"
	}
	if r.Problem != "" {
		text += dot + src.Look.Paint(themes.Bad, widget.Plain(r.Problem))
	}
	return text
}
