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

// House is a city that this process runs.
type House struct {
	parts
	Dir    string
	Logger *slog.Logger
	Done   chan struct{} // closed when the loop has ended
	err    error         // of the loop, once done is closed
}

// HouseOptions is how a city is hosted.
type HouseOptions struct {
	Dir    string
	at     string        // set by assemble, see parts
	source config.Source // of the configuration
	grant  trust.Grant   // of its programs
	Mode   string        // "console", "headless", controller.Supervised, "settle"
	Logger *slog.Logger
	Beat   func(status string)                         // after each turn of the loop; must not wait
	allow  func(ctx context.Context, agents int) error // see controller.Options; may be nil
	group  func() string                               // see sessions.SessionOptions; may be nil
}

// OpenHouse reads the configuration, takes the city's lock and puts the parts together. Nothing runs yet.
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
		o.Logger.Warn("other commands will not know of the files given with -f", "error", err)
	}
	if err := folder.KeepKnown(p.at, c); err != nil {
		o.Logger.Warn("mail and work will need a file without mistakes while no controller runs",
			"error", err)
	}
	closeParts := p.GiveBack
	p.GiveBack = func() { folder.DropSource(p.at); closeParts() }
	if err := folder.HideFromGit(folder.StateDir(p.at)); err != nil {
		o.Logger.Warn("git will see what is made at run time", "error", err)
	}
	if err := folder.LinkBinary(p.at); err != nil {
		o.Logger.Warn("agents will not find gc on their PATH", "error", err)
	}
	return &House{parts: p, Dir: o.Dir, Logger: o.Logger, Done: make(chan struct{})}, nil
}

// Host hosts the city until it is stopped. ready is called once, when the socket answers. It returns when the loop, the
// socket and everything it started have ended, and closes the house.
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
			h.Logger.Error("the city's socket is lost; agents run on", "error", err)
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
		g.Go(func() error { // there are no more events
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

// lookPatience is how long those who ask by the socket wait at most for the first look at the sessions.
const lookPatience = 2 * time.Second

// firstLook waits until it is known who runs: a member that is one too many would be told that it is not there.
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

// GivenUp says on stderr what the city has not done at its end, for lack of time.
func GivenUp(e *env.Env, h *House) {
	if what := h.last.End(); what != "" {
		e.Warn(fmt.Sprintf("the city has ended, and this was given up after %s: %s", h.last.Limit(),
			what))
	}
}

// killLimit is how long it may take, once every session is ended at once, until none is left; and if one is, until the
// loop has ended.
const killLimit = 10 * time.Second

// stopMargin is how long before the loop gives up, and leaves agents running, every session is ended at once: by the
// loop too, if it turns.
const stopMargin = killLimit

// Obey answers signals until the loop has ended: TERM and INT stop the city, a second one at once; USR1 leaves the
// agents; HUP is given to hup.
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
				folder.LogError(h.Logger, "cannot leave the agents: the city goes on", h.Leave())
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
			h.Logger.Warn("the stop takes too long, ending every session at once")
			giveUp = time.After(killLimit)
			h.killAll()
		case <-giveUp:
			h.Loop.GiveUp()
			leave = time.After(killLimit)
		case <-leave:
			return errors.New("the city did not end in time; `gcity stop` ends what is left")
		}
	}
}

// Leave ends the controller and keeps the agents. If it cannot, the city goes on.
func (h *House) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := h.Loop.Do(ctx, city.Shutdown{Leave: true})
	return err
}

// killAll ends every session without grace; the loop notices that they are gone.
func (h *House) killAll() {
	h.Loop.Hurry()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	all, err := h.sessions.List(ctx) // with an error, perhaps a part
	if err = errors.Join(err, sessions.EndSessions(ctx, h.sessions, all, 0)); err != nil {
		h.Logger.Error("some sessions could not be ended", "error", err)
	}
}

// ListenSignals delivers what obey understands, but for INT. The caller calls the second result when done.
func ListenSignals() (chan os.Signal, func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// vet returns why a city may not run, and extends what the user trusts by what the user has edited.
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
			o.Logger.Warn("edits of the city will be asked about", "error", err)
		}
	}
	return nil
}

// keepKnown writes down what is known of a valid configuration that the controller has read.
func (o HouseOptions) keepKnown(_ string, good *config.City) {
	if good != nil {
		folder.LogError(o.Logger, "what is known of the city cannot be written down",
			folder.KeepKnown(o.at, good))
	}
}
