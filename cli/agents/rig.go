package agents

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/suggest"
)

// RigCommand returns the rig command.
func RigCommand(e *env.Env) *cobra.Command {
	list := listCommand(e, "List all rigs: the project folders that agents work in",
		func(_ *env.Link, s *city.Snapshot) error { return rigs(e, s, false) })
	status := &cobra.Command{
		Use: "status [NAME]", Short: "Show one rig or all rigs, with their agents",
		ValidArgsFunction: env.Complete(e, suggest.Rig),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "" {
				return withNamed(cmd.Context(), e, args[0], func(_ *env.Link, f env.Found) error {
					if e.JSON {
						return e.WriteJSON(rigShape(f.Snapshot, f.Rig))
					}
					return printRig(e, f.Snapshot, f.Rig)
				}, suggest.Rig)
			}
			return withSnapshot(cmd.Context(), e, func(_ *env.Link, s *city.Snapshot) error {
				return rigs(e, s, true)
			})
		},
	}
	suspend := forObject(e, &cobra.Command{Use: "suspend NAME",
		Short: "Stop a rig's agents until the rig is resumed"}, suggest.Rig,
		func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
			return e.Do(ctx, l, city.SuspendRig{Rig: f.Rig.Name})
		})
	resume := forObject(e, &cobra.Command{Use: "resume NAME",
		Short: "Let a rig's agents run again"}, suggest.Rig,
		func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
			return e.Do(ctx, l, city.ResumeRig{Rig: f.Rig.Name})
		})
	restart := forObject(e, &cobra.Command{
		Use: "restart NAME", Short: "Restart a rig's agents",
		Long: `restart restarts a rig's agents and prints the result for each. Agents restart at
the same time, except that an agent restarts before the agents that depend on it.
Suspended, draining and triage agents are not restarted. If any other agent cannot
be restarted, the exit code is 1.`,
	}, suggest.Rig, func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
		return restartRig(ctx, e, l, f)
	})
	return env.Group("rig", "Manage project folders: add, remove, suspend and restart them",
		rigAdd(e), list, status, suspend, resume, restart, rigRemove(e))
}

func rigShape(s *city.Snapshot, r *city.Rig) output.RigShape {
	return output.RigShape{Rig: *r, Members: output.ShapesOf(agentsOf(s, r.Name))}
}

func rigs(e *env.Env, s *city.Snapshot, agents bool) error {
	switch {
	case e.JSON && agents:
		shapes := make([]output.RigShape, len(s.Rigs))
		for i := range s.Rigs {
			shapes[i] = rigShape(s, &s.Rigs[i])
		}
		return e.WriteJSON(output.ListOf(shapes))
	case e.JSON:
		return e.WriteJSON(output.ListOf(s.Rigs))
	case len(s.Rigs) == 0:
		e.Sayf("no rigs: run `gcity rig add PATH` to add a project folder as a rig")
		return nil
	case !agents:
		return WriteRigs(e, e.Out, s.Rigs)
	}
	for i := range s.Rigs {
		if i > 0 {
			e.Sayf("")
		}
		if err := printRig(e, s, &s.Rigs[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteRigs prints a table of rigs.
func WriteRigs(e *env.Env, w io.Writer, rigs []city.Rig) error {
	rigs = slices.Clone(rigs)
	slices.SortFunc(rigs, func(x, y city.Rig) int { return city.CompareNames(x.Name, y.Name) })
	table := output.NewTable("RIG", "RUNNING", "PREFIX", "FOLDER", "WHY")
	for i := range rigs {
		r := &rigs[i]
		why := output.Cell{}
		switch {
		case r.Problem != "":
			why = output.Tinted(r.Problem, output.Red)
		case r.Suspended:
			why = output.Tinted("suspended", output.Yellow)
		}
		table.Add(output.Tinted(r.Name, output.Bold), fmt.Sprintf("%d/%d", r.Running, r.Agents),
			r.Prefix, r.Path, why)
	}
	return e.WriteTable(w, e.Columns(), table)
}

func printRig(e *env.Env, s *city.Snapshot, r *city.Rig) error {
	how := fmt.Sprintf("%d of %s running", r.Running, describe.Count(r.Agents, "agent"))
	if r.Suspended {
		how += ", " + e.Paint(output.Yellow, "suspended")
	}
	e.Sayf("%s is a rig: %s", e.Bold(r.Name), how)
	e.Fact("problem", r.Problem)
	agents := agentsOf(s, r.Name)
	e.Fact("agents", output.ByState(agents))
	if w := r.Work; w != nil {
		e.Fact("work", describe.Work(w.Open, w.InProgress))
	}
	e.Fact("folder", r.Path)
	e.Fact("prefix", r.Prefix)
	e.Fact("declared", r.Source)
	if len(agents) == 0 {
		e.Sayf("\nno agents here; to run an agent in this rig, set dir = %q in the agent's table",
			r.Name)
		return nil
	}
	e.Sayf("")
	return WriteAgents(e, e.Out, agents)
}

type restarted struct {
	Agent  string `json:"agent"`
	Result string `json:"result"` // "restarted", "failed" or "left" (not restarted)
	Detail string `json:"detail"`
}

func restartRig(ctx context.Context, e *env.Env, l *env.Link, f env.Found) error {
	if e.ReadOnly {
		return env.ReadOnlyError("restart")
	}
	if !l.Live {
		return l.NoController("cannot restart the agents of " + f.Rig.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, city.ResponseLimit(city.Restart{}))
	defer cancel()
	agents := agentsOf(f.Snapshot, f.Rig.Name)
	slices.SortFunc(agents, func(x, y city.Agent) int { return city.CompareNames(x.Name, y.Name) })
	results := make([]restarted, len(agents))
	for _, wave := range waves(agents) {
		var g errgroup.Group
		g.SetLimit(32)
		for _, i := range wave {
			g.Go(func() error {
				results[i] = restartOne(ctx, l, f.Snapshot, &agents[i])
				return nil
			})
		}
		_ = g.Wait() // the functions return nil; their errors are in results
	}
	return printRestarted(e, f.Rig.Name, results)
}

// waves returns groups of agents that restart together, as indices. Dependencies come first.
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
		names := map[string]bool{}
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
		if len(wave) == 0 { // a dependency cycle
			return append(out, left)
		}
		out, left = append(out, wave), later
	}
	return out
}

func restartOne(ctx context.Context, l *env.Link, at *city.Snapshot, g *city.Agent) restarted {
	for i := range at.Watchdogs {
		if w := &at.Watchdogs[i]; w.Triage == g.Name {
			return restarted{g.Name, "left", "triage agent of watchdog " + w.Name +
				"; starts only for its checks"}
		}
	}
	if g.Suspended || g.State == city.Suspended || g.State == city.Draining {
		return restarted{g.Name, "left", string(g.State) + ": " + g.Reason}
	}
	r, err := l.Do(ctx, city.Restart{Agent: g.Name})
	if err == nil {
		return restarted{g.Name, "restarted", r.Message}
	}
	if s, unread := l.Snapshot(ctx); unread == nil {
		if now, ok := s.Agent(g.Name); ok && now.Suspended { // in the meantime
			return restarted{g.Name, "left", string(now.State) + ": " + now.Reason}
		}
	}
	return restarted{g.Name, "failed", err.Error()}
}

func printRestarted(e *env.Env, rig string, results []restarted) error {
	count := map[string]int{}
	table := output.NewTable("RESULT", "AGENT", "HOW")
	for _, r := range results {
		count[r.Result]++
		color := map[string]string{"restarted": output.Green, "failed": output.Red,
			"left": output.Dim}[r.Result]
		result := r.Result
		if result == "left" {
			result = "skipped"
		}
		table.Add(output.Tinted(result, color), output.Tinted(r.Agent, output.Bold), r.Detail)
	}
	var err error
	if e.JSON {
		err = e.WriteJSON(output.ListOf(results))
	} else {
		err = e.Table(table)
		e.Sayf("\n%s: %d restarted, %d failed, %d skipped", output.SafeLine(rig),
			count["restarted"], count["failed"], count["left"])
	}
	if err == nil && count["failed"] > 0 {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}
