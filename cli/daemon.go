package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/service"
)

// daemonCommand is one city as a service.
func daemonCommand(e *env.Env) *cobra.Command {
	yes := false
	run := env.WithSource(e, &cobra.Command{
		Use: "run", Short: "Run the city without a screen (the same as gcity start --foreground)",
		Args: env.Exactly(0),
		Long: `run keeps the agents of the city alive until it is stopped. What it says goes to
stderr and to .gc/controller.log. Where there is no city.toml it offers to write one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return foreground(cmd.Context(), e,
				yes)
		},
	})
	run.Flags().BoolVarP(&yes, "yes", "y", false,
		"write a city.toml if there is none, without asking")
	start := env.WithSource(e, &cobra.Command{
		Use: "start", Short: "Run the city in the background: by its service, if it has one",
		Args: env.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return daemonStart(cmd.Context(), e) },
	})
	stop := stopCommand(e)
	stop.Short = "The same as gcity stop"
	status := &cobra.Command{
		Use: "status", Short: "Who runs the city, and by which service", Args: env.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.DaemonStatus(cmd.Context(), e)
		},
	}
	lines := 0
	logs := &cobra.Command{
		Use: "logs", Short: "What the controller of the city has said", Args: env.Exactly(0),
		Long: `logs writes the newest lines of .gc/controller.log, which every controller of the
city writes, however it is run. Of a service it also gives the command that shows
its lines in the journal.`,
		RunE: func(*cobra.Command, []string) error { return service.DaemonLogs(e, lines) },
	}
	logs.Flags().IntVarP(&lines, "lines", "n", 100, "so many")
	return env.Group("daemon", "The controller as a service",
		append([]*cobra.Command{run, start, stop, status, logs},
			service.ServiceCommands(e, service.CityService(e))...)...)
}

// daemonStart has the city run in the background.
func daemonStart(ctx context.Context, e *env.Env) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	if e.ReadOnly {
		return env.RefusedReadOnly("daemon start")
	}
	if held, err := folder.IsHeld(dir); err == nil && held {
		return &exit.Failure{Code: exit.CodeConflict,
			Err: fmt.Errorf("a controller runs %s already, pid %s", dir, folder.PIDText(dir))}
	}
	for _, u := range service.Units(e, "city", dir) {
		if len(e.Files) > 0 || e.Strict {
			return exit.Usage("the unit says which files are read: `gcity daemon install` with " +
				"-f or --strict writes it anew")
		}
		err := service.StartUnit(ctx, e, u, dir)
		if !errors.Is(err, service.ErrUnreachable) {
			return err
		}
		service.WarnNoService(e, u, err)
		break
	}
	return handOver(e, dir)
}
