package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/config"
	"gcity/describe"
	"gcity/internal/shell"
	"gcity/internal/suggest"
	"gcity/prefs"
	"gcity/tui"
)

func unknownHelp(root *cobra.Command, args []string) error {
	_, words := commandWords(args)
	requested := slices.Contains(words, "--help") || slices.Contains(words, "-h")
	if !requested {
		return nil
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find(words[:1]); err != nil || c != root {
		return nil
	}
	return root.ValidateArgs(words[:1])
}

func consoleCommand(e *env.Env) *cobra.Command {
	var headless, all bool
	c := &cobra.Command{
		Use:   "gcity",
		Short: "A control room and supervisor for a city of terminal agents",
		Long: `gcity keeps the agents in a city.toml running, and shows what they are doing.

Without a command it opens the city's control room: it runs the city, or joins the
controller that is already running. Without a city.toml, it offers to write one.
With --all it shows all cities on this machine.` + installedAs(e.Program),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return suggest.NoSuch(suggest.Command, args[0]).Near(env.Nearest(cmd, args[0]))
		},
		Version:       e.Version,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case headless && all:
				return exit.Usage("--all and --headless are mutually exclusive; " +
					"use only one of them")
			case headless:
				return host.Headless(cmd.Context(), e)
			case all:
				return allCities(cmd.Context(), e)
			}
			return console(cmd.Context(), e)
		},
	}
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		hint := ""
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") {
			hint = "; if an argument begins with \"-\", put \"--\" before it"
		}
		return exit.Usage("%v; `%s --help` lists the flags%s", err, cmd.CommandPath(), hint)
	})
	c.CompletionOptions.DisableDefaultCmd = true
	c.PersistentFlags().StringVar(&e.Dir, "city", "",
		"the city's `folder` (default: $GC_CITY_PATH, or the nearest folder with a city.toml, "+
			"from the current one upward)")
	c.PersistentFlags().BoolVar(&e.JSON, "json", false, "print JSON in the API's format")
	c.PersistentFlags().BoolVar(&e.ReadOnly, "read-only", false,
		"do not change anything, and do not write files")
	c.Flags().BoolVar(&headless, "headless", false, "run the city without a control room, as a "+
		"service does")
	c.Flags().BoolVar(&all, "all", false, "show all cities on this machine")
	return env.WithSource(e, c)
}

func console(ctx context.Context, e *env.Env) error {
	terminal := e.InTTY && e.OutTTY
	if !terminal || e.Getenv("TERM") == "dumb" {
		if err := status(ctx, e); err != nil {
			return err
		}
		needs := "a terminal"
		if terminal {
			needs = "a terminal that can move the cursor, and TERM is \"dumb\""
		}
		e.Sayf("\nThe control room needs %s. `gcity --headless` runs the city without one.", needs)
		return nil
	}
	if err := env.RequireForeground(ctx, e, "the control room"); err != nil {
		return err
	}
	if err := firstContact(e); err != nil {
		return err
	}
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.Live {
		return join(ctx, e, l)
	}
	if e.ReadOnly {
		return exit.NotRunning("no controller is running for %s, and --read-only forbids starting "+
			"one; %s", l.Dir, describe.HowToStart)
	}
	l.Close()
	if err := consent.MayStart(e, l.Dir); err != nil {
		return err
	}
	err = hostRoom(ctx, e, l.Dir)
	if _, lost := errors.AsType[lostRace](err); !lost {
		return err
	}
	l, openErr := e.Open(ctx)
	if openErr != nil {
		return err
	}
	defer l.Close()
	if !l.Live {
		return err
	}
	return join(ctx, e, l)
}

// lostRace is the error if another process has started the city in the meantime.
type lostRace struct{ error }

func (r lostRace) Unwrap() error { return r.error }

func cityFlag(dir string) string {
	if found, err := config.Find("."); err == nil && found == dir {
		return ""
	}
	return " --city " + shell.Quote(dir)
}

func join(ctx context.Context, e *env.Env, l *env.Link) error {
	if !e.ReadOnly {
		if err := rememberJoined(ctx, e, l); err != nil {
			e.Warn(err.Error())
		}
	}
	var shown tui.ShownCity
	exit, err := openRoom(ctx, e, tui.Options{City: l.Control, Mode: tui.Joined, Folder: l.Dir,
		OnLeave: func(c tui.ShownCity) { shown = c }})
	if err != nil {
		return err
	}
	switch exit {
	case tui.StopCity:
		what, err := stopRunning(ctx, e, l)
		if err != nil {
			return err
		}
		e.Sayf("%s", what)
	case tui.Leave, tui.Ended, tui.Terminated, tui.Interrupted:
		if exit == tui.Leave && isOther(shown, l.Dir) {
			e.Sayf("%s", afterShowing(shown))
			return nil
		}
		e.Sayf("%s", afterJoin(ctx, e, l, exit))
	}
	return nil
}

func rememberJoined(ctx context.Context, e *env.Env, l *env.Link) error {
	ctx, cancel := context.WithTimeout(ctx, exitTimeout)
	defer cancel()
	s, err := folder.BriefSnapshot(ctx, l.Control)
	if err != nil {
		return nil
	}
	return host.Remember(e, l.Dir, s.Name)
}

func afterJoin(ctx context.Context, e *env.Env, l *env.Link, exit tui.Exit) string {
	snapshot := func(c city.Control) (*city.Snapshot, error) {
		ctx, cancel := context.WithTimeout(ctx, exitTimeout)
		defer cancel()
		return c.Snapshot(ctx)
	}
	s, err := snapshot(l)
	if err != nil { // the controller may have exited, and another one may be running
		if l, err = e.Open(ctx); err == nil {
			defer l.Close()
			s, err = snapshot(l)
		}
	}
	if err != nil {
		return "the controller does not respond; `gcity status` shows what is still running"
	}
	n := s.Running()
	running := describe.Count(n, "agent")
	switch {
	case !l.Live && n == 0:
		return "the city has stopped"
	case !l.Live:
		return "no controller is running, but " + running + " kept running; run `gcity` to " +
			"control them again"
	case exit == tui.Leave:
		return afterShowing(tui.ShownCity{Name: s.Name, Folder: l.Dir, Agents: n, Mode: s.Mode,
			Responds: true})
	}
	return "the control room has closed; the city keeps running"
}

func hostRoom(ctx context.Context, e *env.Env, dir string) error {
	logger, closeLog := host.FileLogger(folder.FileLog(dir))
	defer closeLog()
	signals, quiet := host.ListenSignals()
	defer quiet()
	// keeps a signal that arrives before the control room is open
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	h, err := host.OpenCity(ctx, e, host.CityOptions{Dir: dir, Mode: "console",
		Logger: logger, Beat: func(string) {}})
	switch {
	case exit.AlreadyRunning(err):
		return lostRace{err}
	case err != nil:
		return err
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	obeyed := make(chan error, 1)
	roomCtx, closeRoom := context.WithCancel(ctx)
	defer closeRoom()
	// if the loop or the release hangs, the process exits without waiting for these goroutines
	var wg sync.WaitGroup
	wg.Go(func() {
		defer closeRoom()
		ended <- h.Host(runCtx, func() {})
	})
	wg.Go(func() { obeyed <- h.HandleSignals(signals, stop, func(context.Context) {}) })

	var shown tui.ShownCity
	exit, err := openRoom(roomCtx, e, tui.Options{City: h.Loop, Mode: tui.Hosting, Folder: h.Dir,
		Logger: h.Logger, LogFile: folder.LogPath(h.Dir), Interrupts: interrupts,
		CheckLeave: func(x tui.Exit) error { return checkLeave(e, h.Dir, x) },
		OnLeave:    func(c tui.ShownCity) { shown = c }})
	signal.Notify(signals, syscall.SIGINT)
	if err != nil && roomCtx.Err() == nil {
		h.Logger.Error("the control room failed", "error", err)
		fmt.Fprintf(e.Err, "gcity: the control room failed: %s\ngcity: the city keeps running in "+
			"this process (pid %d); ctrl-c stops it, and `gcity` in another "+
			"terminal joins it\n",
			output.SafeText(err.Error()), os.Getpid())
		exit = tui.Hangup
	} else if exit == tui.Hangup {
		exit = onHangup(e)
	}
	hosted := hostedCity(ctx, h)
	leaveRoom(e, h, exit, signals)
	defer env.SayEnding(ctx, e, h.Loop)()
	if err := <-obeyed; err != nil {
		return err
	}
	err = h.AwaitRelease(ended)
	host.WarnUnfinished(e, h)
	if err != nil {
		return err
	}
	return afterRoom(e, hosted, shown, exit)
}

func onHangup(e *env.Env) tui.Exit {
	switch env.Prefs(e).OnHangup {
	case prefs.StopCity:
		return tui.StopCity
	case prefs.LeaveCity:
		return tui.KeepAgents
	}
	return tui.Hangup
}

func leaveRoom(e *env.Env, h *host.City, exit tui.Exit, signals chan<- os.Signal) {
	select {
	case <-h.Done:
		return
	default:
	}
	switch exit {
	case tui.KeepAgents, tui.HandOver:
		if err := h.Leave(); err != nil {
			e.Warn("the city keeps running in this process (ctrl-c stops it), because the " +
				"controller could not release it: " + err.Error())
		}
	case tui.Hangup:
		h.Loop.SetMode("headless")
	case tui.StopCity, tui.Interrupted: // HandleSignals has not received a signal yet
		e.Sayf("stopping the city; ctrl-c kills its agents immediately")
		signals <- syscall.SIGTERM
	default: // a SIGTERM, which HandleSignals has received too
		e.Sayf("stopping the city")
	}
}

func handOver(e *env.Env, dir string) error {
	pid, err := runInBackground(e, dir)
	if err != nil {
		return err
	}
	from := output.SafeText(cityFlag(dir))
	e.Sayf("the city is running in the background, pid %d\n`gcity%s` opens its control room, and "+
		"`gcity%s stop` stops it", pid, from, from)
	return nil
}

func stopLive(ctx context.Context, e *env.Env, l *env.Link) error {
	if ok, err := fleet.StopSupervised(ctx, e, l); ok {
		return err
	}
	pid := folder.PIDText(l.Dir)
	done := env.SayEnding(ctx, e, l.Control)
	_, err := l.Do(ctx, city.Shutdown{})
	done()
	if city.HasCode(err, city.Forbidden) || exit.IsSilent(err) {
		return err
	}
	done = e.SaySlow(ctx, "the controller to release the city", folder.ReleaseLimit)
	defer done()
	return errors.Join(err, folder.WaitReleased(ctx, l.Dir, pid))
}

func allCities(ctx context.Context, e *env.Env) error {
	if e.Dir != "" {
		return exit.Usage("--all and --city are mutually exclusive; use only one of them")
	}
	d, closeIt, err := fleet.Directory(e)
	if err != nil {
		return err
	}
	if d == nil {
		return exit.NotRunning("no supervisor is running on this machine; %s",
			fleet.HowToShowAll(ctx, e))
	}
	closeIt()
	fleet.WarnAboutRecent(e)
	d, closeIt = fleet.RoomDirectory(e, nil, "")
	defer closeIt()
	if e.JSON || !e.InTTY || !e.OutTTY || e.Getenv("TERM") == "dumb" {
		return fleet.PrintFleet(ctx, e, d)
	}
	if err := env.RequireForeground(ctx, e, "the control room"); err != nil {
		return err
	}
	exit, err := openRoom(ctx, e, tui.Options{Mode: tui.Joined, Cities: d})
	switch {
	case err != nil:
	case exit == tui.Leave:
		e.Sayf("the cities keep running; `gcity --all` shows them again")
	case exit == tui.Ended || exit == tui.Terminated || exit == tui.Interrupted:
		e.Sayf("the control room has closed; the cities keep running")
	}
	return err
}
