package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

func (a *app) rigCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "All rigs: the project folders that agents work in", Args: exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rigs(cmd.Context(), "", false) },
	}
	status := &cobra.Command{
		Use: "status [NAME]", Short: "How a rig stands, or all of them, agent by agent", Args: between(0, 1),
		ValidArgsFunction: a.complete(kindRig),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.rigs(cmd.Context(), name, true)
		},
	}
	suspend := a.forRig(&cobra.Command{Use: "suspend NAME", Short: "Stop its agents and keep them stopped until it is resumed"},
		func(ctx context.Context, l *link, f found) error {
			return a.do(ctx, l, city.SuspendRig{Rig: f.rig.Name})
		})
	resume := a.forRig(&cobra.Command{Use: "resume NAME", Short: "Let its agents run again"},
		func(ctx context.Context, l *link, f found) error {
			return a.do(ctx, l, city.ResumeRig{Rig: f.rig.Name})
		})
	restart := a.forRig(&cobra.Command{
		Use: "restart NAME", Short: "Stop each of its agents and start it anew",
		Long: `restart stops the agents of a rig and starts them anew, side by side, but
whom others need before those, and says of each how it went. Agents that are suspended or told to finish are left
alone. It fails if one of the others could not be restarted.`,
	}, func(ctx context.Context, l *link, f found) error { return a.restartRig(ctx, l, f) })
	return group("rig", "Project folders: add and remove them, stop and restart what works there", a.rigAdd(), list, status, suspend, resume, restart, a.rigRemove())
}

// forRig gives a command its deed: run gets the open city and the rig of the only argument.
func (a *app) forRig(c *cobra.Command, run func(ctx context.Context, l *link, f found) error) *cobra.Command {
	c.Args, c.ValidArgsFunction = exactly(1), a.complete(kindRig)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		f, err := l.resolve(cmd.Context(), args[0], kindRig)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, f)
	}
	return c
}

// rigs writes one rig (name) or all, with their agents if wanted.
func (a *app) rigs(ctx context.Context, name string, agents bool) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if name != "" {
		f, err := l.resolve(ctx, name, kindRig)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.WriteJSON(output.RigShape{Rig: *f.rig, Members: output.ShapesOf(agentsOf(f.snapshot, f.rig.Name))})
		}
		return a.tellRig(f.snapshot, f.rig)
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch {
	case a.JSON && agents:
		shapes := make([]output.RigShape, 0, len(s.Rigs))
		for _, r := range s.Rigs {
			shapes = append(shapes, output.RigShape{Rig: r, Members: output.ShapesOf(agentsOf(s, r.Name))})
		}
		return a.WriteJSON(output.ListOf(shapes))
	case a.JSON:
		return a.WriteJSON(output.ListOf(s.Rigs))
	case len(s.Rigs) == 0:
		a.Sayf("no rigs: `gcity rig add PATH` makes a project folder one")
		return nil
	case !agents:
		return a.writeRigs(a.Out, s.Rigs)
	}
	for i := range s.Rigs {
		if i > 0 {
			a.Sayf("")
		}
		if err := a.tellRig(s, &s.Rigs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) writeRigs(w io.Writer, rigs []city.Rig) error {
	rigs = slices.Clone(rigs)
	slices.SortFunc(rigs, func(x, y city.Rig) int { return city.CompareNames(x.Name, y.Name) })
	rows := make([][]output.Cell, 0, len(rigs))
	for i := range rigs {
		r := &rigs[i]
		why := output.Cell{}
		switch {
		case r.Problem != "":
			why = output.Tinted(r.Problem, output.Red)
		case r.Suspended:
			why = output.Tinted("suspended", output.Yellow)
		}
		rows = append(rows, []output.Cell{output.Tinted(r.Name, output.Bold), output.Plain(fmt.Sprintf("%d/%d", r.Running, r.Agents)), output.Plain(r.Prefix), output.Plain(r.Path), why})
	}
	return a.Table(w, a.Columns(), []string{"RIG", "RUNNING", "PREFIX", "FOLDER", "WHY"}, rows)
}

// tellRig writes how a rig stands, and its agents.
func (a *app) tellRig(s *city.Snapshot, r *city.Rig) error {
	how := fmt.Sprintf("%d of %s running", r.Running, output.Counted(r.Agents, "agent"))
	if r.Suspended {
		how += ", " + a.Paint(output.Yellow, "suspended")
	}
	a.Sayf("%s is a rig: %s", a.Paint(output.Bold, output.SafeLine(r.Name)), how)
	a.Fact("problem", r.Problem)
	agents := agentsOf(s, r.Name)
	a.Fact("agents", output.ByState(agents))
	if w := r.Work; w != nil {
		a.Fact("work", fmt.Sprintf("%d open, %d in progress", w.Open, w.InProgress))
	}
	a.Fact("folder", r.Path)
	a.Fact("prefix", r.Prefix)
	a.Fact("declared", r.Source)
	if len(agents) == 0 {
		a.Sayf("\nno agent works there: one whose dir is %q does", r.Name)
		return nil
	}
	a.Sayf("")
	return a.writeAgents(a.Out, agents)
}

// restarted is how the restart of one agent went.
type restarted struct {
	Agent  string `json:"agent"`
	Result string `json:"result"` // "restarted", "failed", "left"
	Detail string `json:"detail"`
}

// restartRig restarts every agent of a rig that is meant to run.
func (a *app) restartRig(ctx context.Context, l *link, f found) error {
	if a.readOnly {
		return refusedReadOnly("restart")
	}
	if !l.live {
		return exit.NotRunning("cannot restart the agents of %s: no controller runs %s; start it with `gcity` or `gcity --headless`", f.rig.Name, l.dir)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	agents := agentsOf(f.snapshot, f.rig.Name)
	slices.SortFunc(agents, func(x, y city.Agent) int { return city.CompareNames(x.Name, y.Name) })
	results := make([]restarted, len(agents))
	for _, wave := range waves(agents) {
		var g errgroup.Group
		g.SetLimit(32)
		for _, i := range wave {
			g.Go(func() error {
				results[i] = restartOne(ctx, l, &agents[i])
				return nil
			})
		}
		_ = g.Wait() // each says in its result how it went
	}
	return a.tellRestarted(f.rig.Name, results)
}

// waves are the places of agents, those together that can be restarted side by side: whom the others need comes before them,
// since nobody is started while what it needs is down.
func waves(agents []city.Agent) [][]int {
	var out [][]int
	waits := func(i int, of map[string]bool) bool {
		return slices.ContainsFunc(agents[i].DependsOn, func(name string) bool { return of[name] })
	}
	left := make([]int, len(agents))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		names := map[string]bool{} // of those who are left, and their pools
		for _, i := range left {
			names[agents[i].Name] = true
			if agents[i].Pool != "" {
				names[agents[i].Pool] = true
			}
		}
		var wave, later []int
		for _, i := range left {
			if waits(i, names) {
				later = append(later, i)
			} else {
				wave = append(wave, i)
			}
		}
		if len(wave) == 0 { // a circle, which no configuration has
			return append(out, left)
		}
		out, left = append(out, wave), later
	}
	return out
}

func restartOne(ctx context.Context, l *link, g *city.Agent) restarted {
	if g.Suspended || g.State == city.Suspended || g.State == city.Draining {
		return restarted{g.Name, "left", string(g.State) + ": " + g.Reason}
	}
	r, err := l.Do(ctx, city.Restart{Agent: g.Name})
	if err != nil {
		return restarted{g.Name, "failed", err.Error()}
	}
	return restarted{g.Name, "restarted", r.Message}
}

func (a *app) tellRestarted(rig string, results []restarted) error {
	count := map[string]int{}
	rows := make([][]output.Cell, 0, len(results))
	for _, r := range results {
		count[r.Result]++
		colour := map[string]string{"restarted": output.Green, "failed": output.Red, "left": output.Dim}[r.Result]
		rows = append(rows, []output.Cell{output.Tinted(r.Result, colour), output.Tinted(r.Agent, output.Bold), output.Plain(r.Detail)})
	}
	var err error
	if a.JSON {
		err = a.WriteJSON(output.ListOf(results))
	} else {
		err = a.Table(a.Out, a.Columns(), []string{"RESULT", "AGENT", "HOW"}, rows)
		a.Sayf("\n%s: %d restarted, %d failed, %d left alone", output.SafeLine(rig), count["restarted"], count["failed"], count["left"])
	}
	if err == nil && count["failed"] > 0 {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}
