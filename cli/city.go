package cli

import (
	"context"
	"strings"
	"sync"
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
		Use: "start", Short: "Start the city with this machine's supervisor",
		Long: `start registers the city with the supervisor, which keeps its agents running. It
starts a supervisor in the background if needed. If the city is not registered and
has its own service, start starts that service instead. It prints on stdout what
it started, and on stderr which agents it is waiting for. It waits at most ten minutes.
With --standalone gcity starts the agents once and exits; it does not restart
agents that exit later. With --foreground gcity stays in the foreground and keeps
the agents running, as gcity --headless does; without a city.toml, it offers to write
one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case stay && standalone:
				return exit.Usage("--foreground and --standalone are mutually exclusive; " +
					"use only one of them")
			case yes && !stay:
				return exit.Usage("--yes works only with --foreground")
			case stay:
				return foreground(cmd.Context(), e, yes)
			case standalone:
				return settle(cmd.Context(), e)
			}
			return fleet.StartInBackground(cmd.Context(), e, false)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&stay, "foreground", false,
		"stay in the foreground and keep the agents running, without a supervisor")
	flags.BoolVarP(&yes, "yes", "y", false,
		"with --foreground: if city.toml is missing, write it without asking")
	flags.BoolVar(&standalone, "standalone", false,
		"start the agents once and exit, without a supervisor")
	return env.WithSource(e, env.Changes(e, c))
}

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
	h, err := host.OpenCity(ctx, e, host.CityOptions{Dir: dir, Mode: "settle",
		Logger: folder.QuietLogger(), Beat: func(string) {}})
	if err != nil {
		return err
	}
	defer host.WarnUnfinished(e, h)
	defer h.ReleaseAll()
	if err := h.StartDolt(ctx); err != nil {
		e.Warn(err.Error())
	}
	done := env.SaySettling(ctx, e, h.Loop)
	err = h.Loop.RunOnce(ctx)
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
	return fleet.ReportStart(e, s, did, "; no controller is running, so agents that exit will "+
		"not be restarted; run `gcity start` to keep them running")
}

func stopCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the city and its agents, however it was started",
		Long: `stop stops the agents and then the controller. If no controller is running, it
stops the sessions, automation runs and checks that are still alive. If a supervisor is
running, stop unregisters the city, so that the supervisor does not start it again;
"gcity start" registers and starts it again. While it waits, it prints on stderr what
it is waiting for and the time limit: shutdown_timeout for each link of the longest
chain of depends_on, plus 30s. After that limit it lists what might still be
running and exits with code 1. Running stop again in the meantime kills the agents
immediately.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what, err := stopCity(cmd.Context(), e)
			if err != nil {
				return err
			}
			return e.Receipt(city.Receipt{Message: what})
		},
	}
}

func stopCity(ctx context.Context, e *env.Env) (string, error) {
	l, err := e.Open(ctx)
	if err != nil {
		return "", err
	}
	defer l.Close()
	if e.ReadOnly {
		return "", env.ReadOnlyError("stop")
	}
	if l.Live {
		return stopRunning(ctx, e, l)
	}
	home, entry, is := fleet.Enrolled(e, l.Dir)
	if _, runs := host.FindSupervisor(e); !is || !runs {
		return stopOrphans(ctx, e, l.Dir)
	}
	// unregister the city; otherwise the supervisor would start it again
	forgotten, err := fleet.UnregisterAndWait(ctx, e, home, entry)
	if err != nil {
		return "", err
	}
	what, err := stopOrphans(ctx, e, l.Dir)
	if exit.IsStopped(err) {
		return forgotten + "; " + fleet.HowToReturn, nil
	}
	return what + "; " + fleet.Forgotten, err
}

func stopRunning(ctx context.Context, e *env.Env, l *env.Link) (string, error) {
	_, _, is := fleet.Enrolled(e, l.Dir)
	again := func() string { return "" }
	if !is {
		again = askHowToStart(ctx, e, l)
	}
	err := stopLive(ctx, e, l)
	// another stop command ended the controller, so some agents might still be running
	if exit.IsInterrupted(err) {
		if _, err = stopOrphans(ctx, e, l.Dir); exit.IsStopped(err) {
			err = nil
		}
	}
	how := again()
	switch {
	case err != nil:
		return "", err
	case !is:
		return "the city is stopped; " + describe.StartsAgain(how), nil
	}
	return fleet.ForgetStopped(ctx, e, l.Dir)
}

// askHowToStart asks the controller for its mode in the background, so as not to delay the stop. The returned function
// must be called after the stop. It returns the command that starts the city again in that mode.
func askHowToStart(ctx context.Context, e *env.Env, l *env.Link) func() string {
	ctx, cancel := context.WithTimeout(ctx, exitTimeout)
	mode := ""
	var asks sync.WaitGroup
	asks.Go(func() {
		if s, err := folder.BriefSnapshot(ctx, l.Control); err == nil {
			mode = s.Mode
		}
	})
	return func() string {
		asks.Wait()
		cancel()
		if mode == "headless" && len(service.Units(e, "city", l.Dir)) > 0 {
			return "gcity daemon start" + cityFlag(l.Dir)
		}
		return describe.StartCommand(mode) + cityFlag(l.Dir)
	}
}

func stopOrphans(ctx context.Context, e *env.Env, dir string) (string, error) {
	did, err := offline.StopOrphans(ctx, dir, e.Now, e.SaySlow, nil)
	if err != nil {
		return "", err
	}
	served, err := workstore.StopDolt(ctx, dir)
	if err != nil {
		return "", err
	}
	var what []string
	if did.Sessions > 0 {
		what = append(what, describe.Count(did.Sessions, "session"))
	}
	if did.Runs > 0 {
		what = append(what, describe.Processes(did.Runs)+" of automation runs or checks")
	}
	switch {
	case len(what) > 0:
		return "no controller was running; stopped " + strings.Join(what, " and "), nil
	case served:
		return "no controller was running; stopped the city's Dolt server", nil
	}
	return "", exit.NotRunning("nothing is running for %s", dir)
}

func restartCommand(e *env.Env) *cobra.Command {
	return env.Changes(e, &cobra.Command{
		Use: "restart", Short: "Stop the city and start it again in the same way",
		Long: `restart stops the city and starts it in the way it was running: with the supervisor,
with its own service, or in the background. If the city was not running, restart
starts its agents once, as gcity start --standalone does.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			l, err := e.Open(ctx)
			if err != nil {
				return err
			}
			live, dir := l.Live, l.Dir
			defer l.Close()
			supervised, stop := fleet.IsManaged(ctx, e, l),
				func(ctx context.Context) (string, error) { return stopCity(ctx, e) }
			switch {
			case live:
				stop = func(ctx context.Context) (string, error) {
					return "the city is stopped", stopLive(ctx, e, l)
				}
			case !supervised: // unlike stopCity, stopOrphans does not unregister the city
				stop = func(ctx context.Context) (string, error) { return stopOrphans(ctx, e, dir) }
			}
			own := folder.SourceOf(dir)
			e.Files, e.Strict = own.Files, own.Strict
			if err := consent.MayStart(e, dir); err != nil {
				return err // do not stop a city that could not start again
			}
			unit := service.ServedBy(ctx, e, dir)
			if live && !supervised && unit == nil && host.CannotSpawn() {
				return exit.Errorf(exit.CodeConflict, "not restarted: a controller started from "+
					"within an agent or an automation would end with it; run `gcity restart` in "+
					"a terminal")
			}
			if what, err := stop(ctx); err == nil {
				e.Sayf("%s", what)
			} else if exit.IsInterrupted(err) {
				return exit.Errorf(exit.CodeConflict, "not restarted: another command stopped "+
					"the city at the same time (%w); `gcity status` shows what is running", err)
			} else if code, _ := exit.Verdict(err); code != exit.CodeNotRunning {
				return err
			}
			if supervised {
				return fleet.StartInBackground(ctx, e, true)
			}
			if unit != nil {
				return service.StartUnit(ctx, e, unit, dir)
			}
			if live {
				return handOver(e, dir)
			}
			return settle(ctx, e)
		},
	})
}

func suspendCommand(e *env.Env) *cobra.Command {
	c := env.CityVerb(e, "suspend", "Suspend the whole city: its agents stop until it is resumed",
		city.Suspend{})
	c.Long = `suspend sets suspended = true in the [workspace] table of city.toml. All agents stop
and stay stopped until "gcity resume". The controller keeps running. To stop the
controller too, use "gcity stop".`
	return c
}

func resumeCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Resume a suspended city",
		Long: `resume removes suspended = true from the [workspace] table of city.toml. Agents start
again unless their own setting, or that of their pool or rig, suspends them.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := e.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.Close()
			before, unknown := l.Snapshot(cmd.Context())
			// the controller might not have loaded an edit of the file yet
			file, invalid := folder.LoadCityOf(l.Dir, before)
			r, err := e.Request(cmd.Context(), l, city.Resume{})
			if err != nil {
				return err
			}
			if unknown == nil && !before.Suspended &&
				(invalid != nil || !file.Workspace.Suspended) {
				r.Message = "the city is not suspended"
			}
			return e.Receipt(r)
		},
	}
}

func reloadCommand(e *env.Env) *cobra.Command {
	var confirm bool
	c := &cobra.Command{
		Use: "reload", Short: "Reload the configuration now",
		Long: `reload reads the configuration and the automations immediately. It also retries
the agents that could not start, for example because a program was missing.
A configuration that would remove more than half of the running agents is held:
reload prints what it would change, the previous configuration stays in force,
and the exit code is 4. --confirm applies the held configuration if it has not
changed since.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reload(cmd.Context(), e, confirm)
		},
	}
	c.Flags().BoolVar(&confirm, "confirm", false,
		"apply a held configuration, which would remove more than half of the running agents")
	return c
}

func reload(ctx context.Context, e *env.Env, confirm bool) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	err = e.Do(ctx, l, city.Reload{Confirm: confirm})
	if city.HasCode(err, city.Invalid) {
		return exit.Errorf(exit.CodeConfig, "the configuration on disk is invalid, so the "+
			"previous one stays in force:\n%w", err)
	}
	if code, _ := exit.Verdict(err); code != exit.CodeConflict {
		return err
	}
	s, lookErr := l.Snapshot(ctx)
	if lookErr != nil || s.Config.Held == nil {
		return err
	}
	h := s.Config.Held
	lines := []string{err.Error(), "held since " + e.Clock(h.Since) +
		"; the held configuration would make these changes:"}
	for _, line := range h.Plan {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "run `gcity plan` to see each change with its reason; restore the file "+
		"to discard the changes")
	return exit.Errorf(exit.CodeConflict, "%s", strings.Join(lines, "\n"))
}
