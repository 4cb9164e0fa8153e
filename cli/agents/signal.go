package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/proc"
	"gcity/session"
)

func withSignal(e *env.Env, c *cobra.Command) *cobra.Command {
	var name string
	var force bool
	c.Flags().BoolVar(&force, "force", false, "treat the session as ended even if its host "+
		"does not confirm it")
	c.Flags().StringVar(&name, "signal", "",
		"send only this `SIGNAL`, such as KILL, TERM or STOP, to the agent's process")
	c.Long = `kill ends an agent's session immediately. The agent restarts, and this does not
count as a crash. With --signal it only sends a signal to the agent's process, like
kill(1). If the process exits, that is handled like any other exit: it can count as a
crash.

A session counts as running until its host confirms that it has ended. --force does
not wait for that. Use it for a pod on a node that is permanently lost. If the node is
still alive, the agent may run twice.`
	c.Example = "  gcity agent kill --signal KILL builder"
	kill := c.RunE
	signal := forAgent(e, &cobra.Command{}, func(ctx context.Context, l *env.Link, agent string,
		_ []string) error {
		return sendSignal(ctx, e, l, agent, name)
	}).RunE
	forced := forAgent(e, &cobra.Command{}, func(ctx context.Context, l *env.Link, agent string,
		_ []string) error {
		return e.Do(ctx, l, city.Kill{Agent: agent, Force: true})
	}).RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch signals := cmd.Flags().Changed("signal"); {
		case signals && force:
			return exit.Usage("use --signal or --force, not both")
		case signals:
			return signal(cmd, args)
		case force:
			return forced(cmd, args)
		}
		return kill(cmd, args)
	}
	return c
}

// sendSignal sends a signal to an agent's process, but never to another process that has reused its process ID.
func sendSignal(ctx context.Context, e *env.Env, l *env.Link, agent, name string) error {
	sig := session.ParseSignal(name)
	if sig == 0 {
		return exit.Usage("invalid signal %q: use a name such as KILL, TERM, INT or STOP",
			output.SafeLine(name))
	}
	if e.ReadOnly {
		return env.ReadOnlyError("agent kill")
	}
	_, g, err := l.Find(ctx, agent)
	if err != nil {
		return err
	}
	switch {
	case g.PID == 0 && !l.Live:
		return exit.NotRunning("agent %s has no process, and no controller is running to start "+
			"it; %s", g.Name, describe.HowToStart)
	case g.PID == 0:
		return fmt.Errorf("agent %s has no process: it is not running (%s)", g.Name, g.Reason)
	case !slices.Contains([]string{"", "pty", "subprocess", "tmux"}, g.Provider):
		return fmt.Errorf("agent %s uses the session provider %s, so its process may not be on "+
			"this machine; --signal only reaches processes on this machine", g.Name, g.Provider)
	}
	if !proc.Signal(g.PID, sig, func(pid int) bool {
		_, now, err := l.Find(ctx, g.Name)
		return err == nil && now.PID == pid && now.Running
	}) {
		return fmt.Errorf("process %d of agent %s has ended; `gcity why %s` shows what happened",
			g.PID, g.Name, g.Name)
	}
	return e.Receipt(city.Receipt{Message: fmt.Sprintf("sent %s to agent %s, pid %d",
		unix.SignalName(sig), g.Name, g.PID)})
}
