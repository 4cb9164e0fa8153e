package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/internal/suggest"
)

func agentDrainCheck(e *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "drain-check [AGENT]", Short: "In a session: exit 0 if the agent should " +
			"finish, 1 if not",
		Long: `drain-check is for agents that can finish their current work before they stop. They
run it between two jobs. Exit codes:

  0  the agent has been asked to finish; the output says since when
  1  the agent has not been asked to finish; no output
  2  invalid command line, or unknown agent
  3  unknown: no controller responds, and the agent has no session`,
		Example:           "  until gc agent drain-check && gc agent drain-ack; do next_job; done",
		ValidArgsFunction: env.Complete(e, suggest.Agent),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := e.Self(args)
			if err != nil {
				return err
			}
			c, err := drainCheck(cmd.Context(), e, name)
			if err != nil {
				return env.AsUndetermined(err)
			}
			if e.JSON {
				err = e.WriteJSON(c)
			}
			if err == nil && !c.Draining {
				return exit.Quietly(exit.CodeFailed)
			}
			e.Sayf("%s", output.SafeLine(c.say(e)))
			return err
		},
	}
	env.DefaultsToSelf(c)
	return c
}

type drainShape struct {
	Agent    string          `json:"agent"`
	Draining bool            `json:"draining"`
	Drain    *city.DrainInfo `json:"drain,omitempty"`

	orphaned bool // no controller is running
}

func (d drainShape) say(a *env.Env) string {
	switch {
	case d.Drain == nil:
		return d.Agent + " has been asked to finish"
	case d.orphaned:
		return fmt.Sprintf("%s: drain requested by %s at %s; no controller is running to stop the "+
			"agent", d.Agent, d.Drain.By, a.Clock(d.Drain.Since))
	}
	return d.Agent + ": drain " + draining(a, d.Drain)
}

// drainCheck returns an agent's drain state. Without a controller, it reads the state from the agent's session, so it
// needs no configuration.
func drainCheck(ctx context.Context, e *env.Env, name string) (drainShape, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dir, err := e.CityDir()
	if err != nil {
		return drainShape{}, err
	}
	near, closeNear, err := e.Dial(dir)
	if exit.IsNotRunning(err) {
		return drainMarked(ctx, dir, name)
	}
	if err != nil {
		return drainShape{}, err
	}
	defer closeNear()
	g, err := env.FindAgent(ctx, near, name)
	if err != nil {
		return drainShape{}, err
	}
	return drainShape{Agent: g.Name, Draining: g.Drain != nil || g.State == city.Draining,
		Drain: g.Drain}, nil
}

func drainMarked(ctx context.Context, dir, name string) (drainShape, error) {
	sessions, closeSessions, err := sessions.ObserveSessions(dir, folder.Trusted(dir, nil))
	if err != nil {
		return drainShape{}, fmt.Errorf("cannot read the sessions of %s: %w", dir, err)
	}
	defer closeSessions()
	b := offline.City{Dir: dir, Sessions: sessions}
	st, err := b.Session(ctx, name)
	if err != nil {
		return drainShape{}, err
	}
	out := drainShape{Agent: st.Agent, Draining: st.Drain.On(), orphaned: true}
	if d := st.Drain; d.On() {
		out.Drain = &city.DrainInfo{Since: d.Since, By: d.By, Acked: d.Acked}
	}
	return out, nil
}
