package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
)

func (a *app) watchdogCommand() *cobra.Command {
	c := group("watchdog", "Who looks after agents: how that is, look now, answer a call",
		a.watchdogList(), a.watchdogStatus(), a.watchdogTriage(), a.watchdogDecide(), a.watchdogAcknowledge())
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

// forWatchdog gives a command its deed: run gets the open city, which a controller runs, and the watchdog of the only argument.
func (a *app) forWatchdog(c *cobra.Command, run func(ctx context.Context, l *link, w *city.Watchdog) error) *cobra.Command {
	c.Args, c.ValidArgsFunction = exactly(1), a.complete(kindWatchdog)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		switch {
		case a.readOnly:
			return refusedReadOnly("watchdog " + cmd.Name())
		case !l.live:
			return nobodyWatches(l.dir, "cannot "+cmd.Name()+" "+args[0])
		}
		f, err := l.resolve(cmd.Context(), args[0], kindWatchdog)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, f.watchdog)
	}
	return c
}

// nobodyWatches says that watchdogs are the controller's.
func nobodyWatches(dir, what string) error {
	return exit.NotRunning("%s: no controller runs %s, so nobody watches; start it with `gcity` or `gcity --headless`", what, dir)
}

func (a *app) watchdogList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "All watchdogs: whom they watch, how fresh that is, what was decided last", Args: exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.watchdogs(cmd.Context(), false) },
	}
}

func (a *app) watchdogStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status [NAME]", Short: "Everything known about a watchdog, or about all", Args: between(0, 1),
		ValidArgsFunction: a.complete(kindWatchdog),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.watchdogs(cmd.Context(), true)
			}
			l, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			f, err := l.resolve(cmd.Context(), args[0], kindWatchdog)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.WriteJSON(f.watchdog)
			}
			a.tellWatchdog(f.watchdog, l.live)
			return nil
		},
	}
}

// watchdogsOf are those of a configuration, as long as nobody looks: how the watched are is not known.
func watchdogsOf(c *config.City) []city.Watchdog {
	var out []city.Watchdog
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		d := city.Watchdog{Name: w.Qualified(), Watches: w.Watches, Triage: w.Triage, Every: w.Every, Fresh: w.Fresh, VeryStale: w.VeryStale,
			Mode: city.ByThresholds, Source: w.Origin.String()}
		if w.Triage != "" {
			d.Mode, d.TTL = city.ByTriage, w.TriageTTL
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y city.Watchdog) int { return city.CompareNames(x.Name, y.Name) })
	return out
}

// watchdogs lists all, or tells all that is known of each.
func (a *app) watchdogs(ctx context.Context, all bool) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	s, err := l.Snapshot(ctx)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.WriteJSON(output.ListOf(s.Watchdogs))
	case len(s.Watchdogs) == 0:
		a.Sayf("no watchdogs; this in %s makes one:\n\n  [[watchdogs]]\n  name    = \"chain\"\n  watches = %q\n\ndocs/watchdogs.md tells of all keys",
			config.FileName, watchable(s))
		return nil
	case !all:
		return a.writeWatchdogs(a.Out, s.Watchdogs)
	}
	for i := range s.Watchdogs {
		if i > 0 {
			a.Sayf("")
		}
		a.tellWatchdog(&s.Watchdogs[i], l.live)
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

func (a *app) watchdogTriage() *cobra.Command {
	return a.forWatchdog(&cobra.Command{
		Use: "triage NAME", Short: "Look now, past its interval", Aliases: []string{"beat"},
		Long: `triage has a watchdog look at once: with a triage agent that is started for this
beat, unless one is at work already; without one the ages decide. What came of it
is told by: gcity watchdog status NAME`,
	}, func(ctx context.Context, l *link, w *city.Watchdog) error {
		return a.do(ctx, l, city.Beat{Watchdog: w.Name})
	})
}

func (a *app) watchdogAcknowledge() *cobra.Command {
	return a.forWatchdog(&cobra.Command{
		Use: "acknowledge NAME", Short: "Say that you have seen its call", Aliases: []string{"ack"},
		Long: `acknowledge answers a watchdog that calls for a person: it is not shown as new any
more. The watchdog goes on looking, and calls again when it was better in between.`,
	}, func(ctx context.Context, l *link, w *city.Watchdog) error {
		return a.do(ctx, l, city.Acknowledge{Watchdog: w.Name, By: a.actor()})
	})
}

// remedies are what may be decided.
func remedies() []string {
	return []string{string(city.RemedyStart), string(city.RemedyWake), string(city.RemedyNudge), string(city.RemedyNothing)}
}

func (a *app) watchdogDecide() *cobra.Command {
	var reason, beat, name string
	c := &cobra.Command{
		Use: "decide start|wake|nudge|nothing", Short: "From inside a triage session: what the beat is to do", Args: exactly(1), ValidArgs: remedies(),
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
			d, err := a.decision(args[0], reason)
			if err != nil {
				return err
			}
			if d.Watchdog, d.Beat = name, beat; name == "" {
				d.Watchdog = a.Getenv("GC_WATCHDOG")
			}
			if d.Watchdog == "" {
				return exit.Usage("whose beat is decided? Run this inside a triage session, where GC_WATCHDOG says it, or name it with --watchdog")
			}
			if beat == "" && d.Watchdog == a.Getenv("GC_WATCHDOG") {
				d.Beat = a.Getenv("GC_WATCHDOG_BEAT")
			}
			return a.decide(cmd.Context(), d)
		},
	}
	c.Flags().StringVarP(&reason, "reason", "r", "", "why, in a sentence")
	c.Flags().StringVar(&beat, "beat", "", "the beat that was judged (else GC_WATCHDOG_BEAT)")
	c.Flags().StringVar(&name, "watchdog", "", "the watchdog (else GC_WATCHDOG)")
	return c
}

// decision reads a decision and why it was made.
func (a *app) decision(word, reason string) (city.Decide, error) {
	d := city.Decide{Decision: city.Remedy(word), Reason: strings.TrimSpace(reason), By: a.actor()}
	switch d.Decision {
	case city.RemedyStart, city.RemedyWake, city.RemedyNudge, city.RemedyNothing:
	default:
		return d, exit.Usage("%q is no decision: it is one of %s", word, strings.Join(remedies(), ", "))
	}
	if d.Reason == "" {
		return d, exit.Usage("why %s? Say it with --reason, for whoever looks at it later", word)
	}
	return d, nil
}

func (a *app) decide(ctx context.Context, d city.Decide) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	switch {
	case a.readOnly:
		return refusedReadOnly("watchdog decide")
	case !l.live:
		return nobodyWatches(l.dir, fmt.Sprintf("nobody hears that %s is to %s", d.Watchdog, d.Decision))
	}
	return a.do(ctx, l, d)
}
