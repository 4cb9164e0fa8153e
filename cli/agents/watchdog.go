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
	"gcity/internal/suggest"
)

// WatchdogCommand returns the watchdog command.
func WatchdogCommand(e *env.Env) *cobra.Command {
	list := listCommand(e, "List all watchdogs: the watched agent, the age of its heartbeat, the "+
		"last decision", func(l *env.Link, s *city.Snapshot) error {
		return watchdogs(e, l, s, false)
	})
	c := env.Group("watchdog",
		"Show agents' health checks, run one now, acknowledge calls",
		list, watchdogStatus(e), watchdogTriage(e), watchdogDecide(e), watchdogAcknowledge(e))
	c.Long = `watchdog shows the watchdogs of a city. Each watches one agent: at intervals it checks
whether the agent is running, how old its heartbeat is, and whether it has unread
mail. Then a triage agent, or the age of the heartbeat alone, decides what to do. If
several actions have no effect, the watchdog calls a user for help.
"gcity help watchdogs" describes the rules. These lines in city.toml declare a watchdog:

  [[watchdogs]]
  name    = "chain"
  watches = "AGENT"`
	return c
}

func forWatchdog(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, l *env.Link, w *city.Watchdog) error) *cobra.Command {
	return env.Changes(e, forObject(e, c, suggest.Watchdog,
		func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
			if !l.Live {
				return l.NoController("cannot " + c.Name() + " " + c.Flags().Arg(0))
			}
			return run(ctx, l, f.Watchdog)
		}))
}

func watchdogStatus(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "status [NAME]", Short: "Show all details of one watchdog, or of all",
		ValidArgsFunction: env.Complete(e, suggest.Watchdog),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return withSnapshot(cmd.Context(), e, func(l *env.Link, s *city.Snapshot) error {
					return watchdogs(e, l, s, true)
				})
			}
			return withNamed(cmd.Context(), e, args[0], func(l *env.Link, f env.Found) error {
				if e.JSON {
					return e.WriteJSON(f.Watchdog)
				}
				printWatchdog(e, f.Watchdog, l)
				return nil
			}, suggest.Watchdog)
		},
	}
}

func watchdogs(e *env.Env, l *env.Link, s *city.Snapshot, all bool) error {
	switch {
	case e.JSON:
		return e.WriteJSON(output.ListOf(s.Watchdogs))
	case len(s.Watchdogs) == 0:
		e.Sayf("no watchdogs; these lines in %s declare one:\n\n  [[watchdogs]]\n  name    = "+
			"\"chain\"\n  watches = %q\n\n`gcity help watchdogs` describes all keys",
			config.FileName, watchable(s))
		return nil
	case !all:
		return writeWatchdogs(e, s.Watchdogs)
	}
	for i := range s.Watchdogs {
		if i > 0 {
			e.Sayf("")
		}
		printWatchdog(e, &s.Watchdogs[i], l)
	}
	return nil
}

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
		Use: "triage NAME", Short: "Run a watchdog's check now", Aliases: []string{"beat"},
		Long: `triage makes a watchdog check its agent immediately. It starts a triage agent, unless
one is already running. If the watchdog has no triage agent, the age of the heartbeat
decides. "gcity watchdog status NAME" shows the result.`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Beat{Watchdog: w.Name})
	})
}

func watchdogAcknowledge(e *env.Env) *cobra.Command {
	return forWatchdog(e, &cobra.Command{
		Use: "acknowledge NAME", Short: "Acknowledge a watchdog's call",
		Aliases: []string{"ack"},
		Long: `acknowledge marks a watchdog's call as seen, so that it is no longer shown as new.
The watchdog keeps checking its agent. It calls again only if the agent recovers and
then fails again.`,
	}, func(ctx context.Context, l *env.Link, w *city.Watchdog) error {
		return e.Do(ctx, l, city.Acknowledge{Watchdog: w.Name, By: e.Actor()})
	})
}

func remedies() []string {
	return []string{string(city.RemedyStart), string(city.RemedyWake), string(city.RemedyNudge),
		string(city.RemedyNothing)}
}

func watchdogDecide(e *env.Env) *cobra.Command {
	var reason, beat, name string
	c := &cobra.Command{
		Use:       "decide start|wake|nudge|nothing",
		Short:     "In a triage session: decide what the watchdog does",
		ValidArgs: remedies(),
		Long: `decide is a triage agent's last step. GC_WATCHDOG and GC_WATCHDOG_BEAT name the
watchdog and the check that the agent was started for. GC_WATCHDOG_FACTS names a JSON
file with the findings of that check. A user can decide too, with --watchdog.

  start     the agent is dead: end its session and start the agent again
  wake      the heartbeat is very stale: type the wake text
  nudge     the heartbeat is stale and the agent has mail: type the nudge text
  nothing   the agent needs no help

The exit code is 4 if the thresholds have already decided, and 3 if no controller is
running.`,
		Example: `  gc watchdog decide nothing --reason 'still compiling; the screen changes'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := decision(e, args[0], reason)
			if err != nil {
				return err
			}
			if d.Watchdog, d.Beat = name, beat; name == "" {
				d.Watchdog = e.Getenv("GC_WATCHDOG")
			}
			if d.Watchdog == "" {
				return exit.Usage("no watchdog given: use --watchdog, or run this inside a " +
					"triage session, which sets GC_WATCHDOG")
			}
			if beat == "" && d.Watchdog == e.Getenv("GC_WATCHDOG") {
				d.Beat = e.Getenv("GC_WATCHDOG_BEAT")
			}
			return decide(cmd.Context(), e, d)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&reason, "reason", "r", "", "the reason, in one sentence")
	flags.StringVar(&beat, "beat", "", "the check to decide on (default: GC_WATCHDOG_BEAT)")
	flags.StringVar(&name, "watchdog", "", "the watchdog to decide for (default: GC_WATCHDOG)")
	return env.Changes(e, c)
}

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
	if !l.Live {
		return l.NoController(fmt.Sprintf("cannot record the decision %[2]s for %[1]s",
			d.Watchdog, d.Decision))
	}
	return e.Do(ctx, l, d)
}
