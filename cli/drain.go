package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/session"
)

// agentDrainCheck is polled by agents, so it asks for as little as it can.
func (a *app) agentDrainCheck() *cobra.Command {
	return &cobra.Command{
		Use: "drain-check [AGENT]", Short: "From inside a session: has it been told to finish? Exit 0 if so, 1 if not", Args: between(0, 1),
		Long: `drain-check is for agents that can finish what they are doing, between two jobs.
Exit 0: it has been told to finish; what it says then is for people. Exit 1: it
has not, and nothing is said. 2: the command line is wrong, or there is no such
agent. 3: nobody could tell: no controller answers, and no session lives.`,
		Example:           "  until gc agent drain-check; do next_job; done; gc agent drain-ack",
		ValidArgsFunction: a.complete(kindAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := a.self(args)
			if err != nil {
				return err
			}
			c, err := a.drainCheck(cmd.Context(), name)
			if err != nil {
				return cannotTell(err)
			}
			if a.JSON {
				err = a.WriteJSON(c)
			}
			if err == nil && !c.Draining {
				return exit.Quietly(exit.CodeFailed)
			}
			a.Sayf("%s", output.SafeLine(c.say(a)))
			return err
		},
	}
}

// drainShape is the answer of drain-check.
type drainShape struct {
	Agent    string          `json:"agent"`
	Draining bool            `json:"draining"`
	Drain    *city.DrainInfo `json:"drain,omitempty"`

	orphaned bool // no controller runs that would end it
}

func (d drainShape) say(a *app) string {
	switch {
	case d.Drain == nil:
		return d.Agent + " is told to finish"
	case d.orphaned:
		return fmt.Sprintf("%s: told to finish by %s at %s; no controller runs that would end it", d.Agent, d.Drain.By, a.Clock(d.Drain.Since))
	}
	return d.Agent + ": " + a.draining(d.Drain)
}

// cannotTell gives every failure to find out a code that is not "no".
func cannotTell(err error) error {
	var problem *city.Error
	code, _ := exit.Verdict(err)
	switch {
	case errors.As(err, &problem) && problem.Code == city.NotFound:
		code = exit.CodeUsage
	case code == exit.CodeFailed || code == exit.CodeConflict:
		code = exit.CodeNotRunning
	}
	return &exit.Failure{Code: code, Err: err}
}

// drainCheck asks the controller; without one, the session's own marks, and no configuration is read for that.
func (a *app) drainCheck(ctx context.Context, name string) (drainShape, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dir, err := a.cityDir()
	if err != nil {
		return drainShape{}, err
	}
	near, closeNear, err := a.dial(dir)
	if exit.IsNotRunning(err) {
		return a.drainMarked(ctx, dir, name)
	}
	if err != nil {
		return drainShape{}, err
	}
	defer closeNear()
	g, err := findAgent(ctx, near, name)
	if err != nil {
		return drainShape{}, err
	}
	return drainShape{Agent: g.Name, Draining: g.Drain != nil || g.State == city.Draining, Drain: g.Drain}, nil
}

// oneAgent is a city that can be asked for one agent by its qualified name.
type oneAgent interface {
	Agent(ctx context.Context, name string) (*city.Agent, error)
}

// findAgent resolves an agent's name as link.find does. Agents know their qualified names, and one answer is enough for
// them; a last part, and an error that says which names there are, take the whole snapshot.
func findAgent(ctx context.Context, c city.Control, name string) (*city.Agent, error) {
	if one, ok := c.(oneAgent); ok {
		g, err := one.Agent(ctx, name)
		if problem, refused := errors.AsType[*city.Error](err); !refused || problem.Code != city.NotFound {
			return g, err
		}
	}
	_, g, err := (&link{Control: c}).find(ctx, name)
	return g, err
}

// drainMarked reads the marks of an agent's session.
func (a *app) drainMarked(ctx context.Context, dir, name string) (drainShape, error) {
	sessions, closeSessions, err := openSessions(sessionOptions{dir: dir, grant: trusted(dir, nil), observe: true, logger: quietLogger()})
	if err != nil {
		return drainShape{}, fmt.Errorf("cannot look at the sessions of %s: %w", dir, err)
	}
	defer closeSessions()
	marker, ok := sessions.(session.Marker)
	if !ok {
		return drainShape{}, cannot("look at the marks of", name)
	}
	b := aside{dir: dir, sessions: sessions}
	st, err := b.session(ctx, name)
	if err != nil {
		return drainShape{}, err
	}
	d, err := drainMarks(ctx, marker, st.Name)
	if err != nil {
		return drainShape{}, asProblem(err)
	}
	out := drainShape{Agent: st.Agent, Draining: d.On(), orphaned: true}
	if d.On() {
		out.Drain = &city.DrainInfo{Since: d.Since, By: d.By, Acked: d.Acked}
	}
	return out, nil
}
