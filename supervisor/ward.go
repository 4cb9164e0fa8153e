package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/internal/recovery"
	"gcity/restart"
)

// waits is when a city is tried again that broke, or that cannot be opened.
var waits = restart.Policy{Backoff: 10 * time.Second, MaxBackoff: 300 * time.Second}

const (
	leaveLimit = 30 * time.Second // for a city that is to leave its agents; they stay in any case
	closeLimit = 5 * time.Second  // for one that is not wanted any more while it is being opened
)

var (
	errGone = errors.New("it is not wanted any more")
	errMute = errors.New("its folder does not answer; look at what is mounted there")
)

// ward is a city in the supervisor's care. Its goroutine is live; what others see is guarded by the supervisor's mu.
type ward struct {
	s    *Supervisor
	path string
	gone chan struct{} // closed when it is to end
	left chan struct{} // closed before that if its agents are to stay
	done chan struct{} // closed when it has
	wake chan struct{} // it is to be tried again now

	opening chan opened // of the goroutine that opens the city; that goroutine's own
	edits   chan struct{}
	watched bool

	name    string
	next    string // what it is called once it begins anew
	state   city.Condition
	why     string
	since   time.Time
	until   time.Time
	crashes int
	lives   int  // sessions of an earlier run, when it was refused
	ended   int  // of those, when it ended
	running City // nil = nobody runs it
	how     ending
	again   *Entry // it was registered again before it had ended
	err     error  // how it ended
}

type opened struct {
	city City
	err  error
}

func newWard(s *Supervisor, e Entry) *ward {
	return &ward{s: s, path: e.Path, next: e.Name, state: city.CityStarting, since: time.Now(),
		gone: make(chan struct{}), left: make(chan struct{}), done: make(chan struct{}),
		wake: make(chan struct{}, 1), edits: make(chan struct{}, 1)}
}

// run keeps the city until it is not wanted any more. Then its agents are ended, unless they are to stay: also
// those of a city that is just being opened, or that broke and waits to be taken up again.
func (w *ward) run() {
	for tries, broken := 0, false; ; {
		var until time.Time
		var c City
		err := w.begin()
		if err == nil {
			c, err = w.open()
		}
		if err != nil {
			if w.dismissed() {
				w.unopened(err, broken)
				return
			}
			tries++
			until = waits.Again(time.Now(), tries)
			if _, taken := errors.AsType[*takenError](err); taken || w.s.o.Busy(err) {
				until = time.Now().Add(w.s.patrol())
			}
			w.refused(err, until)
		} else {
			began := time.Now()
			err = w.keep(c)
			if w.dismissed() {
				w.end(err)
				return
			}
			if time.Since(began) > waits.MaxBackoff {
				tries = 0
			}
			if broken = err != nil; broken {
				tries++
				until = waits.Again(time.Now(), tries)
				w.broke(err, until)
			} else {
				tries = 0
				w.be(city.CityStopped, "it was stopped, and not by the supervisor; `gcity start` "+
					"in its folder runs it again", until)
			}
		}
		if !w.pause(until) && (!broken || w.leaves()) {
			w.unopened(err, broken)
			return
		}
	}
}

// keep runs the city until it has ended.
func (w *ward) keep(c City) error {
	ctx, stop := context.WithCancel(context.Background())
	stops := true
	defer func() {
		if stops { // else its agents would be ended that are to stay
			stop()
		}
	}()
	w.set(func() { w.running = c })
	ended := make(chan error, 1)
	// ended is waited for, unless it hangs
	go func() { ended <- guarded(func() error { return c.Run(ctx, func() { w.ready() }) }) }()
	select {
	case err := <-ended:
		return err
	case <-w.gone:
	}
	w.be(city.CityStopping, "", time.Time{})
	if w.leaves() {
		stops = false
		c.Leave()
		late := time.NewTimer(leaveLimit)
		defer late.Stop()
		select {
		case err := <-ended:
			return err
		case <-late.C:
			return errors.New("it did not let go of its agents in time; they run on")
		}
	}
	stop()
	return <-ended
}

// pause waits until the city is to be tried again: at a time, unless that is zero, or when somebody says so, or
// when its configuration changes. It reports false if it is not wanted any more.
func (w *ward) pause(until time.Time) bool {
	ctx, cancel := context.WithCancel(w.s.lifetime())
	defer cancel()
	var edits <-chan struct{}
	if !until.IsZero() { // what was stopped stays so, whatever is edited
		edits = w.watch(ctx)
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
		w.opening <- o // it has room for one; open takes it
	}
	return true
}

// watch tells of edits of the configuration until ctx ends. One that never answers is not asked twice.
func (w *ward) watch(ctx context.Context) <-chan struct{} {
	if w.s.o.Watch == nil || !w.claim() {
		return w.edits
	}
	select {
	case <-w.edits: // of before
	default:
	}
	go func() { // until ctx ends, or as long as it takes
		defer w.set(func() { w.watched = false })
		_ = recovery.Catch(func() { // whatever breaks there, the city is tried again in time
			for range w.s.o.Watch(ctx, w.path) {
				select {
				case w.edits <- struct{}{}:
				default:
				}
			}
		})
	}()
	return w.edits
}

func (w *ward) claim() bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.watched {
		return false
	}
	w.watched = true
	return true
}

// begin shows that the city is tried. Why it was refused stays known meanwhile.
func (w *ward) begin() (err error) {
	w.set(func() {
		if !w.dismissed() {
			err = w.take()
		}
		select {
		case <-w.wake: // it has what it was woken for
		default:
		}
		w.turn(city.CityStarting)
	})
	return err
}

// be shows how the city is.
func (w *ward) be(state city.Condition, why string, until time.Time) {
	w.set(func() {
		w.turn(state)
		w.why, w.until = why, until
	})
}

// turn changes the state: nobody runs a city any more that neither runs nor stops. The caller holds mu.
func (w *ward) turn(state city.Condition) {
	if state != city.CityRunning && state != city.CityStopping {
		w.running = nil
	}
	if w.state != state {
		w.state, w.since = state, time.Now()
	}
	w.until = time.Time{}
}

func (w *ward) ready() {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.state == city.CityStarting {
		w.state, w.why, w.since, w.until = city.CityRunning, "", time.Now(), time.Time{}
		w.s.change()
		w.s.o.Logger.Info("the city runs", "city", w.name, "path", w.path)
	}
}

func (w *ward) set(f func()) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	f()
	w.s.change()
}

func (w *ward) end(err error) {
	w.set(func() {
		w.turn(city.CityStopped)
		if w.err = err; err != nil {
			w.why = err.Error()
		}
	})
}

func (w *ward) entry() Entry {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return Entry{Path: w.path, Name: w.name}
}

// verdict is how the city ended, once it has.
func (w *ward) verdict() error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("%s (%s): %w", w.name, w.path, w.err)
}

// poke has the city tried again now, if it waits for that; one that was stopped by somebody only if that is meant.
// The caller holds mu.
func (w *ward) poke(stopped bool) {
	switch w.state {
	case city.CityStopped:
		if !stopped {
			return
		}
	case city.CityRefused, city.CityCrashed:
	default:
		return
	}
	w.turn(city.CityStarting)
	w.s.change()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// finish ends the ward.
func (w *ward) finish(how ending) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.how = how
	w.dismiss()
}

// dismiss has the ward end, with the agents of its city unless the supervisor leaves. The caller holds mu.
func (w *ward) dismiss() {
	if !w.dismissed() {
		if w.how == leaving {
			close(w.left)
		}
		close(w.gone)
	}
	w.again = nil
}

func (w *ward) dismissed() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// comeBack has the city begin anew once it has ended. The caller holds mu.
func (w *ward) comeBack(e Entry) { w.again = &e }

func (w *ward) leaves() bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.how == leaving
}

func (w *ward) hurry() {
	w.s.mu.Lock()
	c := w.running
	w.s.mu.Unlock()
	if c != nil {
		c.Hurry()
	}
}
