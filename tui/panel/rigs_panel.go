package panel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Rigs is the panel that lists the city's rigs.
type Rigs struct {
	Table[*RigRow]
	agents *Agents
}

func newRigs(all *Agents) *Rigs {
	g := &Rigs{agents: all}
	g.Table = NewTable(Definition[*RigRow]{
		About: About{ID: IDRigs, Title: "Rigs", Hotkey: "7", Noun: "rig",
			Zone: keymap.InRigs, Kind: KindRig,
			Opens: "rig.details", Details: "rig.details", Nouns: []string{"rig"},
			Optional: true, Explains: true, InSlot: true, Described: true},
		Rows: func(e *Env) []*RigRow {
			rows := make([]RigRow, len(e.Snap.Rigs))
			for i := range rows {
				rows[i] = newRigRow(e.Snap, &e.Snap.Rigs[i], all.Rows, e.Now)
			}
			return widget.Pointers(rows)
		},
		Orders:  rigSorts,
		Matches: (*RigRow).matches,
		Needs:   func(r *RigRow, _ time.Time) bool { return r.Attention() },
		Columns: rigColumns,
		Issues:  g.issues,
		Help:    rigHelp,
		Rig:     func(r *RigRow) string { return r.Name },
		Called:  func(r *RigRow) string { return "rig " + r.Shown },
		Copies: func(r *RigRow) []Copied {
			return []Copied{{"name", r.Name}, {"path", r.Path}, {"prefix", r.Prefix},
				{"where it is declared", r.Source}}
		},
		Summary: g.summary,
		Actions: g.actions,
	})
	return g
}

func (g *Rigs) issues(*Env) (text string, alert bool) {
	switch n := len(g.Where((*RigRow).Attention)); n {
	case 0:
		return "", false
	case 1:
		return "1 needs attention", true
	default:
		return fmt.Sprintf("%d need attention", n), true
	}
}

func (g *Rigs) actions() []Action {
	ask := func(build func([]*RigRow) Request) func(*Env) []Request {
		return func(*Env) []Request { return []Request{{Rigs: g.Targets(), Build: build}} }
	}
	return []Action{
		{Action: Key{ID: "rig.details", Key: keymap.Bind("show details of the rig: folder, "+
			"prefix, work, its agents", "enter"), Short: "details", Run: g.show}},
		{Writes: true, Action: Key{ID: "rig.toggle",
			Key:   keymap.Bind("suspend the rig and its agents, or resume it", "s"),
			Short: "suspend", Risk: keymap.Confirmed, Run: ask(g.toggle)}},
		{Writes: true, Action: Key{ID: "rig.restart",
			Key: keymap.Bind("restart all agents in the rig", "r"), Short: "restart",
			Risk: keymap.Confirmed, Why: g.whyNoRestart, Run: ask(g.restart)}},
		{Action: Key{ID: "rig.agents", Key: keymap.Bind("show only the rig's agents", "."),
			Short: "agents", Run: func(*Env) []Request {
				return []Request{{GoTo: IDAgents, Filter: "rig:" + g.Current().Name}}
			}}},
	}
}

// Suspended reports whether all target rigs are suspended.
func (g *Rigs) Suspended() bool {
	return !slices.ContainsFunc(g.Targets(), func(r *RigRow) bool {
		return !r.Suspended
	})
}

// Resumable reports whether there are target rigs and all of them are suspended.
func (g *Rigs) Resumable() bool { return len(g.Targets()) > 0 && g.Suspended() }

func (g *Rigs) toggle(rows []*RigRow) Request {
	var on []*RigRow
	var suspend, resume []city.Command
	running := 0
	for _, r := range rows {
		resume = append(resume, city.ResumeRig{Rig: r.Name})
		if !r.Suspended {
			on = append(on, r)
			suspend = append(suspend, city.SuspendRig{Rig: r.Name})
			running += r.Running
		}
	}
	if len(on) == 0 {
		return Request{Prompt: "Resume " + g.Names(rows) + "?", Yes: "resume", Doing: "resuming",
			What: g.Names(rows), Commands: resume}
	}
	what, counts := g.Names(on), "running agents"
	if running < len(on) {
		counts = "rigs"
	}
	in, until := "the rig", "the rig is resumed"
	if len(on) > 1 {
		in, until = "the rigs", "they are resumed"
	}
	body := "No session is running in " + in + ", and none will start"
	if running > 0 {
		body = describe.SessionsStop(running) + ", and none will start"
	}
	return Request{Prompt: "Suspend " + what + "?", Yes: "suspend", Doing: "suspending",
		What: what, Commands: suspend, Count: max(len(on), running), Counts: counts,
		Targets: rigLines(on), Body: []string{body + " until " + until + ".",
			"The suspension will be stored in the configuration."}}
}

func rigLines(rows []*RigRow) []string {
	if len(rows) < 2 {
		return nil
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Shown
	}
	return []string{strings.Join(names, ", ")}
}

func (g *Rigs) members(rigs ...*RigRow) []*AgentRow {
	return g.agents.sorted(func(a *AgentRow) bool {
		return slices.ContainsFunc(rigs, func(r *RigRow) bool { return a.Rig == r.Name })
	})
}

func (r *AgentRow) paused() bool {
	return r.State == city.Suspended || r.State == city.Draining || r.State == city.Stopping
}

func (g *Rigs) restartable(rigs []*RigRow) []*AgentRow {
	return slices.DeleteFunc(g.members(rigs...), func(a *AgentRow) bool {
		return a.paused() || a.Refusal.NoRestart != ""
	})
}

func (g *Rigs) whyNoRestart(*Env) string {
	switch {
	case len(g.restartable(g.Targets())) > 0:
		return ""
	case g.Current().Suspended:
		return g.Called() + " is suspended"
	case g.Current().State == rigSuspended:
		return "the city is suspended"
	}
	for _, a := range g.members(g.Targets()...) {
		if why := a.Refusal.NoRestart; why != "" && !a.paused() {
			return widget.Plain(why)
		}
	}
	return "no agent in " + g.Called() + " can be restarted"
}

func (g *Rigs) restart(rigs []*RigRow) Request {
	rows, what := g.restartable(rigs), g.Names(rigs)
	skipped := 0
	var refused []string
	for _, a := range g.members(rigs...) {
		switch {
		case a.paused():
			skipped++
		case a.Refusal.NoRestart != "":
			refused = append(refused, widget.Plain(a.Refusal.NoRestart))
		}
	}
	commands := make([]city.Command, len(rows))
	for i, a := range rows {
		commands[i] = city.Restart{Agent: a.Name}
	}
	body := []string{widget.Count(len(rows), "agent") + ": each session will end, and a new one " +
		"will start. This does not count as a crash."}
	if skipped > 0 {
		body = append(body,
			"Not restarted: "+widget.Count(skipped, "suspended or draining agent")+".")
	}
	if more := len(refused) - 2; more > 0 {
		refused = append(refused[:2], "and "+widget.Count(more, "other agent"))
	}
	if len(refused) > 0 {
		body = append(body, "Not restarted: "+strings.Join(refused, "; ")+".")
	}
	return Request{Prompt: "Restart " + what + "?", Yes: "restart", Doing: "restarting",
		What: what, Commands: commands, Count: len(rows), Counts: "agents",
		Targets: rigLines(rigs), Body: body}
}

func (g *Rigs) show(*Env) []Request {
	name := g.Current().Name
	return []Request{{Title: "rig " + g.Current().Shown, Lines: func(e *Env, w int) []string {
		r := g.Find(name)
		if r == nil {
			return []string{"This rig is no longer part of the city."}
		}
		return g.details(e, r)
	}}}
}

func (g *Rigs) details(e *Env, r *RigRow) []string {
	sign, token := rigSign(e.Look, r.State)
	p := widget.Page{Styles: e.Look}
	p.Show("state", p.Paint(token, sign+" "+string(r.State)))
	p.Show("path", r.Path)
	if r.Problem != "" {
		p.Show("problem", p.Paint(themes.Bad, r.Problem))
	}
	p.Show("prefix", r.Prefix+" (for bead IDs)")
	p.Show("agents", r.AgentsText())
	p.Show("work", r.WorkText())
	p.Show("declared", r.Source)
	p.Heading("Agents")
	p.Add(AgentLines(e, g.members(r))...)
	return p.Lines
}

// AgentLines returns one line per agent.
func AgentLines(e *Env, rows []*AgentRow) []string {
	if len(rows) == 0 {
		return []string{e.Look.Paint(themes.Dim, "None.")}
	}
	longest := 0
	for _, r := range rows {
		longest = max(longest, widget.Width(r.Shown))
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		sign, token := AgentSign(e.Look, r.State)
		text := r.Why
		if ends := r.NextChange(e).Full; ends != "" {
			text += e.Look.Between() + ends
		}
		lines[i] = e.Look.Paint(token, widget.Fit(sign+" "+string(r.State), StateWidth+2, "")) +
			"  " + widget.Fit(r.Shown, longest, "") + "  " +
			widget.FitRight(widget.Since(r.Since, e.Now), 4, "") + "  " + text
	}
	return lines
}

func rigSign(l *widget.Styles, s rigState) (string, themes.Token) {
	switch s {
	case rigBroken:
		return l.Glyphs.Failed, themes.Bad
	case rigTroubled:
		return l.Glyphs.Alert, themes.Warn
	case rigStarting:
		return l.Glyphs.Starting, themes.Busy
	case rigIdle:
		return l.Glyphs.Exited, themes.Off
	case rigSuspended:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Running, themes.Good
}

func (r *RigRow) runText() string { return fmt.Sprintf("%d/%d", r.Running, r.Agents) }

func (r *RigRow) workCell() string {
	if r.Work == nil {
		return "-"
	}
	return strconv.Itoa(r.unfinished())
}

func (r *RigRow) why() widget.Reason {
	switch r.State {
	case rigBroken:
		return widget.Reason{Text: r.Problem, Token: themes.Bad}
	case rigTroubled:
		return widget.Reason{Text: r.AgentsText(), Token: themes.Warn}
	case rigStarting, rigRunning:
		return widget.Reason{Text: r.AgentsText(), Token: themes.Text}
	}
	return widget.Reason{Text: r.AgentsText(), Token: themes.Dim}
}

func rigColumns(e *Env, rows []*RigRow, w int) []Column[*RigRow] {
	state, name, run, work, prefix, path, gap := 11, 6, 5, 4, 6, 0, 2
	if w < 60 {
		gap, prefix = 1, 0
	}
	longest, longestPath := 0, 0
	for _, r := range rows {
		name = max(name, widget.Width(r.Shown))
		run, work = max(run, len(r.runText())), max(work, len(r.workCell()))
		if prefix > 0 {
			prefix = max(prefix, widget.Width(r.Prefix))
		}
		longest = max(longest, widget.Width(r.why().Text))
		longestPath = max(longestPath, widget.Width(r.Path))
	}
	name = min(name, max(8, min(28, w/4)))
	rest := w - 4 - state - gap - name - gap - run - gap - work - gap
	if prefix = min(prefix, 10); prefix > 0 {
		rest -= prefix + gap
	}
	agents := rest
	// constant, so that the path column does not come and go as agents change state
	const least = 25 // for "1 quarantined, 2 running"
	if most := rest - gap - min(longestPath, 12); longestPath > 0 && most >= least {
		agents = min(most, max(least, min(longest, max(34, rest-gap-longestPath))))
		path = rest - agents - gap
	}
	return Spaced(gap,
		Column[*RigRow]{Head: "state", W: state, Text: func(r *RigRow) (string, themes.Token) {
			sign, token := rigSign(e.Look, r.State)
			return sign + " " + string(r.State), token
		}},
		nameColumn(name, func(r *RigRow) string { return r.Shown }),
		textColumn("run", run, themes.Text, (*RigRow).runText).right(),
		textColumn("work", work, themes.Text, (*RigRow).workCell).right(),
		textColumn("prefix", prefix, themes.Dim, func(r *RigRow) string { return r.Prefix }),
		reasonColumn("agents", agents, (*RigRow).why),
		textColumn("path", path, themes.Dim, func(r *RigRow) string { return r.Path }))
}

func rigHelp(e *Env, w int) []string {
	return e.Look.Notes(w, "No rigs yet. A rig is a project folder with its own agents and work. "+
		"Add one with a command:", "", "    gcity rig add FOLDER")
}

func (g *Rigs) summary(e *Env, r *RigRow, w int) []string {
	return description(e, w, "rig "+r.Shown, r.Source, g.details(e, r))
}
