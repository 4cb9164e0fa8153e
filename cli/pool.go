package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

func (a *app) poolCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "All pools: how many live, how many are wanted, and why", Args: exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.poolList(cmd.Context()) },
	}
	show := a.forPool(&cobra.Command{
		Use: "show NAME", Short: "Everything known about a pool, with its members", Args: exactly(1),
	}, func(_ context.Context, l *link, f found, _ []string) error {
		if a.JSON {
			return a.WriteJSON(output.PoolShape{Pool: *f.pool, Members: output.ShapesOf(membersOf(f.snapshot, f.pool))})
		}
		return a.tellPool(f.snapshot, f.pool, l.live)
	})
	scale := a.forPool(&cobra.Command{
		Use: "scale NAME N|auto", Short: "Set a pool's size by hand, or give it back to its check", Args: exactly(2),
		Long: `scale sets how many members a pool has, within its bounds, whatever its check
says, until "auto" gives it back to the check. The size is kept in
.gc/overrides.toml and outlives the controller; without one it counts from the
next start. Members that are too many are told to finish first.`,
		Example: "  gcity pool scale worker 3\n  gcity pool scale demo/worker auto",
	}, func(ctx context.Context, l *link, f found, rest []string) error {
		c := city.Scale{Pool: f.pool.Name, Auto: rest[0] == "auto"}
		if !c.Auto {
			n, err := strconv.Atoi(rest[0])
			if err != nil {
				return exit.Usage("%q is neither a number nor auto: %s", rest[0], "gcity pool scale NAME N|auto")
			}
			c.Size = n
		}
		return a.do(ctx, l, c)
	})
	scale.ValidArgsFunction = a.completeWith(kindPool, "auto")
	return group("pool", "Look at groups of like agents, set their size", list, show, scale)
}

// forPool gives a command its deed: run gets the open city, the pool of the first argument, and the other arguments.
func (a *app) forPool(c *cobra.Command, run func(ctx context.Context, l *link, f found, rest []string) error) *cobra.Command {
	c.ValidArgsFunction = a.complete(kindPool)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		f, err := l.resolve(cmd.Context(), args[0], kindPool)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, f, args[1:])
	}
	return c
}

func (a *app) poolList(ctx context.Context) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	s, err := l.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.WriteJSON(output.ListOf(s.Pools))
	case len(s.Pools) == 0:
		a.Sayf("no pools: an agent with an [agents.pool] table is one")
		return nil
	}
	return a.writePools(a.Out, s.Pools)
}

func (a *app) writePools(w io.Writer, pools []city.Pool) error {
	pools = slices.Clone(pools)
	slices.SortFunc(pools, func(x, y city.Pool) int { return city.CompareNames(x.Name, y.Name) })
	rows := make([][]output.Cell, 0, len(pools))
	for i := range pools {
		p := &pools[i]
		size, check := output.Tinted(fmt.Sprintf("%d/%d", p.Size, p.Desired), output.Green), output.Plain(a.checked(&p.Check))
		if p.Size != p.Desired {
			size.Colour = output.Yellow
		}
		if p.Check.Problem != "" {
			check.Colour = output.Red
		}
		rows = append(rows, []output.Cell{output.Tinted(p.Name, output.Bold), size, output.Plain(bounds(p)), check, output.Plain(leaving(p)), output.Plain(wanted(p))})
	}
	return a.Table(w, a.Columns(), []string{"POOL", "SIZE", "BOUNDS", "CHECK", "DRAINING", "WHY"}, rows)
}

// sizes is how many members live of how many are wanted.
func sizes(p *city.Pool) string { return fmt.Sprintf("%d/%d live", p.Size, p.Desired) }

func bounds(p *city.Pool) string {
	if p.Max == 0 {
		return "off"
	}
	return fmt.Sprintf("%d–%d", p.Min, p.Max)
}

// leaving names the members that are told to finish, the first few of them.
func leaving(p *city.Pool) string {
	names := slices.Clone(p.Draining)
	slices.SortFunc(names, city.CompareNames)
	if len(names) > 3 {
		names = append(names[:3:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

// wanted is why a pool has its size.
func wanted(p *city.Pool) string {
	parts := []string{p.Reason}
	if why := p.SuspendedReason; p.Suspended && !strings.Contains(p.Reason, why) {
		parts = append(parts, "suspended "+why)
	}
	if p.Override != nil {
		parts = append(parts, "override")
	}
	if p.Check.Problem != "" {
		parts = append(parts, "the check failed: "+p.Check.Problem)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// checked is what a pool's check said last, how long ago, and whether it failed since.
func (a *app) checked(c *city.Check) string {
	var parts []string
	switch {
	case c.Good != nil && c.Command == "":
		parts = append(parts, fmt.Sprintf("%d open", c.Value))
	case c.Good != nil:
		parts = append(parts, fmt.Sprintf("%d, %s ago", c.Value, a.Age(*c.Good)))
	}
	if c.Problem != "" && c.At != nil {
		parts = append(parts, "failed "+a.Age(*c.At)+" ago")
	}
	if c.Running != nil {
		parts = append(parts, "running for "+a.Age(*c.Running))
	}
	switch {
	case len(parts) > 0:
	case c.Command == "":
		return "none"
	default:
		return "not asked yet"
	}
	return strings.Join(parts, " · ")
}

// tellPool writes a pool's facts and its members.
func (a *app) tellPool(s *city.Snapshot, p *city.Pool, live bool) error {
	a.Sayf("%s", a.poolStanding(p))
	if p.Description != "" {
		a.Sayf("  %s", output.SafeLine(p.Description))
	}
	a.poolFacts(p, live)
	m := membersOf(s, p)
	if len(m) == 0 {
		a.Sayf("\nno member is there now")
		return nil
	}
	a.Sayf("")
	return a.writeAgents(a.Out, m)
}

// poolStanding is a pool's state in a sentence.
func (a *app) poolStanding(p *city.Pool) string {
	what := "is a pool of " + bounds(p)
	if p.Max == 0 {
		what = "is a pool that is off (max is 0)"
	}
	return fmt.Sprintf("%s %s: %d live, %d wanted since %s (%s)", a.Paint(output.Bold, output.SafeLine(p.Name)), what, p.Size, p.Desired,
		a.Clock(p.Since), a.Age(p.Since))
}

// poolFacts writes what is known of a pool, one fact a line.
func (a *app) poolFacts(p *city.Pool, live bool) {
	a.Fact("because", p.Reason)
	if why := p.SuspendedReason; p.Suspended && !strings.Contains(p.Reason, why) {
		a.Fact("suspended", why)
	}
	a.Fact("next", a.Next(p.Next))
	if !live {
		a.Fact("city", "no controller runs: nothing is checked, started or ended until one does")
	}
	if p.Override != nil {
		a.Fact("override", fmt.Sprintf("set by hand to %d; `gcity pool scale %s auto` gives it back to its check", *p.Override, p.Name))
	}
	if c := &p.Check; c.Command == "" {
		a.Fact("check", "none: its open work is counted")
	} else {
		a.Fact("check", c.Command)
		a.Fact("answer", a.checked(c))
		a.Fact("problem", c.Problem)
		if c.At != nil && c.Took > 0 {
			a.Fact("took", c.Took.Round(time.Millisecond).String())
		}
	}
	if out := strings.TrimSpace(p.Check.Output); out != strconv.Itoa(p.Check.Value) {
		for line := range strings.SplitSeq(out, "\n") {
			a.FactLine("output", line)
		}
	}
	a.Fact("draining", strings.Join(p.Draining, ", "))
	limit := "told to finish, and waited for without end"
	if p.Timeout > 0 {
		limit = fmt.Sprintf("told to finish, and ended after %s", output.Exact(p.Timeout))
	}
	a.Fact("surplus", limit)
	a.Fact("rig", p.Rig)
	a.Fact("declared", declaredAt(p.Source, p.Patched))
}
