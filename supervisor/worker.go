package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/internal/disk"
	"gcity/restart"
)

var retryDelays = restart.Policy{Backoff: 10 * time.Second, MaxBackoff: 300 * time.Second}

const (
	// time limit for stopping a city while its agents keep running
	leaveLimit = 30 * time.Second
	closeLimit = 5 * time.Second // how long to wait for an opening city that is no longer wanted
)

var (
	errGone         = errors.New("the city is no longer registered")
	errUnresponsive = errors.New("the city's folder does not respond; check the file " +
		"system that is mounted there")
)

// worker runs one city, in the goroutine of runRecovering. The supervisor's mu protects shared fields.
type worker struct {
	s    *Supervisor
	path string
	gone chan struct{} // closed to stop the worker
	left chan struct{} // closed before gone, if the agents must keep running
	done chan struct{}
	wake chan struct{} // receives a value to request an immediate retry

	opening chan opened // only the worker's goroutine uses it
	watch   configWatch

	name    string
	next    string // the city's name after its next start
	state   city.Condition
	why     string
	cause   city.Cause // of why, while the state is refused
	since   time.Time
	until   time.Time
	crashes int
	lives   int  // number of sessions from an earlier run
	ended   int  // number of sessions from an earlier run that the worker has stopped
	running City // nil = the city is not running
	opens   bool // the city is being opened under its current name
	how     ending
	again   *Entry // set if the city was registered again before it stopped
	err     error  // from stopping the city
	other   error  // set if another controller keeps running the city
}

type opened struct {
	city City
	err  error
}

func newWorker(s *Supervisor, e Entry) *worker {
	return &worker{s: s, path: e.Path, next: e.Name, state: city.CityStarting, since: time.Now(),
		gone: make(chan struct{}), left: make(chan struct{}), done: make(chan struct{}),
		wake: make(chan struct{}, 1), watch: configWatch{edits: make(chan struct{}, 1)}}
}

func (w *worker) run() {
	for tries, broken := 0, false; ; {
		var until time.Time
		var c City
		err := w.begin()
		if err == nil {
			c, err = w.open()
		}
		if err != nil {
			if w.dismissed() {
				w.endUnopened(err, broken)
				return
			}
			tries++
			until = retryDelays.Again(time.Now(), tries)
			if _, taken := errors.AsType[*takenError](err); taken || w.s.o.Busy(err) {
				until = time.Now().Add(w.s.patrol())
			}
			w.setRefused(err, until)
		} else {
			w.watch.stop()
			began := time.Now()
			err = w.runCity(c)
			if w.dismissed() {
				w.end(err)
				return
			}
			if disk.IsRemoved(err) {
				broken = false
				continue // the next attempt to open the city fails, unless the folder exists again
			}
			if time.Since(began) > retryDelays.MaxBackoff {
				tries = 0
			}
			if broken = err != nil; broken {
				tries++
				until = retryDelays.Again(time.Now(), tries)
				w.setCrashed(err, until)
			} else {
				tries = 0
				w.setStopped()
			}
		}
		if !w.pause(until) && (!broken || w.isLeaving()) {
			w.endUnopened(err, broken)
			return
		}
	}
}

func (w *worker) runCity(c City) error {
	ctx, stop := context.WithCancel(context.Background())
	stops := true
	defer func() {
		if stops { // canceling ctx would also stop agents that must keep running
			stop()
		}
	}()
	hurried := false
	w.set(func() {
		w.running, w.opens = c, false
		hurried = w.s.hurried && w.s.ending != leaving
	})
	ended := make(chan error, 1)
	// after Leave, the code below waits at most leaveLimit for this goroutine
	go func() { ended <- guarded(func() error { return c.Run(ctx, func() { w.ready() }) }) }()
	if hurried {
		c.Hurry()
	}
	select {
	case err := <-ended:
		return err
	case <-w.gone:
	}
	w.setState(city.CityStopping, "", time.Time{})
	if w.isLeaving() {
		stops = false
		c.Leave()
		select {
		case err := <-ended:
			return err
		case <-time.After(leaveLimit):
			return errors.New("the city did not stop in time; its agents keep running")
		}
	}
	stop()
	return <-ended
}

// pause waits until the next attempt to start the city is due. It returns false if the city must not run anymore.
func (w *worker) pause(until time.Time) bool {
	var edits <-chan struct{}
	if !until.IsZero() { // a configuration change does not restart a city that was stopped
		w.startWatch()
		if w.opening == nil { // otherwise, a retry would only wait for the attempt in progress
			edits = w.watch.edits
		}
	}
	var due <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-w.gone:
		return false
	case <-due:
	case <-w.wake:
	case <-edits:
	case o := <-w.opening:
		w.opening <- o // the channel is buffered, so this does not block
	}
	return true
}

func (w *worker) begin() (err error) {
	w.set(func() {
		if !w.dismissed() && !w.opens {
			err = w.takeName()
		}
		select {
		case <-w.wake: // this attempt is the requested retry
		default:
		}
		w.changeState(city.CityStarting)
	})
	return err
}

func (w *worker) setState(state city.Condition, why string, until time.Time) {
	w.set(func() {
		w.changeState(state)
		w.why, w.until = why, until
	})
}

// setStopped sets the state of a city that a user has stopped.
func (w *worker) setStopped() {
	w.set(func() {
		if len(w.wake) > 0 { // the city was registered while it was stopping
			w.changeState(city.CityStarting)
			return
		}
		w.changeState(city.CityStopped)
		w.why = "the city was stopped by hand, not by the supervisor; run `gcity start` in its " +
			"folder to start it again"
	})
}

// nextAttempt returns until. It corrects its wall-clock time after the clock was set. The caller must hold mu.
func (w *worker) nextAttempt() time.Time {
	now := time.Now()
	current := now.Add(w.until.Sub(now))
	// a difference below a second is not corrected, so that Watch does not report a city without a change
	if current.Round(0).Sub(w.until.Round(0)).Abs() >= time.Second {
		w.until = current
	}
	return w.until
}

// changeState changes the state. The caller must hold mu.
func (w *worker) changeState(state city.Condition) {
	if state != city.CityRunning && state != city.CityStopping {
		w.running = nil
	}
	if w.state != state {
		w.state, w.since = state, time.Now()
	}
	w.until = time.Time{}
}

func (w *worker) ready() {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.state == city.CityStarting {
		w.state, w.why, w.since, w.until = city.CityRunning, "", time.Now(), time.Time{}
		w.s.change()
		w.s.o.Logger.Info("the city is running", "city", w.name, "path", w.path)
	}
}

func (w *worker) set(f func()) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	f()
	w.s.change()
}

func (w *worker) end(err error) {
	w.set(func() {
		w.changeState(city.CityStopped)
		if w.err = err; err != nil {
			w.why = err.Error()
		}
	})
}

func (w *worker) entry() Entry {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return Entry{Path: w.path, Name: w.name}
}

func (w *worker) result() error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("%s (%s): %w", w.name, w.path, w.err)
}

// poke immediately retries a waiting city. If stopped is true, it also starts a city that a user has stopped. It
// returns false if it has no effect. The caller must hold mu.
func (w *worker) poke(stopped bool) bool {
	switch w.state {
	case city.CityStopped:
		if !stopped || w.dismissed() && w.again == nil {
			return false
		}
	case city.CityRefused, city.CityCrashed:
	default:
		return false
	}
	w.changeState(city.CityStarting)
	w.s.change()
	w.requestRetry()
	return true
}

// requestRetry makes the city start immediately, or immediately after it has stopped. The caller must hold mu.
func (w *worker) requestRetry() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *worker) finish(how ending) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.how = how
	w.dismiss()
}

// dismiss stops the worker. The caller must hold mu.
func (w *worker) dismiss() {
	if !w.dismissed() {
		if w.how == leaving {
			close(w.left)
		}
		close(w.gone)
	}
	w.again = nil
}

func (w *worker) dismissed() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// restartAfterStop makes the city start again after it has stopped. The caller must hold mu.
func (w *worker) restartAfterStop(e Entry) { w.again = &e }

func (w *worker) isLeaving() bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.how == leaving
}
