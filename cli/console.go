package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/prefs"
)

// consoleCommand is gcity by itself: the control room.
func consoleCommand(e *env.Env) *cobra.Command {
	var headless, all bool
	c := &cobra.Command{
		Use:   "gcity",
		Short: "A control room and supervisor for a city of terminal agents",
		Long: `gcity keeps the agents that a city.toml declares alive, and shows them.

Without a command it opens the control room of the city: it runs the city, or
joins the controller that already does. With --all it shows the cities of this
machine side by side.` + installedAs(e.Program),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "; `gcity help` lists what there is"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf(", did you mean %q?", near[0])
			}
			return exit.Usage("there is no command %q%s", args[0], hint)
		},
		Version:       e.Version, // --version; the command says more
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case headless && all:
				return exit.Usage("--all shows cities, and --headless runs one without a screen: " +
					"give one of them")
			case headless:
				return host.Headless(cmd.Context(), e)
			case all:
				return allCities(cmd.Context(), e)
			}
			return console(cmd.Context(), e)
		},
	}
	c.SuggestionsMinimumDistance = 2
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		hint := ""
		if strings.HasPrefix(err.Error(), "unknown ") && strings.Contains(cmd.Use, " ") {
			hint = "; text that begins with \"-\" goes behind \"--\""
		}
		return exit.Usage("%v; `%s --help` lists the flags%s", err, cmd.CommandPath(), hint)
	})
	c.CompletionOptions.DisableDefaultCmd = true
	c.PersistentFlags().StringVar(&e.Dir, "city", "",
		"the city's `folder` (else GC_CITY_PATH, else upwards from here)")
	c.PersistentFlags().BoolVar(&e.JSON, "json", false, "answer in JSON, as the API does")
	c.PersistentFlags().BoolVar(&e.ReadOnly, "read-only", false, "look, and change nothing")
	c.Flags().BoolVar(&headless, "headless", false, "run the city without a screen, as a service")
	c.Flags().BoolVar(&all, "all", false, "show all cities of this machine, side by side")
	return env.WithSource(e, c)
}

// console opens the control room, or says how things stand where there is no terminal for one.
func console(ctx context.Context, e *env.Env) error {
	if !e.InTTY || !e.OutTTY || e.Getenv("TERM") == "dumb" {
		if err := status(ctx, e); err != nil {
			return err
		}
		e.Sayf("\nThis is no terminal for a control room. `gcity --headless` runs the city " +
			"without one.")
		return nil
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
		return exit.NotRunning("no controller runs %s, and --read-only starts none; `gcity` or "+
			"`gcity --headless` does", l.Dir)
	}
	l.Close()
	if err := consent.MayStart(e, l.Dir); err != nil {
		return err
	}
	return hostRoom(ctx, e, l.Dir)
}

// join shows a city that another process runs.
func join(ctx context.Context, e *env.Env, l *env.Link) error {
	exit, err := openRoom(ctx, e, roomOptions{city: l.Control, dir: l.Dir, readOnly: e.ReadOnly,
		logger: folder.QuietLogger()})
	if err != nil {
		return err
	}
	switch exit {
	case roomStopCity:
		if err := stopLive(ctx, e, l); err != nil {
			return err
		}
		e.Sayf("the city is stopped")
	case roomEnded, roomTerminated, roomInterrupted:
		ctx, cancel := context.WithTimeout(ctx, frozenAfter)
		defer cancel()
		if _, err := l.Snapshot(ctx); err != nil {
			e.Sayf("the controller does not answer; `gcity status` tells what still runs")
		} else {
			e.Sayf("the control room was ended; the city runs on")
		}
	}
	return nil
}

// hostRoom runs the city in the background and shows it.
func hostRoom(ctx context.Context, e *env.Env, dir string) error {
	logs := folder.FileLog(dir)
	defer logs.Close()
	signals, quiet := host.ListenSignals()
	defer quiet()
	// only the room knows for whom a ctrl+c is; until it is there, one waits for it
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	h, err := host.OpenHouse(ctx, e, host.HouseOptions{Dir: dir, Mode: "console",
		Logger: folder.FileLogger(logs), Beat: func(string) {}})
	if err != nil {
		return err
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	obeyed := make(chan error, 1)
	roomCtx, closeRoom := context.WithCancel(ctx)
	defer closeRoom()
	// both end by themselves, unless the loop hangs; then obeyed says so and the process ends
	var wg sync.WaitGroup
	wg.Go(func() {
		defer closeRoom()
		ended <- h.Host(runCtx, func() {})
	})
	wg.Go(func() { obeyed <- h.Obey(signals, stop, func() {}) })

	exit, err := openRoom(roomCtx, e, roomOptions{city: h.Loop, dir: h.Dir, hosting: true,
		logger: h.Logger, interrupts: interrupts})
	signal.Notify(signals, syscall.SIGINT)
	if err != nil && roomCtx.Err() == nil {
		h.Logger.Error("the control room failed", "error", err)
		fmt.Fprintf(e.Err, "gcity: the control room failed: %s\ngcity: the city runs on in this "+
			"process (pid %d); "+
			"ctrl-c stops it, `gcity` in another terminal joins it\n", output.SafeText(err.Error()),
			os.Getpid())
		exit = roomHangup
	} else if exit == roomHangup {
		exit = onHangup(e)
	}
	leaveRoom(e, h, exit, signals)
	defer env.SayEnding(ctx, e, h.Loop)()
	if err := <-obeyed; err != nil {
		return err
	}
	err = <-ended
	host.GivenUp(e, h)
	if err != nil {
		return err
	}
	return afterRoom(e, h.Dir, exit)
}

// onHangup is what becomes of a city whose room has lost its terminal.
func onHangup(e *env.Env) roomExit {
	switch env.Prefs(e).OnHangup {
	case prefs.StopCity:
		return roomStopCity
	case prefs.LeaveCity:
		return roomKeepAgents
	}
	return roomHangup
}

// leaveRoom sets in motion what the operator chose when leaving a room that hosts.
func leaveRoom(e *env.Env, h *host.House, exit roomExit, signals chan<- os.Signal) {
	select {
	case <-h.Done:
		return // stopped from elsewhere
	default:
	}
	switch exit {
	case roomKeepAgents, roomHandOver:
		if err := h.Leave(); err != nil {
			e.Warn("the controller could not let go of the city, which goes on in this process; " +
				"ctrl-c stops it: " + err.Error())
		}
	case roomHangup: // the terminal is gone, or the room is: the city goes on in this process
		h.Loop.SetMode("headless")
	case roomStopCity, roomInterrupted: // obey has heard of neither
		e.Sayf("stopping the city; ctrl-c ends its agents at once")
		signals <- syscall.SIGTERM
	default: // a TERM from outside ended the room, and obey has heard it too
		e.Sayf("stopping the city")
	}
}

// afterRoom says how the city stands once this process has let go of it, and hands it over if that was the wish.
func afterRoom(e *env.Env, dir string, exit roomExit) error {
	switch exit {
	case roomHandOver:
		return handOver(e, dir)
	case roomKeepAgents:
		e.Sayf("the agents run on and nobody watches them; `gcity` takes them over again")
	default:
		e.Sayf("the city is stopped")
	}
	return nil
}

// handOver starts a headless controller that outlives this process and waits until it answers.
func handOver(e *env.Env, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	pid, err := host.SpawnHeadless(ctx, e, dir)
	if err != nil {
		return err
	}
	e.Sayf("the city runs headless, pid %d; `gcity` joins it, `gcity stop` ends it", pid)
	return nil
}

// stopLive asks a running controller to stop the city, and waits until it has let go of it, saying what for.
func stopLive(ctx context.Context, e *env.Env, l *env.Link) error {
	if ok, err := fleet.StopSupervised(ctx, e, l); ok {
		return err
	}
	pid := folder.PIDText(l.Dir)
	done := env.SayEnding(ctx, e, l.Control)
	_, err := l.Do(ctx, city.Shutdown{})
	done()
	if exit.HasCode(err, city.Forbidden) || exit.IsSilent(err) {
		return err
	}
	done = e.SaySlow(ctx, "the controller to let go of the city", folder.ReleaseLimit)
	defer done()
	return errors.Join(err, folder.WaitReleased(ctx, l.Dir, pid))
}

// allCities shows all cities: as a room, or as a table where there is no terminal for one.
func allCities(ctx context.Context, e *env.Env) error {
	if e.Dir != "" {
		return exit.Usage("--all shows every city, --city names one: give one of them")
	}
	d, closeIt, err := fleet.Directory(e)
	if err != nil {
		return err
	}
	if d == nil {
		return exit.NotRunning("no supervisor runs on this machine, so no city is registered to " +
			"be shown beside others; " +
			"`gcity start` in a city's folder registers it and starts the supervisor, `gcity` " +
			"there shows that city alone")
	}
	defer closeIt()
	if e.JSON || !e.InTTY || !e.OutTTY || e.Getenv("TERM") == "dumb" {
		return fleet.TellFleet(ctx, e, d)
	}
	exit, err := openRoom(ctx, e, roomOptions{cities: d, readOnly: e.ReadOnly,
		logger: folder.QuietLogger()})
	if err == nil && (exit == roomEnded || exit == roomTerminated || exit == roomInterrupted) {
		e.Sayf("the control room was ended; the cities run on")
	}
	return err
}
