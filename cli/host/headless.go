package host

import (
	"context"
	"log/slog"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/disk"
)

// Headless runs the city as a service, without a control room.
func Headless(ctx context.Context, e *env.Env) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	if e.ReadOnly {
		return env.ReadOnlyError("start")
	}
	logger, closeLog := headlessLog(e, dir)
	defer closeLog()
	note := NewNotifier(logger)
	defer note.Close()
	signals, quiet := ListenSignals()
	defer quiet()
	signal.Notify(signals, syscall.SIGINT)

	h, err := OpenCity(ctx, e, CityOptions{Dir: dir, Mode: "headless", Logger: logger,
		Beat: note.Beat})
	if err != nil {
		return err
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	// if the loop or the release hangs, the process exits without waiting for this goroutine
	go func() {
		ended <- h.Host(runCtx, func() {
			logger.Info("the city is running", "city", dir, "version", e.Version)
			note.Say(daemon.SdNotifyReady)
		})
	}()
	err = h.HandleSignals(signals, func() { note.Say(daemon.SdNotifyStopping); stop() },
		func(ctx context.Context) { h.reload(ctx, note) })
	if err != nil {
		return exit.StopFailed(err)
	}
	note.Say(daemon.SdNotifyStopping)
	err = h.AwaitRelease(ended)
	WarnUnfinished(e, h)
	switch {
	case disk.IsRemoved(err):
		err = &exit.Failure{Code: exit.CodeConflict, Err: err} // a service must not restart
	case h.ended():
		err = exit.StopFailed(err)
	}
	return err
}

func (h *City) reload(ctx context.Context, note *notifier) {
	note.Say(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := h.Loop.Do(limited, city.Reload{})
	switch {
	case ctx.Err() != nil: // the city is stopping
		return
	case err != nil:
		h.Logger.Error("the configuration was not reloaded", "error", err)
	default:
		h.Logger.Info("reload", "result", r.Message)
	}
	note.Say(daemon.SdNotifyReady)
}

// notifier reports the service's state to systemd without blocking.
type notifier struct {
	logger *slog.Logger
	states chan string
	beats  chan string
	stop   chan struct{}
	done   chan struct{}
	wg     sync.WaitGroup
}

// NewNotifier returns a notifier and starts its goroutine.
func NewNotifier(logger *slog.Logger) *notifier {
	n := &notifier{logger: logger, states: make(chan string, 16), beats: make(chan string, 1),
		stop: make(chan struct{}), done: make(chan struct{})}
	n.wg.Go(n.write)
	return n
}

// Beat reports a pass of the loop to systemd's watchdog, and the status that systemctl shows.
func (n *notifier) Beat(status string) {
	select {
	case <-n.beats:
	default:
	}
	select {
	case n.beats <- status:
	default:
	}
}

// Say sends a state. It drops the state if the queue is full.
func (n *notifier) Say(state string) {
	select {
	case n.states <- state:
	default:
	}
}

// closeTimeout limits how long Close waits for the queued states to be sent, so that systemd cannot delay the exit of
// the process.
const closeTimeout = 250 * time.Millisecond

// Close sends the queued states and stops the goroutine.
func (n *notifier) Close() {
	close(n.stop)
	select {
	case <-n.done:
		n.wg.Wait()
	case <-time.After(closeTimeout):
	}
}

func (n *notifier) write() {
	defer close(n.done)
	for {
		select {
		case s := <-n.states:
			n.send(s)
		case s := <-n.beats:
			n.send("WATCHDOG=1\nSTATUS=" + output.SafeLine(s))
		case <-n.stop:
			for {
				select {
				case s := <-n.states:
					n.send(s)
				default:
					return
				}
			}
		}
	}
}

func (n *notifier) send(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		n.logger.Debug("cannot notify systemd", "error", err)
	}
}
