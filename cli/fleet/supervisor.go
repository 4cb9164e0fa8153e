package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
)

// SupervisorCommand returns the supervisor command.
func SupervisorCommand(e *env.Env) *cobra.Command {
	below := []*cobra.Command{supervisorRun(e),
		env.Changes(e, &cobra.Command{
			Use: "start", Short: "Start the supervisor in the background, through its service " +
				"if it has one",
			RunE: e.Runs(supervisorStart),
		}),
		env.Changes(e, &cobra.Command{
			Use: "stop", Short: "Stop the supervisor and all cities that it runs",
			Long: `stop stops the agents of all cities, and then the supervisor. The cities stay
registered: the next supervisor runs them again. While it waits, stop prints on stderr
what it is waiting for. Running stop again in the meantime kills the agents
immediately.`,
			RunE: e.Runs(supervisorStop),
		}),
		&cobra.Command{
			Use: "status", Short: "Show the supervisor and its cities",
			RunE: e.Runs(supervisorStatus),
		},
		env.Changes(e, &cobra.Command{
			Use: "reload", Short: "Reload cities.toml and supervisor.toml, and retry failed cities",
			RunE: e.Runs(supervisorReload),
		}), supervisorLog(e)}
	return env.Group("supervisor", "Run all cities on this machine in one process",
		append(below, service.ServiceCommands(e, service.SupervisorService(func() (string, error) {
			return env.HomeDir(e)
		}, host.SupervisorOf))...)...)
}

func supervisorRun(e *env.Env) *cobra.Command {
	var detached, untilEmpty bool
	c := &cobra.Command{
		Use: "run", Short: "Run all registered cities in this process until it is stopped",
		Long: `run keeps all registered cities running. TERM and INT stop them and their agents; a
second signal kills the agents immediately. USR1 stops the supervisor without stopping
the agents. HUP reloads cities.toml and supervisor.toml, and retries failed cities
immediately.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return supervise(cmd.Context(), e, detached, untilEmpty)
		},
	}
	c.Flags().BoolVar(&detached, "detached", false, "write the log only to the file")
	_ = c.Flags().MarkHidden("detached")
	c.Flags().BoolVar(&untilEmpty, "until-empty", false, "exit when no city is left")
	_ = c.Flags().MarkHidden("until-empty")
	return env.Changes(e, c)
}

func supervisorLog(e *env.Env) *cobra.Command {
	lines := 100
	var follow bool
	c := &cobra.Command{
		Use: "logs", Short: "Print the newest lines of the supervisor's log",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return supervisorLogs(cmd.Context(), e, lines, follow)
		},
	}
	c.Flags().VarP(env.Number(&lines, 1), "lines", "n", "print at most this many lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they are written")
	return env.TextOnly(e, c)
}

func supervise(ctx context.Context, e *env.Env, detached, untilEmpty bool) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	if err := home.Make(); err != nil {
		return err
	}
	logger, closeLog := host.FileLogger(&lumberjack.Logger{Filename: home.Log(), MaxSize: 10,
		MaxBackups: 2})
	defer closeLog()
	if !detached {
		logs := host.NewAsyncWriter(e.Err)
		defer logs.Close()
		logger = slog.New(slog.NewMultiHandler(host.Logger(e, logs).Handler(), logger.Handler()))
	}
	note := host.NewNotifier(logger)
	defer note.Close()
	signals, quiet := host.ListenSignals()
	defer quiet()
	signal.Notify(signals, syscall.SIGINT)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := host.AssembleSupervisor(ctx, e, home, logger,
		host.SupervisorOptions{Beat: note.Beat, UntilEmpty: untilEmpty})
	if err != nil {
		return err
	}
	defer s.Close()
	serveCtx, stopServing := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stopServing()
	serve := func(what string, do func() error) {
		wg.Go(func() {
			var err error
			if fault := recovery.Catch(func() { err = do() }); fault != nil || err != nil &&
				serveCtx.Err() == nil {
				logger.Error(what+" has failed; the cities keep running", "error",
					errors.Join(fault, err))
			}
		})
	}
	serve("the supervisor's socket", func() error { return s.Serve(serveCtx) })
	serve("the API over TCP", func() error { s.ServeTCP(serveCtx); return nil })
	logger.Info("the supervisor is running", "home", home.Dir, "version", e.Version, "pid",
		os.Getpid())
	note.Say(daemon.SdNotifyReady)
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	wg.Go(func() { ended <- s.Run(runCtx) })
	err = s.HandleSignals(signals, ended, logger, note, stop)
	s.Last.Begin()
	logger.Info("the supervisor has stopped")
	return exit.StopFailed(err)
}

func supervisorStart(ctx context.Context, e *env.Env) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	if r, runs := host.FindSupervisor(e); runs {
		return exit.Errorf(exit.CodeConflict, "the supervisor is already running, pid %d", r.PID)
	}
	r, err := host.StartSupervisor(ctx, e, home, false)
	if err != nil {
		return err
	}
	all, err := host.Registry(home)
	if err != nil {
		return err
	}
	warnOfRefused(ctx, e, len(all))
	return e.Receipt(city.Receipt{Message: fmt.Sprintf("the supervisor is running, pid %d, with "+
		"%s; `gcity cities` shows their states", r.PID, CountedCities(len(all)))})
}

// warnOfRefused waits until the supervisor has tried to start the registered cities, and warns about those that cannot
// run. A supervisor that has just started might not have read the registry yet.
func warnOfRefused(ctx context.Context, e *env.Env, registered int) {
	fleet, _, err := host.DialSupervisor(e)
	if err != nil {
		return
	}
	defer fleet.Close()
	defer e.SaySlow(ctx, "the supervisor to start its cities", folder.HangsAfter)()
	ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
	defer cancel()
	starts := func(i city.Info) bool { return i.Status == city.CityStarting }
	var all []city.Info
	for now, err := range fleet.Watch(ctx) {
		if err != nil {
			break
		}
		if all = now; len(all) >= registered && !slices.ContainsFunc(all, starts) {
			break
		}
	}
	gone := GoneCities(all)
	if gone != "" {
		e.Warn(gone)
	}
	for _, i := range all {
		if gone != "" && host.IsGone(i) {
			continue
		}
		if err := cannotRun(e, i); err != nil {
			e.Warn(err.Error())
		}
	}
}

// GoneCities returns a single line about several cities without folders, or "" if there are not several.
func GoneCities(all []city.Info) string {
	var gone []string
	for _, i := range all {
		if host.IsGone(i) {
			gone = append(gone, i.Name)
		}
	}
	if len(gone) < 2 {
		return ""
	}
	return fmt.Sprintf("the folders of %d cities no longer exist; `gcity unregister %s` removes "+
		"the cities from the list", len(gone), strings.Join(gone, " "))
}

// CountedCities returns text such as "1 city" or "3 cities".
func CountedCities(n int) string {
	if n == 1 {
		return "1 city"
	}
	return fmt.Sprintf("%d cities", n)
}

func supervisorStop(ctx context.Context, e *env.Env) error {
	fleet, r, err := host.DialSupervisor(e)
	if err != nil && !errors.Is(err, host.ErrNotAccepting) {
		return err
	}
	if err := syscall.Kill(r.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot stop the supervisor (pid %d): %w", r.PID, err)
	}
	if fleet != nil {
		defer fleet.Close()
	}
	failed := ""
	tell := time.NewTicker(env.SayEvery)
	defer tell.Stop()
	told := map[string]bool{}
	for began := e.Now(); ; {
		if now, runs := host.FindSupervisor(e); !runs || now.PID != r.PID {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tell.C:
		}
		if fleet == nil || e.Now().Sub(began) < env.SayAfter {
			continue
		}
		look, cancel := context.WithTimeout(ctx, folder.HangsAfter)
		all, err := fleet.Cities(look)
		cancel()
		if exit.IsSilent(err) {
			return fmt.Errorf("%w; when the process continues, it stops its cities", err)
		}
		for _, i := range all {
			if err == nil && i.Status == city.CityStopping && !told[i.Name] {
				told[i.Name] = true
				e.Note("waiting for the agents of " + i.Name)
			}
			if err == nil && i.Status == city.CityStopped && i.Error != "" {
				failed = i.Error
			}
		}
	}
	if left := notStopped(ctx, e); left != "" {
		failed = strings.TrimPrefix(failed+"\n"+left, "\n")
	}
	if failed != "" {
		return errors.New("the supervisor has stopped; " + failed)
	}
	return e.Receipt(city.Receipt{Message: "the supervisor and all its cities have stopped"})
}

func supervisorReload(ctx context.Context, e *env.Env) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	fleet, r, err := host.DialSupervisor(e)
	if err != nil && !errors.Is(err, host.ErrNotAccepting) {
		return err
	}
	if fleet != nil {
		defer fleet.Close()
	}
	if err := host.CheckHome(home); err != nil {
		return err
	}
	if fleet != nil {
		ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
		defer cancel()
		// a process that does not respond would not handle the signal either
		if _, err := fleet.Troubles(ctx); exit.IsSilent(err) {
			return err
		}
	}
	if err := syscall.Kill(r.PID, syscall.SIGHUP); err != nil {
		return fmt.Errorf("cannot reload the supervisor (pid %d): %w", r.PID, err)
	}
	return e.Receipt(city.Receipt{Message: fmt.Sprintf("the supervisor, pid %d, is reloading its "+
		"files and retrying failed cities", r.PID)})
}

func supervisorLogs(ctx context.Context, e *env.Env, lines int, follow bool) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	f, err := os.Open(home.Log())
	if errors.Is(err, os.ErrNotExist) {
		return exit.NotRunning("%s does not exist: no supervisor has run for this folder, or the "+
			"log was moved; a running supervisor keeps writing to the moved file", home.Log())
	}
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	var last []string
	for scan := bufio.NewReader(f); ; {
		line, err := scan.ReadString('\n')
		if line != "" {
			if last = append(last, line); len(last) > lines {
				last = last[1:]
			}
		}
		if err != nil {
			break
		}
	}
	for _, line := range last {
		e.Sayf("%s", output.SafeLine(strings.TrimSuffix(line, "\n")))
	}
	for follow && deadline.Pause(ctx, env.SayEvery) {
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			e.Sayf("%s", output.SafeLine(strings.TrimSuffix(line, "\n")))
		}
		if next, moved := rotated(f, home.Log()); moved {
			f.Close()
			f = next
		}
	}
	return nil
}

func rotated(f *os.File, path string) (*os.File, bool) {
	was, err := f.Stat()
	if err != nil {
		return nil, false
	}
	if is, err := os.Stat(path); err != nil || os.SameFile(was, is) {
		return nil, false
	}
	next, err := os.Open(path)
	return next, err == nil
}
