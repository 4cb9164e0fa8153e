package agents

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
)

// WatchdogCommand returns the command watchdog.
func WatchdogCommand(e *env.Env) *cobra.Command {
	c := env.Group("watchdog", "Show health checks of agents, run one now, answer an alert",
		watchdogList(e), watchdogStatus(e), watchdogTriage(e), watchdogDecide(e),
		watchdogAcknowledge(e))
	c.Long = `watchdog shows the watchdogs of a city. Each watches one agent: at intervals it checks
whether the agent is alive, how old its heartbeat is, and whether it has unread mail.
A triage agent decides what to do then, or the age of the heartbeat alone. If several
wake-ups have no effect, the watchdog calls for a person. "gcity help watchdogs"
describes the rules. These lines in city.toml declare a watchdog:

  [[watchdogs]]
  name    = "chain"
  watches = "AGENT"`
	return c
}

// forWatchdog sets the function of a command: run gets the open city, which has a controller, and the watchdog of
// the only argument.
func forWatchdog(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, l *env.Link, w *city.Watchdog) error) *cobra.Command {
	c.Args, c.ValidArgsFunction = env.Exactly(1), env.Complete(e, env.KindWatchdog)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := e.Open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.Close()
		switch {
		case e.ReadOnly:
			return env.RefusedReadOnly("watchdog " + cmd.Name())
		case !l.Live:
			return nobodyWatches(l.Dir, "cannot "+cmd.Name()+" "+args[0])
		}
		f, err := l.Resolve(cmd.Context(), args[0], env.KindWatchdog)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, f.Watchdog)
	}
	return c
}

// nobodyWatches returns the error that watchdogs need a controller.
func nobodyWatches(dir, what string) error {
	return exit.NotRunning("%s: no controller is running for %s, so no watchdog runs; start it "+
		"with `gcity` or `gcity --headless`", what, dir)
}

func watchdogList(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all watchdogs: what they watch, the heartbeat's age, the " +
			"last decision", Args: env.Exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return watchdogs(cmd.Context(), e,
				false)
		},
	}
}

func watchdogStatus(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "status [NAME]", Short: "Show all details of a watchdog, or of all",
		Args:              env.Between(0, 1),
		ValidArgsFunction: env.Complete(e, env.KindWatchdog),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return watchdogs(cmd.Context(), e, true)
			}
			l, err := e.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.Close()
			f, err := l.Resolve(cmd.Context(), args[0], env.KindWatchdog)
			switch {
			case err != nil:
				return err
			case e.JSON:
				return e.WriteJSON(f.Watchdog)
			}
			tellWatchdog(e, f.Watchdog, l.Live)
			return nil
		},
	}
}

// watchdogs lists all watchdogs, or writes all details of each.
func watchdogs(ctx context.Context, e *env.Env, all bool) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := l.Snapshot(ctx)
	switch {
	case err != nil:
		return err
	case e.JSON:
		return e.WriteJSON(output.ListOf(s.Watchdogs))
	case len(s.Watchdogs) == 0:
		e.Sayf("no watchdogs; these lines in %s declare one:\n\n  [[watchdogs]]\n  name    = "+
			"\"chain\"\n  watches = %q\n\n`gcity help watchdogs` describes all keys",
			config.FileName, watchable(s))
		return nil
	case !all:
		return writeWatchdogs(e, e.Out, s.Watchdogs)
	}
	for i := range s.Watchdogs {
		if i > 0 {
			e.Sayf("")
		}
		tellWatchdog(e, &s.Watchdogs[i], l.Live)
	}
	return nil
}

// watchable returns an agent that a watchdog could watch.
func watchable(s *city.Snapshot) string {
	for i := range s.Agents {
		if s.Agents[i].Pool == "" {
			return output.SafeLine(s.Agents[i].Name)
		}
	}
	return "AGENT"
}

func watchdogTriage(e *env.Env) *cobra.Command {
	return forWatchdog(e, &cobra.Command{
		Use: "triage NAME", Short: "Run its check now", Aliases: []string{"beat"},
		Long: `triage makes a watchdog check its agent at once. It starts a triage agent, unless
one is running already; without a triage agent the age of the heartbeat decides.
The result is in: gcity watchdog status NAME`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Beat{Watchdog: w.Name})
	})
}

func watchdogAcknowledge(e *env.Env) *cobra.Command {
	return forWatchdog(e, &cobra.Command{
		Use: "acknowledge NAME", Short: "Acknowledge its call", Aliases: []string{"ack"},
		Long: `acknowledge answers a watchdog that calls for a person, which is then no longer
shown as new. The watchdog keeps checking, and calls again after its agent was
well in between.`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Acknowledge{Watchdog: w.Name, By: e.Actor()})
	})
}

// remedies lists the possible decisions.
func remedies() []string {
	return []string{string(city.RemedyStart), string(city.RemedyWake), string(city.RemedyNudge),
		string(city.RemedyNothing)}
}

func watchdogDecide(e *env.Env) *cobra.Command {
	var reason, beat, name string
	c := &cobra.Command{
		Use:   "decide start|wake|nudge|nothing",
		Short: "In a triage session: decide what the watchdog does", Args: env.Exactly(1),
		ValidArgs: remedies(),
		Long: `decide is how a triage agent ends its work. GC_WATCHDOG and GC_WATCHDOG_BEAT name the
watchdog and the check that it was started for; GC_WATCHDOG_FACTS names a JSON file with
what the check found. A person can decide too, with --watchdog.

  start     the agent is dead: stop what is left of it and start it
  wake      it has been silent for too long: type the wake text
  nudge     it is late and has mail: type the nudge text
  nothing   all is well

Exit 4: the check is over, the thresholds have decided in the meantime. Exit 3: no
controller is running.`,
		Example: `  gc watchdog decide nothing --reason 'it compiles, the screen moves'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := decision(e, args[0], reason)
			if err != nil {
				return err
			}
			if d.Watchdog, d.Beat = name, beat; name == "" {
				d.Watchdog = e.Getenv("GC_WATCHDOG")
			}
			if d.Watchdog == "" {
				return exit.Usage("no watchdog given: run this inside a triage session, which " +
					"sets GC_WATCHDOG, or use --watchdog")
			}
			if beat == "" && d.Watchdog == e.Getenv("GC_WATCHDOG") {
				d.Beat = e.Getenv("GC_WATCHDOG_BEAT")
			}
			return decide(cmd.Context(), e, d)
		},
	}
	c.Flags().StringVarP(&reason, "reason", "r", "", "why, in one sentence")
	c.Flags().StringVar(&beat, "beat", "", "the check that it decides (default: GC_WATCHDOG_BEAT)")
	c.Flags().StringVar(&name, "watchdog", "", "the watchdog (default: GC_WATCHDOG)")
	return c
}

// decision parses a decision and its reason.
func decision(e *env.Env, word, reason string) (city.Decide, error) {
	d := city.Decide{Decision: city.Remedy(word), Reason: strings.TrimSpace(reason), By: e.Actor()}
	switch d.Decision {
	case city.RemedyStart, city.RemedyWake, city.RemedyNudge, city.RemedyNothing:
	default:
		return d, exit.Usage("invalid decision %q: use one of %s", word,
			strings.Join(remedies(), ", "))
	}
	if d.Reason == "" {
		return d, exit.Usage("no reason given for %s: add one with --reason", word)
	}
	return d, nil
}

func decide(ctx context.Context, e *env.Env, d city.Decide) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	switch {
	case e.ReadOnly:
		return env.RefusedReadOnly("watchdog decide")
	case !l.Live:
		return nobodyWatches(l.Dir, fmt.Sprintf("cannot decide %[2]s for %[1]s", d.Watchdog,
			d.Decision))
	}
	return e.Do(ctx, l, d)
}
