package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/internal/disk"
	"gcity/trust"
)

// house is a city that this process runs.
type house struct {
	parts
	dir    string
	logger *slog.Logger
	done   chan struct{} // closed when the loop has ended
	err    error         // of the loop, once done is closed
}

// houseOptions is how a city is hosted.
type houseOptions struct {
	dir    string
	at     string        // set by assemble, see parts
	source config.Source // of the configuration
	grant  trust.Grant   // of its programs
	mode   string        // "console", "headless", controller.Supervised, "settle"
	logger *slog.Logger
	beat   func(status string)                         // after each turn of the loop; must not wait
	allow  func(ctx context.Context, agents int) error // see controller.Options; may be nil
}

// openHouse reads the configuration, takes the city's lock and puts the parts together. Nothing runs yet.
func (a *app) openHouse(ctx context.Context, o houseOptions) (*house, error) {
	var err error
	if o.source, err = a.source(o.dir); err != nil {
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
	if err := disk.MakePrivate(filepath.Join(o.dir, ".gc")); err != nil {
		return nil, err
	}
	p, err := assemble(ctx, c, a.version, o)
	if err != nil {
		return nil, err
	}
	if err := keepSource(p.at, o.source); err != nil {
		o.logger.Warn("other commands will not know of the files given with -f", "error", err)
	}
	if err := keepKnown(p.at, c); err != nil {
		o.logger.Warn("mail and work will need a file without mistakes while no controller runs", "error", err)
	}
	closeParts := p.close
	p.close = func() { dropSource(p.at); closeParts() }
	if err := hideFromGit(gcDir(p.at)); err != nil {
		o.logger.Warn("git will see what is made at run time", "error", err)
	}
	if err := linkBinary(p.at); err != nil {
		o.logger.Warn("agents will not find gc on their PATH", "error", err)
	}
	return &house{parts: p, dir: o.dir, logger: o.logger, done: make(chan struct{})}, nil
}

// run hosts the city until it is stopped. ready is called once, when the socket answers. It returns when the loop, the
// socket and everything it started have ended, and closes the house.
func (h *house) run(ctx context.Context, ready func()) error {
	defer h.close()
	loopCtx, stop := context.WithCancel(ctx)
	defer stop()
	serveCtx, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer hush()
	g := household{tell: h.faults}
	g.Go(func() error {
		defer close(h.done)
		defer hush()
		h.err = h.loop.Run(loopCtx)
		if errors.Is(h.err, context.Canceled) {
			h.err = nil
		}
		return h.err
	})
	g.Go(func() error {
		h.firstLook(serveCtx)
		err := h.serve(serveCtx)
		if err != nil && serveCtx.Err() == nil {
			h.logger.Error("the city's socket is lost; agents run on", "error", err)
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
	if _, err := h.loop.Snapshot(ctx); err == nil {
		ready()
	}
	return g.Wait()
}

// lookPatience is how long those who ask by the socket wait at most for the first look at the sessions.
const lookPatience = 2 * time.Second

// firstLook waits until it is known who runs: a member that is one too many would be told that it is not there.
func (h *house) firstLook(ctx context.Context) {
	late := time.NewTimer(lookPatience)
	defer late.Stop()
	select {
	case <-h.loop.Looked():
	case <-late.C:
	case <-h.done:
	case <-ctx.Done():
	}
}

// givenUp says on stderr what the city has not done at its end, for lack of time.
func (a *app) givenUp(h *house) {
	if what := h.last.End(); what != "" {
		a.Warn(fmt.Sprintf("the city has ended, and this was given up after %s: %s", h.last.Limit(), what))
	}
}

// killLimit is how long it may take, once every session is ended at once, until none is left; and if one is, until the loop has
// ended.
const killLimit = 10 * time.Second

// stopMargin is how long before the loop gives up, and leaves agents running, every session is ended at once: by the loop too,
// if it turns.
const stopMargin = killLimit

// obey answers signals until the loop has ended: TERM and INT stop the city, a second one at once; USR1 leaves the
// agents; HUP is given to hup.
func (h *house) obey(signals <-chan os.Signal, stop context.CancelFunc, hup func()) error {
	var shorten, giveUp, leave <-chan time.Time
	asked := 0
	for {
		select {
		case <-h.done:
			return nil
		case s := <-signals:
			switch s {
			case syscall.SIGUSR1:
				logError(h.logger, "cannot leave the agents: the city goes on", h.leave())
			case syscall.SIGHUP:
				hup()
			default:
				asked++
				h.logger.Info("stopping the city", "signal", s.String(), "asked", asked)
				stop()
				if asked == 1 {
					shorten = time.After(h.loop.StopLimit() - stopMargin)
					continue
				}
				giveUp = time.After(killLimit)
				h.killAll()
			}
		case <-shorten:
			h.logger.Warn("the stop takes too long, ending every session at once")
			giveUp = time.After(killLimit)
			h.killAll()
		case <-giveUp:
			h.loop.GiveUp()
			leave = time.After(killLimit)
		case <-leave:
			return errors.New("the city did not end in time; `gcity stop` ends what is left")
		}
	}
}

// leave ends the controller and keeps the agents. If it cannot, the city goes on.
func (h *house) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := h.loop.Do(ctx, city.Shutdown{Leave: true})
	return err
}

// killAll ends every session without grace; the loop notices that they are gone.
func (h *house) killAll() {
	h.loop.Hurry()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	all, err := h.sessions.List(ctx) // with an error, perhaps a part
	if err = errors.Join(err, endSessions(ctx, h.sessions, all, 0)); err != nil {
		h.logger.Error("some sessions could not be ended", "error", err)
	}
}

// listenSignals delivers what obey understands, but for INT. The caller calls the second result when done.
func listenSignals() (chan os.Signal, func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// hideFromGit keeps what runs out of a repository that the city may be in.
func hideFromGit(dir string) error {
	err := writeNew(filepath.Join(dir, ".gitignore"), "*\n")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// linkBinary makes .gc/bin anew: gc is a link to this program, so that agents and their scripts can call it. The folder
// is first on every agent's PATH, so nothing else stays in it.
func linkBinary(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	bin := binDir(dir)
	if err := disk.MakePrivate(bin); err != nil {
		if _, err := disk.SetAside(bin); err != nil {
			return err
		}
		if err := disk.MakePrivate(bin); err != nil {
			return err
		}
	}
	there, err := disk.ReadDir(bin)
	for _, e := range there {
		if path := filepath.Join(bin, e.Name()); e.Name() != "gc" || e.Type() != fs.ModeSymlink {
			err = errors.Join(err, disk.RemoveAll(path))
		}
	}
	return errors.Join(err, disk.Link(exe, filepath.Join(bin, "gc")))
}
