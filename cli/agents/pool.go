package agents

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/span"
	"gcity/internal/suggest"
)

// PoolCommand returns the pool command.
func PoolCommand(e *env.Env) *cobra.Command {
	list := listCommand(e, "List all pools: live and wanted members, and the reason for the size",
		func(_ *env.Link, s *city.Snapshot) error {
			switch {
			case e.JSON:
				return e.WriteJSON(output.ListOf(s.Pools))
			case len(s.Pools) == 0:
				e.Sayf("no pools: add an [agents.pool] table to an agent to make it a pool")
				return nil
			}
			return WritePools(e, e.Out, s.Pools)
		})
	show := forObject(e, &cobra.Command{
		Use: "show NAME", Short: "Show all details of a pool, with its members",
	}, suggest.Pool, func(_ context.Context, l *env.Link, f env.Found, _ []string) error {
		if e.JSON {
			return e.WriteJSON(output.PoolShape{Pool: *f.Pool,
				Members: output.ShapesOf(env.MembersOf(f.Snapshot, f.Pool))})
		}
		return PrintPool(e, f.Snapshot, f.Pool, l)
	})
	scale := poolScale(e)
	var rolling bool
	restart := forObject(e, &cobra.Command{
		Use: "restart NAME", Short: "Restart all members of a pool",
		Long: `restart restarts all members that the pool should have, at the same time. With
--rolling it restarts them one at a time: it restarts the next member when the
previous one is ready or, without ready_prompt_prefix, has been running for 2s.
restart exits when all members have reached that point. It stops at the first
failure, and exits with code 1. A failure is a start that fails, an exit before
that point, or a crash within min_uptime while restart is still busy with other members.`,
		Example: "  gcity pool restart worker --rolling",
	}, suggest.Pool, func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
		return restartPool(ctx, e, l, city.RestartPool{Pool: f.Pool.Name, Rolling: rolling})
	})
	restart.Flags().BoolVar(&rolling, "rolling", false, "restart one member at a time")
	check := forObject(e, &cobra.Command{
		Use: "check NAME", Short: "Run a pool's check now and print its result",
	}, suggest.Pool, func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
		return e.Do(ctx, l, city.CheckPool{Pool: f.Pool.Name})
	})
	c := env.Group("pool", "Show, scale, restart and check pools of agents", list, show, scale,
		restart, check)
	c.Annotations = map[string]string{
		"drain":   "`gcity pool scale NAME N` drains surplus members",
		"suspend": "`gcity agent suspend NAME` suspends a whole pool",
		"stop":    "`gcity agent stop NAME` stops and suspends a whole pool",
		"resume":  "`gcity agent resume NAME` resumes a whole pool",
	}
	return c
}

func poolScale(e *env.Env) *cobra.Command {
	var wait bool
	c := forObject(e, &cobra.Command{
		Use: "scale NAME N|auto", Short: "Set a pool's size by hand, or let its check set it again",
		Long: `scale sets how many members a pool has, within its limits. The number overrides the
pool's check until "auto" lets the check set the size again. It is stored in
.gc/overrides.toml, so it also applies after the controller restarts. If no
controller is running, it applies from the next start. Surplus members are asked to
finish before they stop. With --wait the command exits when the pool has reached its
size and no member is draining.`,
		Example: "  gcity pool scale worker 3\n  gcity pool scale demo/worker auto",
	}, suggest.Pool, func(ctx context.Context, l *env.Link, f env.Found, rest []string) error {
		size := city.Scale{Pool: f.Pool.Name, Auto: rest[0] == "auto"}
		if !size.Auto {
			n, err := strconv.Atoi(rest[0])
			if err != nil {
				return exit.Usage("invalid size %q; use a number or \"auto\": %s", rest[0],
					"gcity pool scale NAME N|auto")
			}
			size.Size = n
		}
		if err := e.Do(ctx, l, size); err != nil || !wait || !l.Live {
			return err
		}
		return awaitScale(ctx, e, l, f.Pool.Name)
	})
	c.Flags().BoolVar(&wait, "wait", false, "wait until the pool has reached its size")
	c.ValidArgsFunction = env.CompleteWith(e, suggest.Pool, "auto")
	return c
}

func restartPool(ctx context.Context, e *env.Env, l *env.Link, c city.RestartPool) error {
	limit := city.ResponseLimit(c)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := env.SayProgress(limited, e, l.Control, func(s *city.Snapshot) string {
		return restartProgress(s, c.Pool)
	})
	r, err := l.Do(limited, c)
	done()
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("pool %s is still restarting after %s; `gcity pool show %s` shows the "+
			"progress", c.Pool, limit, c.Pool)
	}
	if err != nil {
		return e.NameVersion(ctx, l, err)
	}
	return e.Receipt(r)
}

// WritePools prints a table of pools.
func WritePools(e *env.Env, w io.Writer, pools []city.Pool) error {
	pools = slices.Clone(pools)
	slices.SortFunc(pools, func(x, y city.Pool) int { return city.CompareNames(x.Name, y.Name) })
	table := output.NewTable("POOL", "SIZE", "BOUNDS", "CHECK", "DRAINING", "WHY")
	for i := range pools {
		p := &pools[i]
		size, check := output.Tinted(fmt.Sprintf("%d/%d", p.Size, p.Desired), output.Green),
			output.Plain(checked(e, &p.Check))
		if p.Size != p.Desired {
			size.Color = output.Yellow
		}
		if p.Check.Problem != "" {
			check.Color = output.Red
		}
		table.Add(output.Tinted(p.Name, output.Bold), size, bounds(p), check, leaving(p), wanted(p))
	}
	return e.WriteTable(w, e.Columns(), table)
}

func sizes(p *city.Pool) string { return fmt.Sprintf("%d/%d live", p.Size, p.Desired) }

func bounds(p *city.Pool) string {
	if p.Max == 0 {
		return "off"
	}
	return fmt.Sprintf("%d–%d", p.Min, p.Max)
}

func leaving(p *city.Pool) string {
	names := slices.Clone(p.Draining)
	slices.SortFunc(names, city.CompareNames)
	if len(names) > 3 {
		names = append(names[:3:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

func wanted(p *city.Pool) string {
	parts := []string{p.Reason}
	if why := p.SuspendedReason; p.Suspended && !strings.Contains(p.Reason, why) {
		parts = append(parts, "suspended "+why)
	}
	if p.Override != nil && !strings.HasPrefix(p.Reason, city.PoolSetBy) {
		parts = append(parts, "set by hand")
	}
	if p.Check.Problem != "" {
		parts = append(parts, checkFailure(p))
	}
	return output.Join(separator, parts...)
}

// checkFailure returns a clause such as "the check failed with exit code 3".
func checkFailure(p *city.Pool) string {
	if strings.HasPrefix(p.Check.Problem, "the check") {
		return p.Check.Problem
	}
	return "the check failed: " + p.Check.Problem
}

// FailingPools returns a line for each pool with a failing check.
func FailingPools(s *city.Snapshot) []string {
	var out []string
	for i := range s.Pools {
		if p := &s.Pools[i]; p.Check.Problem != "" && !p.Suspended {
			out = append(out, fmt.Sprintf("pool %s: %s; `gcity why %s` shows details", p.Name,
				checkFailure(p), p.Name))
		}
	}
	return out
}

func checked(e *env.Env, c *city.Check) string {
	var parts []string
	switch {
	case c.Good != nil && c.Command == "":
		parts = append(parts, fmt.Sprintf("%d open", c.Value))
	case c.Good != nil:
		parts = append(parts, fmt.Sprintf("%d, %s ago", c.Value, e.Age(*c.Good)))
	}
	if c.Problem != "" && c.At != nil {
		parts = append(parts, "failed "+e.Age(*c.At)+" ago")
	}
	if c.Running != nil {
		parts = append(parts, "running for "+e.Age(*c.Running))
	}
	switch {
	case len(parts) > 0:
	case c.Command == "":
		return "none"
	default:
		return "not checked yet"
	}
	return strings.Join(parts, " · ")
}

// PrintPool prints a pool's details and its members.
func PrintPool(e *env.Env, s *city.Snapshot, p *city.Pool, l *env.Link) error {
	e.Sayf("%s", poolStanding(e, p))
	if p.Description != "" {
		e.Sayf("  %s", output.SafeLine(p.Description))
	}
	poolFacts(e, p, l)
	m := env.MembersOf(s, p)
	if len(m) == 0 {
		e.Sayf("\nno members currently")
		return nil
	}
	e.Sayf("")
	return WriteAgents(e, e.Out, m)
}

func poolStanding(e *env.Env, p *city.Pool) string {
	what := "is a pool of " + bounds(p) + " members"
	if p.Max == 0 {
		what = "is a pool that is off (max is 0)"
	}
	return fmt.Sprintf("%s %s: %d live, %d wanted%s",
		e.Bold(p.Name), what, p.Size, p.Desired,
		since(e, p.Since))
}

func poolFacts(e *env.Env, p *city.Pool, l *env.Link) {
	e.Fact("because", p.Reason)
	if why := p.SuspendedReason; p.Suspended && !strings.Contains(p.Reason, why) {
		e.Fact("suspended", why)
	}
	e.Fact("next", e.Next(p.Next))
	e.Fact("city", l.Idle("nothing is checked, started or stopped"))
	if p.Override != nil {
		e.Fact("override", fmt.Sprintf("set by hand to %d; `gcity pool scale %s auto` lets its "+
			"check set the size again", *p.Override, p.Name))
	}
	if c := &p.Check; c.Command == "" {
		e.Fact("check", "none: the size follows the pool's open work")
	} else {
		e.Fact("check", c.Command)
		e.Fact("result", checked(e, c))
		e.Fact("problem", c.Problem)
		if c.At != nil && c.Took > 0 {
			e.Fact("took", span.Took(c.Took))
		}
	}
	if out := strings.TrimSpace(p.Check.Output); out != strconv.Itoa(p.Check.Value) {
		for line := range strings.SplitSeq(out, "\n") {
			e.FactLine("output", line)
		}
	}
	e.Fact("draining", strings.Join(p.Draining, ", "))
	limit := "asked to finish; no deadline"
	if p.Timeout > 0 {
		limit = fmt.Sprintf("asked to finish; kill after %s", span.Text(p.Timeout))
	}
	e.Fact("surplus", limit)
	e.Fact("rig", p.Rig)
	e.Fact("declared", describe.Declared(p.Source, p.Patched))
}

func restartProgress(s *city.Snapshot, pool string) string {
	text := "restarting pool " + pool
	if p, ok := s.Pool(pool); ok {
		text += ": " + p.Reason
	}
	return text
}
