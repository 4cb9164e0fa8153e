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
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/prefs"
)

// consoleCommand is gcity by itself: the control room.
func (a *app) consoleCommand() *cobra.Command {
	var headless, all bool
	c := &cobra.Command{
		Use:   "gcity",
		Short: "A control room and supervisor for a city of terminal agents",
		Long: `gcity keeps the agents that a city.toml declares alive, and shows them.

Without a command it opens the control room of the city: it runs the city, or
joins the controller that already does. With --all it shows the cities of this
machine side by side.`,
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
		Version:       a.version, // --version; the command says more
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case headless && all:
				return exit.Usage("--all shows cities, and --headless runs one without a screen: give one of them")
			case headless:
				return a.headless(cmd.Context())
			case all:
				return a.allCities(cmd.Context())
			}
			return a.console(cmd.Context())
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
	c.PersistentFlags().StringVar(&a.dir, "city", "", "the city's `folder` (else GC_CITY_PATH, else upwards from here)")
	c.PersistentFlags().BoolVar(&a.JSON, "json", false, "answer in JSON, as the API does")
	c.PersistentFlags().BoolVar(&a.readOnly, "read-only", false, "look, and change nothing")
	c.Flags().BoolVar(&headless, "headless", false, "run the city without a screen, as a service")
	c.Flags().BoolVar(&all, "all", false, "show all cities of this machine, side by side")
	return a.withSource(c)
}

// console opens the control room, or says how things stand where there is no terminal for one.
func (a *app) console(ctx context.Context) error {
	if !a.inTTY || !a.OutTTY || a.Getenv("TERM") == "dumb" {
		if err := a.status(ctx); err != nil {
			return err
		}
		a.Sayf("\nThis is no terminal for a control room. `gcity --headless` runs the city without one.")
		return nil
	}
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if l.live {
		return a.join(ctx, l)
	}
	if a.readOnly {
		return exit.NotRunning("no controller runs %s, and --read-only starts none; `gcity` or `gcity --headless` does", l.dir)
	}
	l.close()
	if err := a.mayStart(l.dir); err != nil {
		return err
	}
	return a.hostRoom(ctx, l.dir)
}

// join shows a city that another process runs.
func (a *app) join(ctx context.Context, l *link) error {
	exit, err := a.openRoom(ctx, roomOptions{city: l.Control, dir: l.dir, readOnly: a.readOnly, logger: quietLogger()})
	if err != nil {
		return err
	}
	switch exit {
	case roomStopCity:
		if err := a.stopLive(ctx, l); err != nil {
			return err
		}
		a.Sayf("the city is stopped")
	case roomEnded, roomTerminated, roomInterrupted:
		ctx, cancel := context.WithTimeout(ctx, frozenAfter)
		defer cancel()
		if _, err := l.Snapshot(ctx); err != nil {
			a.Sayf("the controller does not answer; `gcity status` tells what still runs")
		} else {
			a.Sayf("the control room was ended; the city runs on")
		}
	}
	return nil
}

// hostRoom runs the city in the background and shows it.
func (a *app) hostRoom(ctx context.Context, dir string) error {
	logs := fileLog(dir)
	defer logs.Close()
	signals, quiet := listenSignals()
	defer quiet()
	interrupts := make(chan os.Signal, 1) // only the room knows for whom a ctrl+c is; until it is there, one waits for it
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	h, err := a.openHouse(ctx, houseOptions{dir: dir, mode: "console", logger: fileLogger(logs), beat: func(string) {}})
	if err != nil {
		return err
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	obeyed := make(chan error, 1)
	roomCtx, closeRoom := context.WithCancel(ctx)
	defer closeRoom()
	var wg sync.WaitGroup // both end by themselves, unless the loop hangs; then obeyed says so and the process ends
	wg.Go(func() {
		defer closeRoom()
		ended <- h.run(runCtx, func() {})
	})
	wg.Go(func() { obeyed <- h.obey(signals, stop, func() {}) })

	exit, err := a.openRoom(roomCtx, roomOptions{city: h.loop, dir: h.dir, hosting: true, logger: h.logger, interrupts: interrupts})
	signal.Notify(signals, syscall.SIGINT)
	if err != nil && roomCtx.Err() == nil {
		h.logger.Error("the control room failed", "error", err)
		fmt.Fprintf(a.Err, "gcity: the control room failed: %s\ngcity: the city runs on in this process (pid %d); "+
			"ctrl-c stops it, `gcity` in another terminal joins it\n", output.SafeText(err.Error()), os.Getpid())
		exit = roomHangup
	} else if exit == roomHangup {
		exit = a.onHangup()
	}
	a.leaveRoom(h, exit, signals)
	defer a.sayEnding(ctx, h.loop)()
	if err := <-obeyed; err != nil {
		return err
	}
	err = <-ended
	a.givenUp(h)
	if err != nil {
		return err
	}
	return a.afterRoom(h.dir, exit)
}

// onHangup is what becomes of a city whose room has lost its terminal.
func (a *app) onHangup() roomExit {
	switch a.prefs().OnHangup {
	case prefs.StopCity:
		return roomStopCity
	case prefs.LeaveCity:
		return roomKeepAgents
	}
	return roomHangup
}

// leaveRoom sets in motion what the operator chose when leaving a room that hosts.
func (a *app) leaveRoom(h *house, exit roomExit, signals chan<- os.Signal) {
	select {
	case <-h.done:
		return // stopped from elsewhere
	default:
	}
	switch exit {
	case roomKeepAgents, roomHandOver:
		if err := h.leave(); err != nil {
			a.Warn("the controller could not let go of the city, which goes on in this process; ctrl-c stops it: " + err.Error())
		}
	case roomHangup: // the terminal is gone, or the room is: the city goes on in this process
		h.loop.SetMode("headless")
	case roomStopCity, roomInterrupted: // obey has heard of neither
		a.Sayf("stopping the city; ctrl-c ends its agents at once")
		signals <- syscall.SIGTERM
	default: // a TERM from outside ended the room, and obey has heard it too
		a.Sayf("stopping the city")
	}
}

// afterRoom says how the city stands once this process has let go of it, and hands it over if that was the wish.
func (a *app) afterRoom(dir string, exit roomExit) error {
	switch exit {
	case roomHandOver:
		return a.handOver(dir)
	case roomKeepAgents:
		a.Sayf("the agents run on and nobody watches them; `gcity` takes them over again")
	default:
		a.Sayf("the city is stopped")
	}
	return nil
}

// handOver starts a headless controller that outlives this process and waits until it answers.
func (a *app) handOver(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	pid, err := a.spawnHeadless(ctx, dir)
	if err != nil {
		return err
	}
	a.Sayf("the city runs headless, pid %d; `gcity` joins it, `gcity stop` ends it", pid)
	return nil
}

// stopLive asks a running controller to stop the city, and waits until it has let go of it, saying what for.
func (a *app) stopLive(ctx context.Context, l *link) error {
	if ok, err := a.stopSupervised(ctx, l); ok {
		return err
	}
	pid := pidText(l.dir)
	done := a.sayEnding(ctx, l.Control)
	_, err := l.Do(ctx, city.Shutdown{})
	done()
	if exit.HasCode(err, city.Forbidden) || exit.IsSilent(err) {
		return err
	}
	done = a.saySlow(ctx, "the controller to let go of the city", releaseLimit)
	defer done()
	return errors.Join(err, waitReleased(ctx, l.dir, pid))
}
