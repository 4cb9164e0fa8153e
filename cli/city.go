package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

func (a *app) startCommand() *cobra.Command {
	var foreground, standalone, yes bool
	c := &cobra.Command{
		Use: "start", Short: "Have the supervisor of this machine run the city, and start what should run", Args: exactly(0),
		Long: `start registers the city with the supervisor, which keeps its agents alive from then
on, and starts one in the background if none runs. A city that has a service of its
own and is not registered is started by that instead. It says what was started, and
on stderr whom it waits for meanwhile, ten minutes at most.
With --standalone the city is brought once to what its configuration says, and nobody
watches its agents afterwards. With --foreground this process stays and keeps them
alive, as gcity --headless does; where there is no city.toml it offers to write one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case foreground && standalone:
				return exit.Usage("--foreground stays and --standalone does not: choose one of them")
			case yes && !foreground:
				return exit.Usage("--yes goes with --foreground")
			case foreground:
				return a.foreground(cmd.Context(), yes)
			case standalone:
				return a.settle(cmd.Context())
			}
			return a.startKept(cmd.Context(), false)
		},
	}
	c.Flags().BoolVar(&foreground, "foreground", false, "stay and keep the agents alive, without a supervisor")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "with --foreground: write a city.toml if there is none, without asking")
	c.Flags().BoolVar(&standalone, "standalone", false, "start what should run once, without a supervisor")
	return a.withSource(c)
}

// settle runs the city's machine until nothing is left to do, and says what it did.
func (a *app) settle(ctx context.Context) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	if err := a.mayStart(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	before := newestSeq(ctx, dir)
	h, err := a.openHouse(ctx, houseOptions{dir: dir, mode: "settle", logger: quietLogger(), beat: func(string) {}})
	if err != nil {
		return err
	}
	defer a.givenUp(h)
	defer h.close()
	if err := h.raiseDolt(ctx); err != nil {
		a.Warn(err.Error())
	}
	done := a.saySettling(ctx, h.loop)
	err = h.loop.Settle(ctx)
	done()
	if err != nil {
		return err
	}
	s, err := h.loop.Snapshot(ctx)
	if err != nil {
		return err
	}
	did, err := agentEventsAfter(ctx, dir, before)
	if err != nil {
		return err
	}
	return a.reportStart(s, did, "; nobody watches them now, `gcity` or `gcity --headless` does")
}

func (a *app) tellSettled(s *city.Snapshot, did []events.Event, who string) error {
	a.WriteEventLines("", did)
	for _, why := range s.Degraded {
		a.Sayf("! %s", why)
	}
	if len(did) == 0 && len(s.Degraded) == 0 {
		a.Sayf("nothing to do: the city is as its configuration says")
	}
	a.Sayf("%s%s", output.HeadCount(s), who)
	return nil
}

// newestSeq is where the log ends, 0 if there is none yet.
func newestSeq(ctx context.Context, dir string) uint64 {
	last, err := readEvents(ctx, dir, events.Query{Limit: 1})
	if err != nil || len(last) == 0 {
		return 0
	}
	return last[len(last)-1].Seq
}

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the city and its agents, whoever runs it", Args: exactly(0),
		Long: `stop ends the agents and then the controller, or without a controller the sessions
that are still alive. A city that is registered is unregistered: the supervisor does
not run it again. What it waits for it says on stderr, and until when at most:
shutdown_timeout for each link of the longest chain of depends_on, and half a
minute. Then it names what may still run, and the exit code is 1. A second stop
meanwhile takes the grace away.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what, err := a.stopCity(cmd.Context())
			if err != nil {
				return err
			}
			return a.receipt(city.Receipt{Message: what})
		},
	}
}

// stopCity ends the controller if one runs, else the sessions that are still alive.
func (a *app) stopCity(ctx context.Context) (string, error) {
	l, err := a.open(ctx)
	if err != nil {
		return "", err
	}
	defer l.close()
	if l.live {
		err := a.stopLive(ctx, l)
		if exit.IsCut(err) { // another command was faster, and whether all agents are stopped is not known
			if _, err = a.stopLeft(ctx, l.dir); exit.IsStill(err) {
				err = nil
			}
		}
		return "the city is stopped", err
	}
	if a.readOnly {
		return "", refusedReadOnly("stop")
	}
	home, e, is := a.enrolled(l.dir)
	if !is {
		return a.stopLeft(ctx, l.dir)
	}
	forgotten, err := a.dismiss(ctx, home, e) // or the supervisor would run it again
	if err != nil {
		return "", err
	}
	what, err := a.stopLeft(ctx, l.dir)
	if exit.IsStill(err) {
		return forgotten, nil
	}
	return what, err
}

// stopLeft ends the sessions of a city that no controller runs.
func (a *app) stopLeft(ctx context.Context, dir string) (string, error) {
	ended, err := endLeft(ctx, dir, a.Now, a.saySlow, nil)
	if err != nil {
		return "", err
	}
	served, err := stopDolt(ctx, dir)
	if err != nil {
		return "", err
	}
	if ended == 0 && served {
		return "no controller ran; the Dolt server of the city is stopped", nil
	}
	if ended == 0 {
		return "", exit.NotRunning("nothing of %s runs", dir)
	}
	return fmt.Sprintf("no controller ran; %s ended", output.Counted(ended, "session")), nil
}

func (a *app) restartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Stop the city and start it anew: by who ran it, else once", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			l, err := a.open(ctx)
			if err != nil {
				return err
			}
			live, dir := l.live, l.dir
			defer l.close()
			supervised, stop := a.isKept(ctx, l), a.stopCity
			switch {
			case live:
				stop = func(ctx context.Context) (string, error) {
					return "the city is stopped", a.stopLive(ctx, l)
				}
			case !supervised: // who is registered stays so
				stop = func(ctx context.Context) (string, error) { return a.stopLeft(ctx, dir) }
			}
			own := sourceOf(dir)
			a.files, a.strict = own.Files, own.Strict
			if _, err := own.Load(); err != nil {
				return err // nothing is stopped that could not start again
			}
			unit := a.servedBy(ctx, dir)
			if what, err := stop(ctx); err == nil {
				a.Sayf("%s", what)
			} else if exit.IsCut(err) {
				return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf(
					"not restarted: another command ended the city at the same time; `gcity status` shows what runs: %w", err)}
			} else if code, _ := exit.Verdict(err); code != exit.CodeNotRunning {
				return err
			}
			if supervised {
				return a.startKept(ctx, true)
			}
			if unit != nil {
				return a.startUnit(ctx, unit, dir)
			}
			if live {
				return a.handOver(dir)
			}
			return a.settle(ctx)
		},
	}
}

func (a *app) suspendCommand() *cobra.Command {
	return a.cityVerb("suspend", "Suspend the whole city: its agents stop until it is resumed", city.Suspend{})
}

func (a *app) resumeCommand() *cobra.Command {
	return a.cityVerb("resume", "Let a suspended city run again", city.Resume{})
}

func (a *app) reloadCommand() *cobra.Command {
	var confirm bool
	c := &cobra.Command{
		Use: "reload", Short: "Read the configuration now", Args: exactly(0),
		Long: `reload reads the configuration now instead of a moment later. One that would
remove more than half of the running agents is held: it is shown, the old one
stays in force, and the exit code is 4. --confirm lets it come into force, if it
is still the one that was shown.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reload(cmd.Context(), confirm) },
	}
	c.Flags().BoolVar(&confirm, "confirm", false, "let a configuration come into force that is held because it removes most agents")
	return c
}

// reload reads the configuration; where it is held, what it would do is said as well.
func (a *app) reload(ctx context.Context, confirm bool) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	err = a.do(ctx, l, city.Reload{Confirm: confirm})
	if wrong, ok := errors.AsType[*city.Error](err); ok && wrong.Code == city.Invalid {
		return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("the configuration on disk is refused, the old one stays in force:\n%w", err)}
	}
	if code, _ := exit.Verdict(err); code != exit.CodeConflict {
		return err
	}
	s, lookErr := l.Snapshot(ctx)
	if lookErr != nil || s.Config.Held == nil {
		return err
	}
	h := s.Config.Held
	lines := []string{err.Error(), "held since " + a.Clock(h.Since) + ", it would come with:"}
	for _, line := range h.Plan {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "`gcity plan` shows it agent by agent; changing the file back drops it")
	return &exit.Failure{Code: exit.CodeConflict, Err: errors.New(strings.Join(lines, "\n"))}
}

// cityVerb makes a command that does one thing to the city.
func (a *app) cityVerb(use, short string, what city.Command) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			return a.do(cmd.Context(), l, what)
		},
	}
}

// do carries a command out and says how it ended.
func (a *app) do(ctx context.Context, l *link, what city.Command) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	r, err := l.Do(ctx, what)
	if err != nil {
		return err
	}
	return a.receipt(r)
}

func (a *app) receipt(r city.Receipt) error {
	if a.JSON {
		return a.WriteJSON(r)
	}
	a.Sayf("%s", output.SafeLine(r.Message))
	return nil
}
