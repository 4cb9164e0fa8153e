package agents

import (
	"context"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/suggest"
)

// WhyCommand returns the why command.
func WhyCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "why [NAME]", Short: "Explain the state of an agent, a pool, a rig, an automation " +
			"or a watchdog, and what happens next",
		Long: `why explains the state of an agent, a pool, a rig, an automation or a watchdog: how
long it has lasted, its reason, what happens next and when, the dependencies, and
recent decisions and events. The name may be the last part of a qualified name
(rig/name) if that is unique. NAME is optional inside a session (default: $GC_AGENT).`,
		Example: "  gcity why worker-2\n  gcity why worker     # the pool\n  gcity why " +
			"demo       # the rig\n  gcity why digest     # the automation\n  gcity why " +
			"chain      # the watchdog",
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool, suggest.Rig,
			suggest.Automation, suggest.Watchdog),
		RunE: func(cmd *cobra.Command, args []string) error { return why(cmd.Context(), e, args) },
	}
}

type about struct {
	Kind       suggest.Kind   `json:"kind"`
	Controller bool           `json:"controller"`
	Events     []events.Event `json:"events"` // events about the object, newest first
}

type whyAgent struct {
	output.AgentShape
	about
	Dependencies []Need `json:"dependencies"`
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

func why(ctx context.Context, e *env.Env, args []string) error {
	name, err := e.Self(args)
	if err != nil {
		return err
	}
	l, f, err := e.OpenNamed(ctx, name, suggest.Agent, suggest.Pool, suggest.Rig,
		suggest.Automation, suggest.Watchdog)
	if err != nil {
		return err
	}
	defer l.Close()
	past, pastErr := l.History(ctx, events.Query{Subject: f.Name(), Limit: 8})
	if pastErr != nil { // without events, `gcity why` is still useful
		e.Warn("cannot read the recent events, so they are not shown: " + pastErr.Error())
	}
	if e.JSON {
		return e.WriteJSON(whyShape(f, about{Controller: l.Live,
			Events: output.ListOf(past).Items}))
	}
	var decisions []city.Decision
	switch {
	case f.Agent != nil:
		e.Sayf("%s", standing(e, f.Agent))
		agentFacts(e, f.Snapshot, f.Agent, l)
		writeRecent(e, f.Agent.Decisions, past)
		// a pool with a single member has the same name as that member
		if p, ok := f.Snapshot.Pool(f.Agent.Name); ok {
			e.Sayf("\n%s", poolStanding(e, p))
			poolFacts(e, p, l)
			writeRecent(e, p.Decisions, nil)
		}
		return nil
	case f.Pool != nil:
		decisions = f.Pool.Decisions
		err = PrintPool(e, f.Snapshot, f.Pool, l)
	case f.Automation != nil:
		e.Sayf("%s", automationStanding(e, f.Automation))
		automationFacts(e, f.Automation, l)
	case f.Watchdog != nil:
		printWatchdog(e, f.Watchdog, l)
	default:
		err = printRig(e, f.Snapshot, f.Rig)
	}
	if err == nil {
		writeRecent(e, decisions, past)
	}
	return err
}

func whyShape(f env.Found, b about) any {
	switch {
	case f.Agent != nil:
		b.Kind = suggest.Agent
		return whyAgent{output.ShapeOf(*f.Agent), b, dependencies(f.Snapshot, f.Agent.DependsOn)}
	case f.Pool != nil:
		b.Kind = suggest.Pool
		return whyPool{output.PoolShape{Pool: *f.Pool,
			Members: output.ShapesOf(env.MembersOf(f.Snapshot, f.Pool))}, b}
	case f.Automation != nil:
		b.Kind = suggest.Automation
		return whyAutomationShape{*f.Automation, b}
	case f.Watchdog != nil:
		b.Kind = suggest.Watchdog
		return whyWatchdog{*f.Watchdog, b}
	}
	b.Kind = suggest.Rig
	return whyRig{rigShape(f.Snapshot, f.Rig), b}
}

func agentsOf(s *city.Snapshot, rig string) []city.Agent {
	var out []city.Agent
	for i := range s.Agents {
		if s.Agents[i].Rig == rig {
			out = append(out, s.Agents[i])
		}
	}
	return out
}
