package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/internal/disk"
	"gcity/trust"
)

// House is a city that runs in this process.
type House struct {
	parts
	Dir    string
	Logger *slog.Logger
	Done   chan struct{} // closed when the loop has ended
	err    error         // of the loop, valid after Done is closed
}

// HouseOptions are the options for hosting a city.
type HouseOptions struct {
	Dir    string
	at     string        // set by assemble, see parts
	source config.Source // of the configuration
	grant  trust.Grant   // for programs of the city
	Mode   string        // "console", "headless", controller.Supervised, "settle"
	Logger *slog.Logger
	// called after each pass of the loop; must not block
	Beat  func(status string)
	allow func(ctx context.Context, agents int) error // see controller.Options; may be nil
	group func() string                               // see sessions.SessionOptions; may be nil
}

// OpenHouse reads the configuration, takes the city's lock and assembles the parts. Nothing runs yet.
func OpenHouse(ctx context.Context, e *env.Env, o HouseOptions) (*House, error) {
	var err error
	if o.source, err = e.Source(o.Dir); err != nil {
		return nil, err
	}
	c, err := o.source.Load()
	if err != nil {
		return nil, err
	}
	if err := o.vet(c); err != nil {
		return nil, err
	}
	o.grant = trust.Running()
	if err := disk.MakePrivate(filepath.Join(o.Dir, ".gc")); err != nil {
		return nil, err
	}
	p, err := assemble(ctx, c, e.Version, o)
	if err != nil {
		return nil, err
	}
	if err := folder.KeepSource(p.at, o.source); err != nil {
		o.Logger.Warn("other commands will not know the files given with -f", "error", err)
	}
	if err := folder.KeepKnown(p.at, c); err != nil {
		o.Logger.Warn("mail and work need a valid file while no controller is running",
			"error", err)
	}
	closeParts := p.GiveBack
	p.GiveBack = func() { folder.DropSource(p.at); closeParts() }
	if err := folder.HideFromGit(folder.StateDir(p.at)); err != nil {
		o.Logger.Warn("git will see runtime files", "error", err)
	}
	if err := folder.LinkBinary(p.at); err != nil {
		o.Logger.Warn("agents will not find gc on their PATH", "error", err)
	}
	return &House{parts: p, Dir: o.Dir, Logger: o.Logger, Done: make(chan struct{})}, nil
}

// Host hosts the city until it is stopped. It calls ready once, when the socket answers. It returns when the loop,
// the socket and everything that it started have ended, and then closes the house.
func (h *House) Host(ctx context.Context, ready func()) error {
	defer h.GiveBack()
	loopCtx, stop := context.WithCancel(ctx)
	defer stop()
	serveCtx, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer hush()
	g := folder.Household{Tell: h.faults}
	g.Go(func() error {
		defer close(h.Done)
		defer hush()
		h.err = h.Loop.Run(loopCtx)
		if errors.Is(h.err, context.Canceled) {
			h.err = nil
		}
		return h.err
	})
	g.Go(func() error {
		h.firstLook(serveCtx)
		err := h.serve(serveCtx)
		if err != nil && serveCtx.Err() == nil {
			h.Logger.Error("the city's socket is lost; agents keep running", "error", err)
		}
		return nil
	})
	g.Go(func() error {
		h.door(serveCtx)
		return nil
	})
	g.Go(func() error {
		h.dolt(serveCtx)
		return nil
	})
	g.Go(func() error {
		told, hush := context.WithCancel(serveCtx)
		defer hush()
		g.Go(func() error { // no more events can arrive
			select {
			case <-h.last.Begun():
				hush()
			case <-told.Done():
			}
			return nil
		})
		h.mirror(told)
		return nil
	})
	if _, err := h.Loop.Snapshot(ctx); err == nil {
		ready()
	}
	return g.Wait()
}

// lookPatience is how long clients of the socket wait at most for the first list of sessions.
const lookPatience = 2 * time.Second

// firstLook waits until the running agents are known: until then a surplus pool member would get the answer that it
// does not exist.
func (h *House) firstLook(ctx context.Context) {
	late := time.NewTimer(lookPatience)
	defer late.Stop()
	select {
	case <-h.Loop.Looked():
	case <-late.C:
	case <-h.Done:
	case <-ctx.Done():
	}
}

// GivenUp prints on stderr what the city did not finish before its end.
func GivenUp(e *env.Env, h *House) {
	if what := h.last.End(); what != "" {
		e.Warn(fmt.Sprintf("the city has stopped, but this was given up after %s: %s",
			h.last.Limit(),
			what))
	}
}

// killLimit is how long it may take after killing all sessions until none is left, and then until the loop has
// ended.
const killLimit = 10 * time.Second

// stopMargin is how long before the loop gives up, and leaves agents running, all sessions are killed: by this
// process too, if the loop hangs.
const stopMargin = killLimit

// Obey handles signals until the loop has ended: TERM and INT stop the city, a second one kills at once; USR1
// leaves the agents; HUP calls hup.
func (h *House) Obey(signals <-chan os.Signal, stop context.CancelFunc, hup func()) error {
	var shorten, giveUp, leave <-chan time.Time
	asked := 0
	for {
		select {
		case <-h.Done:
			return nil
		case s := <-signals:
			switch s {
			case syscall.SIGUSR1:
				folder.LogError(h.Logger, "cannot leave the agents: the city keeps running",
					h.Leave())
			case syscall.SIGHUP:
				hup()
			default:
				asked++
				h.Logger.Info("stopping the city", "signal", s.String(), "asked", asked)
				stop()
				if asked == 1 {
					shorten = time.After(h.Loop.StopLimit() - stopMargin)
					continue
				}
				giveUp = time.After(killLimit)
				h.killAll()
			}
		case <-shorten:
			h.Logger.Warn("the stop takes too long, killing all sessions")
			giveUp = time.After(killLimit)
			h.killAll()
		case <-giveUp:
			h.Loop.GiveUp()
			leave = time.After(killLimit)
		case <-leave:
			return errors.New("the city did not stop in time; `gcity stop` stops what is left")
		}
	}
}

// Leave ends the controller and keeps the agents. If that fails, the city keeps running.
func (h *House) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := h.Loop.Do(ctx, city.Shutdown{Leave: true})
	return err
}

// killAll kills every session; the loop notices their ends.
func (h *House) killAll() {
	h.Loop.Hurry()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	all, err := h.sessions.List(ctx) // also returns a partial list with its error
	if err = errors.Join(err, sessions.EndSessions(ctx, h.sessions, all, 0)); err != nil {
		h.Logger.Error("cannot kill some sessions", "error", err)
	}
}

// ListenSignals delivers the signals that Obey handles, except for INT. The caller calls the second result when
// done.
func ListenSignals() (chan os.Signal, func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// vet returns why a city may not run, and extends the user's trust to the user's own edits.
func (o HouseOptions) vet(c *config.City) error {
	if c == nil {
		var err error
		if c, err = o.source.Load(); err != nil {
			return folder.Trusted(o.Dir, nil).Err()
		}
	}
	if err := folder.Trusted(o.Dir, c).Err(); err != nil {
		return err
	}
	all, complete := folder.RunsOfCity(c)
	if err := folder.OwnedBy(all); err != nil {
		return err
	}
	if complete {
		if err := folder.Ledger().Extend(c.Path, all); err != nil {
			o.Logger.Warn("edits of the city will need a new answer", "error", err)
		}
	}
	return nil
}

// keepKnown saves what work and mail need of a valid configuration.
func (o HouseOptions) keepKnown(_ string, good *config.City) {
	if good != nil {
		folder.LogError(o.Logger, "cannot save what is known of the city",
			folder.KeepKnown(o.at, good))
	}
}
