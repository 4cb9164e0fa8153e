package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/offline"
	"gcity/cli/service"
	"gcity/cli/workstore"
	"gcity/describe"
)

func startCommand(e *env.Env) *cobra.Command {
	var stay, standalone, yes bool
	c := &cobra.Command{
		Use: "start", Short: "Have the supervisor of this machine run the city, and start " +
			"what should run", Args: env.Exactly(0),
		Long: `start registers the city with the supervisor, which keeps its agents alive from then
on, and starts one in the background if none runs. A city that has a service of its
own and is not registered is started by that instead. It says what was started, and
on stderr whom it waits for meanwhile, ten minutes at most.
With --standalone the city is brought once to what its configuration says, and nobody
watches its agents afterwards. With --foreground this process stays and keeps them
alive, as gcity --headless does; where there is no city.toml it offers to write one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case stay && standalone:
				return exit.Usage("--foreground stays and --standalone does not: choose " +
					"one of them")
			case yes && !stay:
				return exit.Usage("--yes goes with --foreground")
			case stay:
				return foreground(cmd.Context(), e, yes)
			case standalone:
				return settle(cmd.Context(), e)
			}
			return fleet.StartKept(cmd.Context(), e, false)
		},
	}
	c.Flags().BoolVar(&stay, "foreground", false,
		"stay and keep the agents alive, without a supervisor")
	c.Flags().BoolVarP(&yes, "yes", "y", false,
		"with --foreground: write a city.toml if there is none, without asking")
	c.Flags().BoolVar(&standalone, "standalone", false,
		"start what should run once, without a supervisor")
	return env.WithSource(e, c)
}

// settle runs the city's machine until nothing is left to do, and says what it did.
func settle(ctx context.Context, e *env.Env) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	if err := consent.MayStart(e, dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	before := folder.NewestSeq(ctx, dir)
	h, err := host.OpenHouse(ctx, e, host.HouseOptions{Dir: dir, Mode: "settle",
		Logger: folder.QuietLogger(), Beat: func(string) {}})
	if err != nil {
		return err
	}
	defer host.GivenUp(e, h)
	defer h.GiveBack()
	if err := h.RaiseDolt(ctx); err != nil {
		e.Warn(err.Error())
	}
	done := env.SaySettling(ctx, e, h.Loop)
	err = h.Loop.Settle(ctx)
	done()
	if err != nil {
		return err
	}
	s, err := h.Loop.Snapshot(ctx)
	if err != nil {
		return err
	}
	did, err := fleet.AgentEventsAfter(ctx, dir, before)
	if err != nil {
		return err
	}
	return fleet.ReportStart(e, s, did, "; nobody watches them now, `gcity` or `gcity "+
		"--headless` does")
}

func stopCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the city and its agents, whoever runs it", Args: env.Exactly(0),
		Long: `stop ends the agents and then the controller, or without a controller the sessions
that are still alive. A city that is registered is unregistered: the supervisor does
not run it again. What it waits for it says on stderr, and until when at most:
shutdown_timeout for each link of the longest chain of depends_on, and half a
minute. Then it names what may still run, and the exit code is 1. A second stop
meanwhile takes the grace away.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what, err := stopCity(cmd.Context(), e)
			if err != nil {
				return err
			}
			return e.Receipt(city.Receipt{Message: what})
		},
	}
}

// stopCity ends the controller if one runs, else the sessions that are still alive.
func stopCity(ctx context.Context, e *env.Env) (string, error) {
	l, err := e.Open(ctx)
	if err != nil {
		return "", err
	}
	defer l.Close()
	if l.Live {
		err := stopLive(ctx, e, l)
		// another command was faster, and whether all agents are stopped is not known
		if exit.IsCut(err) {
			if _, err = stopLeft(ctx, e, l.Dir); exit.IsStill(err) {
				err = nil
			}
		}
		return "the city is stopped", err
	}
	if e.ReadOnly {
		return "", env.RefusedReadOnly("stop")
	}
	home, entry, is := fleet.Enrolled(e, l.Dir)
	if !is {
		return stopLeft(ctx, e, l.Dir)
	}
	forgotten, err := fleet.Dismiss(ctx, e, home, entry) // or the supervisor would run it again
	if err != nil {
		return "", err
	}
	what, err := stopLeft(ctx, e, l.Dir)
	if exit.IsStill(err) {
		return forgotten, nil
	}
	return what, err
}

// stopLeft ends the sessions of a city that no controller runs.
func stopLeft(ctx context.Context, e *env.Env, dir string) (string, error) {
	ended, err := offline.EndLeft(ctx, dir, e.Now, e.SaySlow, nil)
	if err != nil {
		return "", err
	}
	served, err := workstore.StopDolt(ctx, dir)
	if err != nil {
		return "", err
	}
	if ended == 0 && served {
		return "no controller ran; the Dolt server of the city is stopped", nil
	}
	if ended == 0 {
		return "", exit.NotRunning("nothing of %s runs", dir)
	}
	return fmt.Sprintf("no controller ran; %s ended", describe.Count(ended, "session")), nil
}

func restartCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Stop the city and start it anew: by who ran it, else once",
		Args: env.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			l, err := e.Open(ctx)
			if err != nil {
				return err
			}
			live, dir := l.Live, l.Dir
			defer l.Close()
			supervised, stop := fleet.IsKept(ctx, e, l),
				func(ctx context.Context) (string, error) { return stopCity(ctx, e) }
			switch {
			case live:
				stop = func(ctx context.Context) (string, error) {
					return "the city is stopped", stopLive(ctx, e, l)
				}
			case !supervised: // who is registered stays so
				stop = func(ctx context.Context) (string, error) { return stopLeft(ctx, e, dir) }
			}
			own := folder.SourceOf(dir)
			e.Files, e.Strict = own.Files, own.Strict
			if _, err := own.Load(); err != nil {
				return err // nothing is stopped that could not start again
			}
			unit := service.ServedBy(ctx, e, dir)
			if what, err := stop(ctx); err == nil {
				e.Sayf("%s", what)
			} else if exit.IsCut(err) {
				return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf(
					"not restarted: another command ended the city at the same time; `gcity "+
						"status` shows what runs: %w", err)}
			} else if code, _ := exit.Verdict(err); code != exit.CodeNotRunning {
				return err
			}
			if supervised {
				return fleet.StartKept(ctx, e, true)
			}
			if unit != nil {
				return service.StartUnit(ctx, e, unit, dir)
			}
			if live {
				return handOver(e, dir)
			}
			return settle(ctx, e)
		},
	}
}

func suspendCommand(e *env.Env) *cobra.Command {
	return env.CityVerb(e, "suspend", "Suspend the whole city: its agents stop until it is resumed",
		city.Suspend{})
}

func resumeCommand(e *env.Env) *cobra.Command {
	return env.CityVerb(e, "resume", "Let a suspended city run again", city.Resume{})
}

func reloadCommand(e *env.Env) *cobra.Command {
	var confirm bool
	c := &cobra.Command{
		Use: "reload", Short: "Read the configuration now", Args: env.Exactly(0),
		Long: `reload reads the configuration now instead of a moment later. One that would
remove more than half of the running agents is held: it is shown, the old one
stays in force, and the exit code is 4. --confirm lets it come into force, if it
is still the one that was shown.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reload(cmd.Context(), e,
				confirm)
		},
	}
	c.Flags().BoolVar(&confirm, "confirm", false,
		"let a configuration come into force that is held because it removes most agents")
	return c
}

// reload reads the configuration; where it is held, what it would do is said as well.
func reload(ctx context.Context, e *env.Env, confirm bool) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	err = e.Do(ctx, l, city.Reload{Confirm: confirm})
	if wrong, ok := errors.AsType[*city.Error](err); ok && wrong.Code == city.Invalid {
		return &exit.Failure{Code: exit.CodeConfig,
			Err: fmt.Errorf("the configuration on disk is refused, the old one stays in force:\n%w",
				err)}
	}
	if code, _ := exit.Verdict(err); code != exit.CodeConflict {
		return err
	}
	s, lookErr := l.Snapshot(ctx)
	if lookErr != nil || s.Config.Held == nil {
		return err
	}
	h := s.Config.Held
	lines := []string{err.Error(), "held since " + e.Clock(h.Since) + ", it would come with:"}
	for _, line := range h.Plan {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "`gcity plan` shows it agent by agent; changing the file back drops it")
	return &exit.Failure{Code: exit.CodeConflict, Err: errors.New(strings.Join(lines, "\n"))}
}
