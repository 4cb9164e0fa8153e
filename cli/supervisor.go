package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/mishap"
)

func (a *app) supervisorCommand() *cobra.Command {
	var detached bool
	run := &cobra.Command{
		Use: "run", Short: "Run all registered cities in this process, until it is told to stop", Args: exactly(0),
		Long: `run keeps all cities that are registered alive. TERM and INT stop them all with
their agents, a second one at once; USR1 ends the supervisor and leaves the agents;
HUP reads cities.toml and supervisor.toml again, and tries at once what waits.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.supervise(cmd.Context(), detached) },
	}
	run.Flags().BoolVar(&detached, "detached", false, "write the log into the file alone")
	_ = run.Flags().MarkHidden("detached") // it is there
	var lines int
	var follow bool
	logs := &cobra.Command{
		Use: "logs", Short: "Show what the supervisor wrote last", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.supervisorLogs(cmd.Context(), lines, follow) },
	}
	logs.Flags().IntVarP(&lines, "lines", "n", 100, "how many `LINES`")
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "then what comes")
	below := []*cobra.Command{run,
		&cobra.Command{
			Use: "start", Short: "Start the supervisor in the background: by its service, if it has one", Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return a.supervisorStart(cmd.Context()) },
		},
		&cobra.Command{
			Use: "stop", Short: "Stop all cities that the supervisor runs, then the supervisor", Args: exactly(0),
			Long: `stop ends the agents of all cities, and the supervisor when they have ended. The
cities stay registered: the next supervisor runs them again. What it waits for it
says on stderr. A second stop meanwhile takes the grace away.`,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.supervisorStop(cmd.Context()) },
		},
		&cobra.Command{
			Use: "status", Short: "Show the supervisor and its cities", Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return a.supervisorStatus(cmd.Context()) },
		},
		&cobra.Command{
			Use: "reload", Short: "Read cities.toml and supervisor.toml now, and try again what waits", Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return a.supervisorReload() },
		}, logs}
	return group("supervisor", "All cities of this machine in one process", append(below, a.serviceCommands(a.supervisorService(a.homeDir, supervisorOf))...)...)
}

// supervise runs the registered cities in this process.
func (a *app) supervise(ctx context.Context, detached bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	if err := home.Make(); err != nil {
		return err
	}
	file := &lumberjack.Logger{Filename: home.Log(), MaxSize: 10, MaxBackups: 2}
	defer file.Close()
	own := newSpill(file)
	defer own.Close()
	logger := fileLogger(own)
	if !detached {
		logs := newSpill(a.Err)
		defer logs.Close()
		logger = slog.New(slog.NewMultiHandler(a.logger(logs).Handler(), logger.Handler()))
	}
	note := newNotifier(logger)
	defer note.Close()
	signals, quiet := listenSignals()
	defer quiet()
	signal.Notify(signals, syscall.SIGINT)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := a.assembleSupervisor(ctx, home, logger, note.beat)
	if err != nil {
		return err
	}
	defer s.close()
	serveCtx, hush := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer hush()
	beside := func(what string, do func() error) {
		wg.Go(func() {
			var err error
			if fault := mishap.Catch(func() { err = do() }); fault != nil || err != nil && serveCtx.Err() == nil {
				logger.Error(what+" is lost; the cities run on", "error", errors.Join(fault, err))
			}
		})
	}
	beside("the supervisor's socket", func() error { return s.serve(serveCtx) })
	beside("the API over TCP", func() error { s.door(serveCtx); return nil })
	logger.Info("the supervisor runs", "home", home.Dir, "version", a.version, "pid", os.Getpid())
	note.say(daemon.SdNotifyReady)
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	wg.Go(func() { ended <- s.Run(runCtx) })
	err = s.obey(signals, ended, logger, note, stop)
	s.last.Begin()
	logger.Info("the supervisor has ended")
	return err
}

// obey answers signals until the supervisor has ended.
func (s supervised) obey(signals <-chan os.Signal, ended <-chan error, logger *slog.Logger, note *notifier, stop func()) error {
	asked := 0
	for {
		select {
		case err := <-ended:
			note.say(daemon.SdNotifyStopping)
			return err
		case sig := <-signals:
			switch sig {
			case syscall.SIGUSR1:
				note.say(daemon.SdNotifyStopping)
				s.Leave()
			case syscall.SIGHUP:
				note.say(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
				s.Reload()
				note.say(daemon.SdNotifyReady)
			default:
				asked++
				logger.Info("stopping all cities", "signal", sig.String(), "asked", asked)
				note.say(daemon.SdNotifyStopping)
				if stop(); asked > 1 {
					s.Hurry()
				}
			}
		}
	}
}

func (a *app) supervisorStart(ctx context.Context) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	if r, runs := a.findSupervisor(); runs {
		return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf("the supervisor runs already, pid %d", r.PID)}
	}
	r, err := a.raiseSupervisor(ctx, home)
	if err != nil {
		return err
	}
	all, err := registry(home)
	if err != nil {
		return err
	}
	return a.receipt(city.Receipt{Message: fmt.Sprintf("the supervisor runs, pid %d, with %s; `gcity cities` shows how they are", r.PID, countedCities(len(all)))})
}

func countedCities(n int) string {
	if n == 1 {
		return "1 city"
	}
	return fmt.Sprintf("%d cities", n)
}

func (a *app) supervisorStop(ctx context.Context) error {
	fleet, r, err := a.dialSupervisor()
	if exit.IsNotRunning(err) && r.PID != 0 {
		fleet, err = nil, nil // it is beginning, or at its end
	}
	if err != nil {
		return err
	}
	if a.readOnly {
		return refusedReadOnly("stop")
	}
	if err := syscall.Kill(r.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("the supervisor (pid %d) cannot be told to stop: %w", r.PID, err)
	}
	if fleet != nil {
		defer fleet.Close()
	}
	failed := ""
	tell := time.NewTicker(sayEvery)
	defer tell.Stop()
	told := map[string]bool{}
	for began := a.Now(); ; {
		if now, runs := a.findSupervisor(); !runs || now.PID != r.PID {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tell.C:
		}
		if fleet == nil || a.Now().Sub(began) < sayAfter {
			continue
		}
		look, cancel := context.WithTimeout(ctx, deafAfter)
		all, err := fleet.Cities(look)
		cancel()
		for _, i := range all {
			if err == nil && i.Status == city.CityStopping && !told[i.Name] {
				told[i.Name] = true
				a.Murmur("waits for the agents of " + i.Name)
			}
			if err == nil && i.Status == city.CityStopped && i.Error != "" {
				failed = i.Error
			}
		}
	}
	if left := a.allLeft(ctx); left != "" {
		failed = strings.TrimPrefix(failed+"\n"+left, "\n")
	}
	if failed != "" {
		return errors.New("the supervisor is stopped; " + failed)
	}
	return a.receipt(city.Receipt{Message: "the supervisor is stopped, and all its cities"})
}

func (a *app) supervisorReload() error {
	home, err := a.home()
	if err != nil {
		return err
	}
	r, runs := a.findSupervisor()
	if !runs {
		return exit.NotRunning("no supervisor runs the cities of %s; `gcity supervisor start` starts one", home.Dir)
	}
	if a.readOnly {
		return refusedReadOnly("reload")
	}
	if err := checkHome(home); err != nil {
		return err
	}
	if err := syscall.Kill(r.PID, syscall.SIGHUP); err != nil {
		return fmt.Errorf("the supervisor (pid %d) cannot be told: %w", r.PID, err)
	}
	return a.receipt(city.Receipt{Message: fmt.Sprintf("the supervisor, pid %d, reads its files again, and tries again what waits", r.PID)})
}

// supervisorLogs shows the end of the log, and where that is wanted what comes.
func (a *app) supervisorLogs(ctx context.Context, lines int, follow bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	f, err := os.Open(home.Log())
	if errors.Is(err, os.ErrNotExist) {
		return exit.NotRunning("there is no log of a supervisor: none has run for %s", home.Dir)
	}
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	var last []string
	for scan := bufio.NewReader(f); ; {
		line, err := scan.ReadString('\n')
		if line != "" {
			if last = append(last, line); len(last) > max(0, lines) {
				last = last[1:]
			}
		}
		if err != nil {
			break
		}
	}
	for _, line := range last {
		a.Sayf("%s", output.SafeLine(strings.TrimSuffix(line, "\n")))
	}
	for follow && pause(ctx, sayEvery) {
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			a.Sayf("%s", output.SafeLine(strings.TrimSuffix(line, "\n")))
		}
		if next, moved := rotated(f, home.Log()); moved {
			f.Close()
			f = next
		}
	}
	return nil
}

// rotated opens a log that has been begun anew.
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
