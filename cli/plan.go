package cli

import (
	"context"
	"errors"
	"fmt"
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
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/describe"
	"gcity/session"
)

func planCommand(e *env.Env) *cobra.Command {
	return env.WithSource(e, &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Show the effect of configuration changes before they are applied",
		Long: `plan shows what the configuration on disk would change now, without applying it.
While a controller is running, it also lists pools, rigs, watchdogs and restart policies
that would change.

A running controller applies city.toml as soon as you save it. To see the effect of an
edit before that, edit a copy: with FILE, plan uses FILE instead of city.toml. FILE can
be - for the standard input.

plan checks every planned start as the controller does: the folder, the program, the
session provider, the environment and the limit on open files. The exit code is 3 if
any start would fail, and 78 if the city is not trusted and no controller is running.`,
		Example: "  cp city.toml /tmp/next.toml && vi /tmp/next.toml\n  gcity plan /tmp/next.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			return plan(cmd.Context(), e, strings.Join(args, ""))
		},
	})
}

// plannedConfig reads city.toml if file is "", and standard input if file is "-".
func plannedConfig(e *env.Env, dir, file string, running *city.Snapshot) (*config.City, error) {
	var data []byte
	var err error
	switch file {
	case "":
		return e.LoadAt(dir, running)
	case "-":
		data, err = files.ReadAll(e.In)
	default:
		data, err = files.ReadSource(file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the edited copy of city.toml: %w", err)
	}
	c, err := e.ParseAt(dir, data, running)
	return nameFile(c, err, file)
}

// nameFile replaces city.toml with file in the positions of warnings and errors.
func nameFile(c *config.City, err error, file string) (*config.City, error) {
	if file == "-" {
		file = "standard input"
	}
	places := strings.NewReplacer(" "+config.FileName+":", " "+file+":", "("+config.FileName+":",
		"("+file+":")
	name := func(problems []config.Problem) []config.Problem {
		problems = slices.Clone(problems)
		for i := range problems {
			p := &problems[i]
			if p.File == config.FileName {
				p.File = file
			}
			p.Message = places.Replace(p.Message)
		}
		return problems
	}
	if invalid, ok := errors.AsType[*config.Error](err); ok {
		named := &config.Error{Path: invalid.Path, Problems: name(invalid.Problems)}
		return nil, exit.Errorf(exit.CodeConfig, "the configuration with %s as %s is invalid "+
			"(%s):\n%w", file, config.FileName, describe.Count(len(named.Problems), "error"), named)
	}
	if err == nil {
		c.Warnings = name(c.Warnings)
	}
	return c, err
}

type change struct {
	Agent string `json:"agent"`
	Pool  string `json:"pool,omitempty"`
	// "start", "stop", "drain", "restart", "fail", "wait", "remove", "none"
	Change string   `json:"change"`
	Reason string   `json:"reason,omitempty"`
	Fields []string `json:"fields,omitempty"`
}

type planShape struct {
	output.List[change]
	Revision string     `json:"revision"`
	InForce  string     `json:"in_force,omitempty"` // the running controller's revision; "" = none
	Held     *heldShape `json:"held,omitempty"`
	Unknown  []string   `json:"unknown,omitempty"` // providers that could not list their sessions
	Settings []setting  `json:"settings,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
	from     string
	note     string
	refused  error // why no controller may start the city's programs, or nil
}

type heldShape struct {
	Removes []string   `json:"removes"`
	Running int        `json:"running"`
	Since   *time.Time `json:"since,omitempty"`
}

type planInput struct {
	wants     []agent.Want
	pools     []agent.Pool
	overrides map[string]int
	sessions  []session.Status
	running   *city.Snapshot // nil if no controller is running
	saved     effect.Histories
	inForce   bool // the controller uses the configuration on disk
	now       time.Time
	clock     func(time.Time) string
	unknown   map[string]error // by provider
	unable    func(provider string) (why string)
	unfit     func(w *agent.Want) (why string)
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
	switch {
	case err != nil:
	case out.refused != nil:
		return out.refused
	case out.fails() > 0:
		return exit.Quietly(exit.CodeCannotStart)
	}
	return err
}

func (p *planShape) fails() (n int) {
	for i := range p.Items {
		if p.Items[i].Change == "fail" {
			n++
		}
	}
	return n
}

// planOf returns what applying a configuration would change. running is nil without a controller.
func planOf(ctx context.Context, e *env.Env, c *config.City, running *city.Snapshot) (planShape,
	error) {
	dir := c.Path
	out := planShape{Revision: folder.Short(c.Revision)}
	grant := folder.Trusted(dir, c)
	provider, closeSessions, err := sessions.ObserveSessions(dir, grant)
	if err != nil {
		return out, err
	}
	defer closeSessions()
	v := planInput{wants: folder.PlanOf(c, dir, running), pools: folder.PoolPlan(c, dir),
		now: e.Now(), clock: e.Clock, running: running,
		unable: sessions.Vetter(ctx, provider, e.SayVerySlow)}
	tested := v.unable
	// a test runs the programs, so do not test those of an untrusted city
	if out.refused = grant.Err(); out.refused != nil {
		tested = func(string) string { return "" }
	}
	v.unfit = sessions.Preflight(ctx, provider, v.wants, tested)
	fewFiles := v.checkFiles()
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
	if running == nil {
		// ignore an unreadable file, as a controller does
		v.saved, _ = memory.ReadHistories(dir)
		v.saved = v.saved.For(c.Daemon.CrashHistory == "disk")
	} else {
		out.InForce = v.running.Config.Revision
		if c.Workspace.Name != v.running.Name {
			return out, exit.Errorf(exit.CodeConfig, "workspace.name cannot change while the "+
				"city is running: it is %q in the file and %q in the running city; stop the city "+
				"first", c.Workspace.Name, v.running.Name)
		}
		if v.inForce = out.InForce == out.Revision; !v.inForce {
			out.Held = v.held(out.Revision)
		}
	}
	out.List = output.ListOf(changes(v))
	if running != nil && out.refused != nil {
		out.Warnings = append(out.Warnings, "the controller applies this configuration only once "+
			"you trust it: "+out.refused.Error())
		out.refused = nil
	}
	out.Warnings = append(out.Warnings, folder.Warnings(ctx, c, e.Now())...)
	if fewFiles != "" {
		out.Warnings = append(out.Warnings, fewFiles)
	}
	out.note = v.growing()
	return out, nil
}

// growing returns a note about the pools that a controller might give more members than the forecast.
func (v *planInput) growing() string {
	var names []string
	for i := range v.pools {
		p := &v.pools[i]
		_, fixed := v.overrides[p.Name]
		if v.running == nil && p.Min < p.Max && !fixed && !p.Suspended.On() {
			names = append(names, output.SafeLine(p.Name))
		}
	}
	if names == nil {
		return ""
	}
	return "without a controller, plan does not count work or run checks, so these pools can get " +
		"more members: " + strings.Join(names, ", ")
}

func (v *planInput) checkFiles() string {
	limit := host.OpenFiles(v.running)
	err := controller.TooFewFiles(limit, v.wants, v.pools)
	if err == nil || v.running != nil {
		return controller.FewFiles(limit, len(v.wants))
	}
	v.unfit = func(*agent.Want) string {
		return fmt.Sprintf("the limit of %d open files is too low", limit)
	}
	return err.Error()
}

func (v planInput) held(revision string) *heldShape {
	wanted := map[string]bool{}
	for _, w := range v.wants {
		wanted[w.Name] = true
	}
	out := heldShape{Removes: []string{}}
	for i := range v.running.Agents {
		g := &v.running.Agents[i]
		// the edit does not remove an undeclared agent, and the controller does not count starting agents
		if !g.Running || g.State == city.Starting || g.Source == "" {
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

func changes(v planInput) []change {
	alive := map[string]session.Status{}
	for _, st := range v.sessions {
		if st.Alive {
			alive[st.Agent] = st
		}
	}
	f := v.forecast(alive)
	var out []change
	for i := range v.wants {
		w := &v.wants[i]
		st, lives := alive[w.Name]
		delete(alive, w.Name)
		if g, shown := f.Agent(w.Name); shown {
			out = append(out, f.change(w, g, st, lives))
		} else if f.stops[w.Name] {
			out = append(out, change{Agent: w.Name, Pool: w.Pool, Change: "stop",
				Reason: f.surplus(w.Pool)})
		}
	}
	for name := range alive {
		out = append(out, v.undeclared(name))
	}
	out = append(out, v.removed(alive)...)
	slices.SortFunc(out, func(x, y change) int { return city.CompareNames(x.Agent, y.Agent) })
	return out
}

func (v planInput) removed(alive map[string]session.Status) (out []change) {
	if v.running == nil {
		return nil
	}
	for i := range v.running.Agents {
		g := &v.running.Agents[i]
		if g.Source != "" && !g.Running && !alive[g.Name].Alive &&
			!slices.ContainsFunc(v.wants, func(w agent.Want) bool { return w.Name == g.Name }) {
			out = append(out, change{Agent: g.Name, Pool: g.Pool, Change: "remove",
				Reason: "not in the configuration; it is not running"})
		}
	}
	return out
}

func printPlan(e *env.Env, p planShape) error {
	n := len(p.Settings)
	table := output.NewTable("CHANGE", "AGENT", "WHY")
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
		table.Add(output.Tinted(c.Change, color), output.Tinted(c.Agent, output.Bold), c.Reason)
	}
	if len(table.Rows) > 0 {
		if err := e.Table(table); err != nil {
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
		e.Sayf("%s the configuration %s: %s; `gcity reload --confirm` applies it",
			e.Paint(output.Yellow, "!"), would,
			output.SafeLine(output.RemovalText(h.Removes, h.Running)))
	}
	for _, line := range slices.Concat(p.Unknown, p.Warnings) {
		e.Sayf("%s %s", e.Paint(output.Yellow, "!"), output.SafeLine(line))
	}
	counts := describe.Count(n, "change")
	if fails := p.fails(); fails > 0 {
		counts = fmt.Sprintf("%s, of which %d would fail", counts, fails)
	}
	switch {
	case p.InForce != "" && p.InForce == p.Revision:
		e.Sayf("%s; configuration %s is in force", counts, p.Revision)
	case p.InForce != "":
		e.Sayf("%s; configuration %s %s, %s in force", counts, p.Revision, p.from, p.InForce)
	default:
		e.Sayf("%s; configuration %s; no controller is running", counts, p.Revision)
	}
	if p.note != "" {
		e.Sayf("%s", p.note)
	}
	return nil
}
