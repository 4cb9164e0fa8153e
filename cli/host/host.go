package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/controller"
	"gcity/internal/disk"
	"gcity/trust"
)

// City is a city that runs in this process.
type City struct {
	parts
	Dir    string
	Logger *slog.Logger
	Done   chan struct{}
	err    error // the loop's error, valid after Done is closed
}

// CityOptions are the options for a city that runs in this process.
type CityOptions struct {
	Dir    string
	at     string
	source config.Source
	grant  trust.Grant
	Mode   string // "console", "headless", controller.Supervised, "settle"
	Logger *slog.Logger
	// called after each pass of the loop; must not block
	Beat  func(status string)
	log   io.WriteCloser                              // the controller's log, for openHosted
	allow func(ctx context.Context, agents int) error // see controller.Options; may be nil
	group func() string                               // see sessions.SessionOptions; may be nil
}

// OpenCity reads the configuration, takes the city's lock and assembles the parts. Nothing runs yet.
func OpenCity(ctx context.Context, e *env.Env, o CityOptions) (*City, error) {
	closeInheritedOnExec()
	c, err := o.load(e)
	if err != nil {
		return nil, err
	}
	if err := disk.MakePrivate(filepath.Join(o.Dir, ".gc")); err != nil {
		return nil, err
	}
	p, err := assemble(ctx, c, e.Version, o)
	if err != nil {
		return nil, err
	}
	if err := folder.SaveSource(p.at, o.source); err != nil {
		o.Logger.Warn("other commands will not use the files given with -f", "error", err)
	}
	if err := folder.SaveConfigCache(p.at, c); err != nil {
		o.Logger.Warn("while no controller is running, the commands for mail and work "+
			"need a valid configuration", "error", err)
	}
	if o.Mode != controller.Supervised { // a supervisor calls Remember when it unregisters the city
		if err := Remember(e, o.Dir, c.Workspace.Name); err != nil {
			o.Logger.Warn("the lists of cities will not contain this city while it is stopped",
				"error", err)
		}
	}
	closeParts := p.ReleaseAll
	p.ReleaseAll = func() { folder.RemoveSource(p.at); closeParts() }
	if err := folder.HideFromGit(folder.StateDir(p.at)); err != nil {
		o.Logger.Warn("git will not ignore runtime files", "error", err)
	}
	if err := folder.LinkBinary(p.at); err != nil {
		o.Logger.Warn("agents will not find gc on their PATH", "error", err)
	}
	return &City{parts: p, Dir: o.Dir, Logger: o.Logger, Done: make(chan struct{})}, nil
}

// load reads the configuration and checks whether a controller may run it.
func (o *CityOptions) load(e *env.Env) (*config.City, error) {
	var err error
	if o.source, err = e.Source(o.Dir); err != nil {
		return nil, err
	}
	c, err := o.source.Load()
	if err != nil {
		return nil, err
	}
	if err := o.checkMayRun(c, nil); err != nil {
		return nil, err
	}
	return c, controller.TooFewFiles(OpenFiles(nil), folder.Plan(c, o.Dir),
		folder.PoolPlan(c, o.Dir))
}

// Host runs the city until it is stopped, and then releases the city's lock. It calls ready when the loop responds.
func (h *City) Host(ctx context.Context, ready func()) error {
	defer h.ReleaseAll()
	loopCtx, stop := context.WithCancel(ctx)
	defer stop()
	serveCtx, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	g := folder.TaskGroup{OnFault: h.faults}
	g.Go(func() error {
		defer close(h.Done)
		defer stopServing()
		h.err = h.Loop.Run(loopCtx)
		if errors.Is(h.err, context.Canceled) {
			h.err = nil
		}
		return h.err
	})
	g.Go(func() error {
		h.awaitFirstList(serveCtx)
		err := h.serve(serveCtx)
		if err != nil && serveCtx.Err() == nil {
			h.Logger.Error("the city's socket has failed; agents keep running", "error", err)
		}
		return nil
	})
	g.Go(func() error {
		h.serveTCP(serveCtx)
		return nil
	})
	g.Go(func() error {
		h.dolt(serveCtx)
		return nil
	})
	g.Go(func() error {
		mirrorCtx, stopMirror := context.WithCancel(serveCtx)
		defer stopMirror()
		g.Go(func() error {
			select {
			case <-h.last.Begun():
				stopMirror()
			case <-mirrorCtx.Done():
			}
			return nil
		})
		h.mirror(mirrorCtx)
		return nil
	})
	if _, err := h.Loop.Snapshot(ctx); err == nil {
		ready()
	}
	return g.Wait()
}

const firstListTimeout = 2 * time.Second

// awaitFirstList prevents "not found" errors for early requests about surplus pool members.
func (h *City) awaitFirstList(ctx context.Context) {
	select {
	case <-h.Loop.FirstList():
	case <-time.After(firstListTimeout):
	case <-h.Done:
	case <-ctx.Done():
	}
}

// WarnUnfinished prints on stderr what the city could not finish before its deadline.
func WarnUnfinished(e *env.Env, h *City) {
	if what := h.last.End(); what != "" {
		e.Warn(fmt.Sprintf("the controller has exited, but these tasks did not finish within "+
			"%s: %s", h.last.Limit(), what))
	}
}

// AwaitRelease waits for the result of Host after the loop has ended. It returns an error if the release of the city
// takes too long.
func (h *City) AwaitRelease(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(folder.ReleaseLimit):
		return h.notReleased()
	}
}

func (h *City) notReleased() error {
	return fmt.Errorf("the city has stopped, but cannot release %s; check what is mounted there",
		h.Dir)
}

// killLimit is how long HandleSignals waits for killed sessions to end, and then for the loop to end.
const killLimit = 10 * time.Second

// stopMargin is the time between killing all sessions and the stop limit. Agents that are still running at the limit
// would survive.
const stopMargin = killLimit

// HandleSignals handles signals until the loop has ended. TERM and INT stop the city, and a second signal kills its
// agents. USR1 stops only the controller. HUP calls hup in the background, with a context that ends with the first TERM
// or INT.
func (h *City) HandleSignals(signals <-chan os.Signal, stop context.CancelFunc,
	hup func(context.Context)) error {
	hups := make(chan struct{}, 1)
	hupCtx, endHups := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() { callForEach(hupCtx, hups, hup) })
	defer background.Wait()
	defer endHups()
	var shorten, giveUp, leave <-chan time.Time
	asked := 0
	for {
		select {
		case <-h.Done:
			return nil
		case s := <-signals:
			switch s {
			case syscall.SIGUSR1:
				folder.LogError(h.Logger, "cannot release the agents, so the city keeps running",
					h.Leave())
			case syscall.SIGHUP:
				select {
				case hups <- struct{}{}:
				default: // the next call of hup handles this signal too
				}
			default:
				endHups()
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
			h.Logger.Warn("stopping is taking too long; killing all sessions")
			giveUp = time.After(killLimit)
			h.killAll()
		case <-giveUp:
			h.Loop.GiveUp()
			leave = time.After(killLimit)
		case <-leave:
			return errors.New("the city did not stop in time; `gcity stop` stops its " +
				"remaining agents")
		}
	}
}

func callForEach(ctx context.Context, requests <-chan struct{}, f func(context.Context)) {
	for {
		select {
		case <-requests:
			if ctx.Err() == nil {
				f(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Leave makes the controller exit without stopping the agents. If that fails, the city keeps running.
func (h *City) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := h.Loop.Do(ctx, city.Shutdown{Leave: true})
	return err
}

// killAll kills all sessions, even if the loop hangs.
func (h *City) killAll() {
	h.Loop.Hurry()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	all, err := h.sessions.List(ctx) // the list might be incomplete after an error
	if err = errors.Join(err, sessions.EndSessions(ctx, h.sessions, all, 0)); err != nil {
		h.Logger.Error("cannot kill some sessions", "error", err)
	}
}

// ListenSignals returns a channel for the signals that HandleSignals handles, except INT, and a function that ends the
// delivery. From now on, a write to a closed stdout or stderr does not kill this process.
func ListenSignals() (chan os.Signal, func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	// nothing reads this channel; signal.Ignore would also apply to agents and other programs that gcity starts
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signals, func() { signal.Stop(signals) }
}

func (o CityOptions) saveConfigCache(_ string, good *config.City) {
	if good != nil {
		folder.LogError(o.Logger, "cannot save the city's stores and agents",
			folder.SaveConfigCache(o.at, good))
	}
}
