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
	c := env.Group("watchdog", "Who looks after agents: how that is, look now, answer a call",
		watchdogList(e), watchdogStatus(e), watchdogTriage(e), watchdogDecide(e),
		watchdogAcknowledge(e))
	c.Long = `watchdog looks at the tiers of a city: each watches one agent, and finds out at
intervals whether it lives, how old its heartbeat is and whether mail waits for it.
What is done then is decided by a triage agent that is started for it, or by the
ages alone. After several wakes in vain a person is called. docs/watchdogs.md tells
of the rules; this declares one:

  [[watchdogs]]
  name    = "chain"
  watches = "AGENT"`
	return c
}

// forWatchdog gives a command its deed: run gets the open city, which a controller runs, and the watchdog of the only
// argument.
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

// nobodyWatches says that watchdogs are the controller's.
func nobodyWatches(dir, what string) error {
	return exit.NotRunning("%s: no controller runs %s, so nobody watches; start it with `gcity` "+
		"or `gcity --headless`", what, dir)
}

func watchdogList(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "All watchdogs: whom they watch, how fresh that is, what was " +
			"decided last", Args: env.Exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return watchdogs(cmd.Context(), e,
				false)
		},
	}
}

func watchdogStatus(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "status [NAME]", Short: "Everything known about a watchdog, or about all",
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

// watchdogs lists all, or tells all that is known of each.
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
		e.Sayf("no watchdogs; this in %s makes one:\n\n  [[watchdogs]]\n  name    = \"chain\"\n  "+
			"watches = %q\n\ndocs/watchdogs.md tells of all keys",
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

// watchable is an agent that a watchdog might watch.
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
		Use: "triage NAME", Short: "Look now, past its interval", Aliases: []string{"beat"},
		Long: `triage has a watchdog look at once: with a triage agent that is started for this
beat, unless one is at work already; without one the ages decide. What came of it
is told by: gcity watchdog status NAME`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Beat{Watchdog: w.Name})
	})
}

func watchdogAcknowledge(e *env.Env) *cobra.Command {
	return forWatchdog(e, &cobra.Command{
		Use: "acknowledge NAME", Short: "Say that you have seen its call", Aliases: []string{"ack"},
		Long: `acknowledge answers a watchdog that calls for a person: it is not shown as new any
more. The watchdog goes on looking, and calls again when it was better in between.`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Acknowledge{Watchdog: w.Name, By: e.Actor()})
	})
}

// remedies are what may be decided.
func remedies() []string {
	return []string{string(city.RemedyStart), string(city.RemedyWake), string(city.RemedyNudge),
		string(city.RemedyNothing)}
}

func watchdogDecide(e *env.Env) *cobra.Command {
	var reason, beat, name string
	c := &cobra.Command{
		Use:   "decide start|wake|nudge|nothing",
		Short: "From inside a triage session: what the beat is to do", Args: env.Exactly(1),
		ValidArgs: remedies(),
		Long: `decide is how a triage agent ends its work: the watchdog and the beat that it was
started for are in GC_WATCHDOG and GC_WATCHDOG_BEAT, what was seen in the JSON file
that GC_WATCHDOG_FACTS names. A person may decide too, with --watchdog.

  start     it is dead: have it started, what is left of it ended first
  wake      it has been silent for too long: type the wake text
  nudge     it is late, and mail waits: type the nudge text
  nothing   all is well

Exit 4: that beat is over, the ages have decided in the meantime. 3: no controller
runs, so nobody hears it.`,
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
				return exit.Usage("whose beat is decided? Run this inside a triage session, " +
					"where GC_WATCHDOG says it, or name it with --watchdog")
			}
			if beat == "" && d.Watchdog == e.Getenv("GC_WATCHDOG") {
				d.Beat = e.Getenv("GC_WATCHDOG_BEAT")
			}
			return decide(cmd.Context(), e, d)
		},
	}
	c.Flags().StringVarP(&reason, "reason", "r", "", "why, in a sentence")
	c.Flags().StringVar(&beat, "beat", "", "the beat that was judged (else GC_WATCHDOG_BEAT)")
	c.Flags().StringVar(&name, "watchdog", "", "the watchdog (else GC_WATCHDOG)")
	return c
}

// decision reads a decision and why it was made.
func decision(e *env.Env, word, reason string) (city.Decide, error) {
	d := city.Decide{Decision: city.Remedy(word), Reason: strings.TrimSpace(reason), By: e.Actor()}
	switch d.Decision {
	case city.RemedyStart, city.RemedyWake, city.RemedyNudge, city.RemedyNothing:
	default:
		return d, exit.Usage("%q is no decision: it is one of %s", word,
			strings.Join(remedies(), ", "))
	}
	if d.Reason == "" {
		return d, exit.Usage("why %s? Say it with --reason, for whoever looks at it later", word)
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
		return nobodyWatches(l.Dir, fmt.Sprintf("nobody hears that %s is to %s", d.Watchdog,
			d.Decision))
	}
	return e.Do(ctx, l, d)
}
