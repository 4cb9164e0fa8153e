package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/config/edit"
	"gcity/config/files"
	"gcity/controller"
	"gcity/describe"
	"gcity/internal/redact"
	"gcity/pool"
	"gcity/session"
)

func planCommand(e *env.Env) *cobra.Command {
	return env.WithSource(e, &cobra.Command{
		Use: "plan [FILE]", Short: "Show what an edit of the configuration would change",
		Long: `plan shows what the configuration on disk would change now, without applying it.
While a controller is running, it also lists pools, rigs, watchdogs and restart policies
that change.

A running controller applies city.toml as soon as you save it. To see the effect of an
edit before that, edit a copy: with FILE, plan uses FILE instead of city.toml. FILE can
be - for the standard input.

plan checks every planned start as the controller does: the folder, the program, the
session provider and the environment. The exit code is 3 if any start would fail.`,
		Example: "  cp city.toml /tmp/next.toml && vi /tmp/next.toml\n  gcity plan /tmp/next.toml",
		Args:    env.Between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return plan(cmd.Context(), e, strings.Join(args, ""))
		},
	})
}

// plannedConfig reads the configuration of a plan. If file is "", it is the one on disk. Otherwise file replaces
// city.toml, and "-" is the standard input.
func plannedConfig(e *env.Env, dir, file string, running *city.Snapshot) (*config.City, error) {
	var data []byte
	var err error
	switch file {
	case "":
		return e.LoadAt(dir, running)
	case "-":
		data, err = io.ReadAll(e.In)
	default:
		data, err = files.ReadSource(file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the edited copy of city.toml: %w", err)
	}
	return e.ParseAt(dir, data, running)
}

// change is the planned effect on one agent.
type change struct {
	Agent string `json:"agent"`
	Pool  string `json:"pool,omitempty"` // the pool that the agent is a member of
	// "start", "stop", "drain", "restart", "fail", "wait", "remove", "none"
	Change string `json:"change"`
	Reason string `json:"reason,omitempty"`
	// fields that differ from those with which the session was started
	Fields []string `json:"fields,omitempty"`
}

type planShape struct {
	output.List[change]
	Revision string `json:"revision"` // revision of the configuration on disk
	// revision in force in the running controller, if there is one
	InForce string `json:"in_force,omitempty"`
	// set if the controller would hold the configuration until it is confirmed
	Held *heldShape `json:"held,omitempty"`
	// providers that could not be listed; their sessions are not in the plan
	Unknown []string `json:"unknown,omitempty"`
	// settings that change without a start or stop, if a controller runs another revision
	Settings []setting `json:"settings,omitempty"`
	Warnings []string  `json:"warnings,omitempty"` // about the configuration file and automations
	from     string    // where the configuration was read: "on disk"
}

// heldShape describes a configuration that takes effect only after a user has confirmed it.
type heldShape struct {
	Removes []string   `json:"removes"`
	Running int        `json:"running"`
	Since   *time.Time `json:"since,omitempty"` // set if the controller already holds it
}

// planInput is the input to a plan: what should run, and what is running.
type planInput struct {
	wants     []agent.Want
	pools     []agent.Pool
	overrides map[string]int
	sessions  []session.Status
	running   *city.Snapshot // nil if no controller is running
	inForce   bool           // the configuration on disk is the one in force in the controller
	clock     func(time.Time) string
	unknown   map[string]error // providers that cannot list their sessions, with the error
	unable    func(provider string) (why string)
	// unfit returns the reason why an agent cannot start, or "" if none is known
	unfit func(w *agent.Want) (why string)
}

func plan(ctx context.Context, e *env.Env, file string) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	l, err := e.Reach(ctx, dir)
	if err != nil {
		return err
	}
	defer l.Close()
	var running *city.Snapshot
	if l.Live {
		if running, err = l.Snapshot(ctx); err != nil {
			return err
		}
	}
	c, err := plannedConfig(e, dir, file, running)
	if err != nil {
		return err
	}
	out, err := planOf(ctx, e, c, running)
	if err != nil {
		return err
	}
	out.from = map[string]string{"": "on disk", "-": "in the input"}[file]
	if out.from == "" {
		out.from = "in " + output.SafeLine(file)
	}
	if running != nil && out.InForce != out.Revision {
		out.Settings = changedSettings(ctx, l, c, running)
	}
	if e.JSON {
		err = e.WriteJSON(out)
	} else {
		err = printPlan(e, out)
	}
	if err == nil && out.fails() > 0 {
		return exit.Quietly(exit.CodeCannotStart)
	}
	return err
}

// fails returns how many planned starts cannot succeed.
func (p *planShape) fails() (n int) {
	for i := range p.Items {
		if p.Items[i].Change == "fail" {
			n++
		}
	}
	return n
}

// planOf returns what a configuration would change now. running is the state of the running controller, or nil.
func planOf(ctx context.Context, e *env.Env, c *config.City, running *city.Snapshot) (planShape,
	error) {
	dir := c.Path
	out := planShape{Revision: folder.Short(c.Revision)}
	grant := folder.Trusted(dir, c)
	provider, closeSessions, err := sessions.OpenSessions(sessions.SessionOptions{Dir: dir,
		Grant: grant, Observe: true, Logger: folder.QuietLogger()})
	if err != nil {
		return out, err
	}
	defer closeSessions()
	v := planInput{wants: folder.PlanOf(c, dir, running), pools: folder.PoolPlan(c, dir),
		clock: e.Clock, running: running, unable: sessions.Vetter(ctx, provider, e.SayVerySlow)}
	tested := v.unable
	// a warning reports that the city is not trusted, and its programs are not run to test them
	if grant.Err() != nil {
		tested = func(string) string { return "" }
	}
	v.unfit = sessions.Preflight(ctx, provider, v.wants, tested)
	v.sessions, err = provider.List(ctx)
	v.sessions, err = session.Await(ctx, v.sessions, err)
	if partial, partly := errors.AsType[*session.PartialError](err); partly {
		v.unknown, out.Unknown = partial.Unknown, unknownLines(partial)
	} else if err != nil {
		return out, fmt.Errorf("cannot list the sessions of %s: %w", dir, err)
	}
	if v.overrides, err = edit.Overrides(dir); err != nil {
		return out, err
	}
	if running != nil {
		out.InForce = v.running.Config.Revision
		if c.Workspace.Name != v.running.Name {
			return out, &exit.Failure{Code: exit.CodeConfig,
				Err: fmt.Errorf("workspace.name cannot change while the city is running: it is %q "+
					"in the file and %q in the running city; stop the city first", c.Workspace.Name,
					v.running.Name)}
		}
		if v.inForce = out.InForce == out.Revision; !v.inForce {
			out.Held = v.held(out.Revision)
		}
	}
	out.List = output.ListOf(changes(v))
	out.Warnings = append(folder.ProblemLines(c.Warnings), folder.AutomationProblems(c, e.Now())...)
	out.Warnings = append(out.Warnings, folder.FormulaProblems(ctx, c)...)
	if text := controller.FewFiles(host.OpenFiles(running), len(v.wants)); text != "" {
		out.Warnings = append(out.Warnings, text)
	}
	return out, nil
}

// held returns the removals if the running controller would hold this configuration because it removes most of the
// running agents. Otherwise it returns nil.
func (v planInput) held(revision string) *heldShape {
	wanted := map[string]bool{}
	for _, w := range v.wants {
		wanted[w.Name] = true
	}
	out := heldShape{Removes: []string{}}
	for i := range v.running.Agents {
		g := &v.running.Agents[i]
		// a session that the configuration does not define cannot be removed by an edit
		if !g.Running || g.Source == "" {
			continue
		}
		out.Running++
		if !wanted[g.Name] {
			out.Removes = append(out.Removes, g.Name)
		}
	}
	if 2*len(out.Removes) <= out.Running {
		return nil
	}
	if h := v.running.Config.Held; h != nil && h.Revision == revision {
		out.Since = &h.Since
	}
	return &out
}

// changes compares what should run with what is running.
func changes(v planInput) []change {
	alive := map[string]session.Status{}
	for _, st := range v.sessions {
		if st.Alive {
			alive[st.Agent] = st
		}
	}
	sizes := v.sizes(alive)
	stays := map[string]bool{}
	for name, size := range sizes {
		maps.Copy(stays, folder.SelectMembers(folder.Members(v.wants, name), size,
			func(name string) pool.Candidate { return v.candidate(name, alive) }))
	}
	var out []change
	for _, w := range v.wants {
		st, lives := alive[w.Name]
		delete(alive, w.Name)
		size, ofPool := sizes[w.Pool]
		surplus := ofPool && !stays[w.Name]
		switch {
		case surplus && lives && !w.Suspended.On():
			out = append(out, change{Agent: w.Name, Pool: w.Pool, Change: "drain",
				Reason: fmt.Sprintf("pool %s scales to %d", w.Pool, size)})
		case !surplus || lives:
			out = append(out, v.change(w, st, lives))
		}
	}
	v.order(out, sizes)
	for name := range alive {
		c := change{Agent: name, Change: "stop", Reason: "not in the configuration"}
		if p := v.formerPool(name); p != "" {
			c.Pool, c.Change, c.Reason = p, "drain", "no longer a member of pool "+p
		}
		out = append(out, c)
	}
	out = append(out, v.removed(out)...)
	slices.SortFunc(out, func(x, y change) int { return city.CompareNames(x.Agent, y.Agent) })
	return out
}

// removed returns the agents without a session that the running controller's configuration declares and the new one
// does not.
func (v planInput) removed(planned []change) (out []change) {
	if v.running == nil {
		return nil
	}
	for i := range v.running.Agents {
		g := &v.running.Agents[i]
		known := func(c change) bool { return c.Agent == g.Name }
		wanted := func(w agent.Want) bool { return w.Name == g.Name }
		if g.Source != "" && !g.Running && !slices.ContainsFunc(planned, known) &&
			!slices.ContainsFunc(v.wants, wanted) {
			out = append(out, change{Agent: g.Name, Pool: g.Pool, Change: "remove",
				Reason: "not in the configuration; it is not running"})
		}
	}
	return out
}

// candidate returns the pool candidate for a member. Without a controller it is not known which members are busy, so
// candidate sets only Alive and Leaving.
func (v planInput) candidate(name string, alive map[string]session.Status) pool.Candidate {
	st, lives := alive[name]
	s := pool.Candidate{Alive: lives && !st.Drain.Acked, Leaving: st.Drain.On()}
	if v.running != nil {
		if g, ok := v.running.Agent(name); ok {
			s.In, s.Working = g.Drain == nil || g.Drain.By != "pool", g.Task != ""
		}
	}
	return s
}

// formerPool returns the pool of an agent that was removed from the configuration, or "" if it was not in a pool.
func (v planInput) formerPool(name string) string {
	if v.running != nil {
		if g, ok := v.running.Agent(name); ok && g.Pool != "" {
			return g.Pool
		}
	}
	for _, p := range v.pools {
		if (pool.Spec{Name: p.Name, Max: math.MaxInt}).Index(name) > 0 {
			return p.Name
		}
	}
	return ""
}

// sizes returns how many members each pool would have: the number set by hand, otherwise the controller's current
// target, otherwise the number of members that are alive.
func (v planInput) sizes(alive map[string]session.Status) map[string]int {
	out := map[string]int{}
	for _, p := range v.pools {
		n, byHand := v.overrides[p.Name]
		if v.running != nil && !byHand {
			if q, ok := v.running.Pool(p.Name); ok {
				n = q.Desired
			}
		} else if !byHand {
			for name, st := range alive {
				if p.Index(name) > 0 && !st.Drain.On() {
					n++
				}
			}
		}
		out[p.Name] = p.Size(n)
	}
	return out
}

// change returns what would happen to one agent in the configuration.
func (v planInput) change(w agent.Want, st session.Status, lives bool) change {
	c := change{Agent: w.Name, Pool: w.Pool, Change: "none"}
	drift := st.Drift(&w.Spec)
	hidden := ""
	if !lives {
		hidden = v.unlistedReason(w.Name)
	}
	switch {
	case w.Suspended.On() && lives:
		c.Change, c.Reason = "stop", w.Suspended.String()
	case hidden != "":
		c.Change, c.Reason = "wait", hidden
	case w.Suspended.On():
		c.Reason = w.Suspended.String()
	case lives && len(drift) > 0:
		c.Change, c.Reason, c.Fields = "restart", strings.Join(drift, ", "), drift
		if why := v.cannotRestart(w, st); st.Attached > 0 {
			c.Reason += "; held back while a user is attached"
		} else if why != "" {
			c.Change, c.Reason = "wait", c.Reason+"; held back because a restart would fail: "+why
		}
	case w.Problem != "" && !lives:
		c.Change, c.Reason = "fail", w.Problem
	case lives:
		c.Reason = "runs as configured"
	default:
		c.Change, c.Reason = v.planStart(w)
	}
	return v.checked(w, c)
}

// checked changes a planned start that cannot succeed to a failure.
func (v planInput) checked(w agent.Want, c change) change {
	again := c.Change == "restart"
	if !again && c.Change != "start" && !v.retries(w, c) || v.unfit == nil {
		return c
	}
	why := v.unfit(&w)
	switch {
	case why == "":
	case again:
		c.Change, c.Reason = "fail", c.Reason+"; it cannot start again: "+why
	default:
		c.Change, c.Reason = "fail", why
	}
	return c
}

// retries reports whether the controller will start a waiting agent on its own, or is starting it now.
func (v planInput) retries(w agent.Want, c change) bool {
	if c.Change != "wait" || v.running == nil {
		return false
	}
	g, ok := v.running.Agent(w.Name)
	return ok && !g.Running &&
		(g.State == city.Failed || g.State == city.Backoff || g.State == city.Starting)
}

// planStart returns what would happen to an agent without a session. It starts, unless the running controller has a
// reason not to start it. A change to the agent's definition, or a resume, removes that reason.
func (v planInput) planStart(w agent.Want) (change, why string) {
	if w.TriageOf != "" {
		return "none", "triage agent of watchdog " + w.TriageOf + "; starts only for its checks"
	}
	var g *city.Agent
	if v.running != nil {
		g, _ = v.running.Agent(w.Name)
	}
	if g == nil {
		return "start", "not running"
	}
	edit := ""
	switch {
	case g.Declared == folder.Short(w.Spec.Fingerprint.Sum) || g.Declared == "":
	case g.Command != redact.Text(w.Spec.Command):
		edit = "command changed"
	default:
		edit = "configuration changed"
	}
	switch {
	case g.Suspended:
		return "start", "no longer suspended"
	case edit != "" && g.State == city.Starting:
		return "restart", edit + "; it is currently starting"
	case edit != "":
		return "start", edit + editEffect(g)
	case g.State == city.Failed && g.Until == nil && !g.Available && !v.inForce:
		return "start", "the problem that prevented its start is gone"
	}
	switch g.State {
	case city.Quarantined, city.Backoff, city.Exited, city.Failed, city.Starting:
		why := string(g.State) + ": " + g.Reason
		if g.Until != nil {
			why += ", until " + v.clock(*g.Until)
		}
		return "wait", why
	}
	return "start", "not running"
}

// editEffect returns a clause that says how a changed definition affects an agent that is not running.
func editEffect(g *city.Agent) string {
	switch {
	case g.State == city.Quarantined:
		return "; its quarantine ends"
	case g.State == city.Exited:
		return "; it starts again"
	case g.Until != nil:
		return "; it starts without waiting any longer"
	}
	return ""
}

func printPlan(e *env.Env, p planShape) error {
	n := len(p.Settings)
	rows := make([][]output.Cell, 0, len(p.Items))
	for _, c := range p.Items {
		color := output.Dim
		switch c.Change {
		case "start":
			color = output.Green
		case "restart", "wait", "drain":
			color = output.Yellow
		case "stop", "fail", "remove":
			color = output.Red
		}
		if c.Change != "none" && c.Change != "wait" {
			n++
		}
		rows = append(rows, []output.Cell{output.Tinted(c.Change, color),
			output.Tinted(c.Agent, output.Bold), output.Plain(c.Reason)})
	}
	if len(rows) > 0 {
		if err := e.Table(e.Out, e.Columns(), []string{"CHANGE", "AGENT", "WHY"},
			rows); err != nil {
			return err
		}
		e.Sayf("")
	}
	if err := printSettings(e, p.Settings); err != nil {
		return err
	}
	if h := p.Held; h != nil {
		would := "would be held"
		if h.Since != nil {
			would = "has been held since " + e.Clock(*h.Since)
		}
		e.Sayf("%s %s: %s; `gcity reload --confirm` applies it",
			e.Paint(output.Yellow, "!"), would,
			output.SafeLine(output.RemovalText(h.Removes, h.Running)))
	}
	for _, u := range p.Unknown {
		e.Sayf("%s %s", e.Paint(output.Yellow, "!"), output.SafeLine(u))
	}
	for _, w := range p.Warnings {
		e.Sayf("%s %s", e.Paint(output.Yellow, "!"), output.SafeLine(w))
	}
	counts := describe.Count(n, "change")
	if fails := p.fails(); fails > 0 {
		counts = fmt.Sprintf("%s, of which %d cannot start", counts, fails)
	}
	switch {
	case p.InForce != "" && p.InForce == p.Revision:
		e.Sayf("%s; configuration %s is in force", counts, p.Revision)
	case p.InForce != "":
		e.Sayf("%s; configuration %s %s, %s in force", counts, p.Revision, p.from, p.InForce)
	default:
		e.Sayf("%s; configuration %s, no controller is running", counts, p.Revision)
	}
	return nil
}
