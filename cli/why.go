package cli

import (
	"context"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/output"
	"gcity/events"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why [NAME]", Short: "Why an agent, a pool, a rig, an automation or a watchdog is as it is, and what happens next",
		Long: `why tells how an agent, a pool, a rig, an automation or a watchdog stands: since
when, for which reason, what happens next and when, what it depends on, what was decided
lately and what happened. A name may be the last part of a qualified one
(rig/name) if only one thing has it. Inside a session no name means the agent that
asks.`,
		Example: "  gcity why worker-2\n  gcity why worker     # the pool\n  gcity why demo       # the rig\n  gcity why digest     # the automation\n  gcity why chain      # the watchdog",
		Args:    between(0, 1), ValidArgsFunction: a.complete(kindAgent, kindPool, kindRig, kindAutomation, kindWatchdog),
		RunE: func(cmd *cobra.Command, args []string) error { return a.why(cmd.Context(), args) },
	}
}

// about is what why adds to a thing as the API gives it.
type about struct {
	Kind       kind           `json:"kind"`
	Controller bool           `json:"controller"` // one runs
	Events     []events.Event `json:"events"`     // about it, the newest first
}

type whyAgent struct {
	output.AgentShape
	about
	Dependencies []need `json:"dependencies"`
}

type whyPool struct {
	output.PoolShape
	about
}

type whyRig struct {
	output.RigShape
	about
}

type whyAutomationShape struct {
	city.Automation
	about
}

type whyWatchdog struct {
	city.Watchdog
	about
}

func (a *app) why(ctx context.Context, args []string) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	name, err := a.self(args)
	if err != nil {
		return err
	}
	f, err := l.resolve(ctx, name, kindAgent, kindPool, kindRig, kindAutomation, kindWatchdog)
	if err != nil {
		return err
	}
	past, err := l.History(ctx, events.Query{Subject: f.name(), Limit: 8})
	if err != nil { // the rest is known all the same
		a.Warn("what happened lately is left out: " + err.Error())
	}
	if a.JSON {
		return a.WriteJSON(whyShape(f, about{Controller: l.live, Events: output.ListOf(past).Items}))
	}
	switch {
	case f.agent != nil:
		a.Sayf("%s", a.standing(f.agent))
		a.agentFacts(f.snapshot, f.agent, l.live)
		a.lately(f.agent.Decisions, past)
		if p, ok := f.snapshot.Pool(f.agent.Name); ok { // the only member of its pool
			a.Sayf("\n%s", a.poolStanding(p))
			a.poolFacts(p, l.live)
			a.lately(p.Decisions, nil)
		}
		return nil
	case f.pool != nil:
		if err := a.tellPool(f.snapshot, f.pool, l.live); err != nil {
			return err
		}
		a.lately(f.pool.Decisions, past)
		return nil
	case f.automation != nil:
		a.Sayf("%s", a.automationStanding(f.automation))
		a.automationFacts(f.automation, l.live)
		a.lately(nil, past)
		return nil
	case f.watchdog != nil:
		a.tellWatchdog(f.watchdog, l.live)
		a.lately(nil, past)
		return nil
	}
	if err := a.tellRig(f.snapshot, f.rig); err != nil {
		return err
	}
	a.lately(nil, past)
	return nil
}

func whyShape(f found, b about) any {
	switch {
	case f.agent != nil:
		b.Kind = kindAgent
		return whyAgent{output.ShapeOf(*f.agent), b, dependencies(f.snapshot, f.agent.DependsOn)}
	case f.pool != nil:
		b.Kind = kindPool
		return whyPool{output.PoolShape{Pool: *f.pool, Members: output.ShapesOf(membersOf(f.snapshot, f.pool))}, b}
	case f.automation != nil:
		b.Kind = kindAutomation
		return whyAutomationShape{*f.automation, b}
	case f.watchdog != nil:
		b.Kind = kindWatchdog
		return whyWatchdog{*f.watchdog, b}
	}
	b.Kind = kindRig
	return whyRig{output.RigShape{Rig: *f.rig, Members: output.ShapesOf(agentsOf(f.snapshot, f.rig.Name))}, b}
}

// agentsOf lists a rig's agents.
func agentsOf(s *city.Snapshot, rig string) []city.Agent {
	var out []city.Agent
	for i := range s.Agents {
		if s.Agents[i].Rig == rig {
			out = append(out, s.Agents[i])
		}
	}
	return out
}
