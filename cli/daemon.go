package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/describe"
)

func daemonCommand(e *env.Env) *cobra.Command {
	yes := false
	run := env.WithSource(e, &cobra.Command{
		Use: "run", Short: "Run the city without a control room (the same as gcity start " +
			"--foreground)",
		Long: `run keeps the city's agents running until the city is stopped. It logs to stderr
and to .gc/controller.log. Without a city.toml, it offers to write one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return foreground(cmd.Context(), e, yes)
		},
	})
	run.Flags().BoolVarP(&yes, "yes", "y", false,
		"if city.toml is missing, write it without asking")
	start := env.WithSource(e, env.Changes(e, &cobra.Command{
		Use: "start", Short: "Start the city in the background, through its service if it has one",
		RunE: e.Runs(daemonStart),
	}))
	stop := stopCommand(e)
	stop.Short = "The same as gcity stop"
	status := &cobra.Command{
		Use: "status", Short: "Show the process that runs the city, and its service",
		RunE: e.Runs(service.DaemonStatus),
	}
	lines := 100
	logs := &cobra.Command{
		Use: "logs", Short: "Print the log of the city's controller",
		Long: `logs prints the newest lines of .gc/controller.log. Every controller of the city
writes to that file, however it was started. If the city has a service, logs also
prints the command that shows the service's journal.`,
		RunE: func(*cobra.Command, []string) error { return service.DaemonLogs(e, lines) },
	}
	logs.Flags().VarP(env.Number(&lines, 1), "lines", "n", "print at most this many lines")
	return env.Group("daemon", "Run the city in the background or as a service",
		append([]*cobra.Command{run, start, stop, status, env.TextOnly(e, logs)},
			service.ServiceCommands(e, service.CityService(e))...)...)
}

func daemonStart(ctx context.Context, e *env.Env) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	if err := awaitExit(ctx, e, dir); err != nil {
		return err
	}
	for _, u := range service.Units(e, "city", dir) {
		if len(e.Files) > 0 || e.Strict {
			return exit.Usage("-f and --strict come from the service's unit file; to change " +
				"them, run `gcity daemon install` again with the new flags")
		}
		err := service.StartUnit(ctx, e, u, dir)
		if !errors.Is(err, service.ErrUnreachable) {
			return err
		}
		service.WarnNoService(e, u, err)
		break
	}
	return withOrphans(ctx, dir, handOver(e, dir))
}

// withOrphans adds to the error of a failed start that agents run without a controller.
func withOrphans(ctx context.Context, dir string, err error) error {
	if err == nil {
		return nil
	}
	code, why := exit.Verdict(err)
	if held, _ := folder.IsHeld(dir); held || code == exit.CodeConflict {
		return err
	}
	if n, failed := offline.CountOrphans(ctx, dir); failed == nil && n > 0 {
		return exit.Errorf(code, "%s\nno controller is running, but %s kept running; `gcity%s "+
			"daemon start` starts a controller", why, describe.Count(n, "agent"),
			output.SafeText(cityFlag(dir)))
	}
	return err
}

// awaitExit waits for a controller that is ending, and returns an error if a controller keeps running.
func awaitExit(ctx context.Context, e *env.Env, dir string) error {
	done := e.SayVerySlow(ctx, "the controller to release the city", folder.ReleaseLimit)
	defer done()
	for stopping := false; ; {
		exited, err := folder.AwaitExit(ctx, dir)
		if err != nil || exited {
			return err
		}
		before, until := stopping, stopEnd(ctx, e)
		switch stopping = e.Now().Before(until); {
		case stopping && !before:
			done()
			e.Note(fmt.Sprintf("waiting for the controller, which is stopping the city, until %s "+
				"at the latest", e.Clock(until)))
		case !stopping && !before: // otherwise, it may have exited since AwaitExit returned
			h := folder.HeldBy(dir, nil)
			if h.Replaced {
				return exit.Errorf(exit.CodeConflict, "%w", h)
			}
			return exit.Errorf(exit.CodeConflict, "a controller is already running for %s, pid "+
				"%d; `gcity daemon status` shows how it runs, and `gcity stop` stops it", dir,
				h.PID)
		}
	}
}

// stopEnd returns when a controller that is stopping the city's agents must have exited, or zero if no controller is
// stopping them.
func stopEnd(ctx context.Context, e *env.Env) time.Time {
	ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
	defer cancel()
	l, s, err := e.OpenSnapshot(ctx)
	if err != nil {
		return time.Time{}
	}
	defer l.Close()
	if s.Ending == nil {
		return time.Time{}
	}
	return s.Ending.Until.Add(folder.ReleaseLimit)
}
