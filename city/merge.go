package city

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"
	"time"

	"gcity/internal/recovery"
)

// Merged yields the events of all cities of a directory: those after a cursor, then live, until ctx ends or the
// directory is gone. A city that comes joins with what has happened since then, its start with it, and an event
// events.Gap stands for what it did before while the stream was open; one that goes leaves it, one that is started
// again goes on where it was. What happened before the stream began comes in the order of the clock; besides, only
// the events of one city are in order. A slow reader is merely behind: no more than one event of a city waits for
// it. Events that a log does not have are stood for by an event events.Gap of that city, and so is a cursor that is
// beyond its log, or a fault in reading it. A city that does not answer although nobody waits any more is left
// behind when the stream ends.
func Merged(ctx context.Context, d Directory, from Cursor) iter.Seq2[Tagged, error] {
	return func(yield func(Tagged, error) bool) {
		for s, err := range MergedSteps(ctx, d, from) {
			switch {
			case err != nil:
				yield(Tagged{}, err)
				return
			case s.Event != nil && !yield(*s.Event, nil):
				return
			}
		}
	}
}

// Step is where a merged stream has come to.
type Step struct {
	Event *Tagged // nil: cities have joined, and At has them now
	At    Cursor  // to go on from, with all cities in it; good until the next step
	// of gcity itself, which Event tells of, or which ended the stream: a *recovery.Panic
	Fault error
}

// MergedSteps is Merged with the cursor after each event.
func MergedSteps(ctx context.Context, d Directory, from Cursor) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		m := &merge{
			ctx: ctx, dir: d, at: maps.Clone(from), opened: time.Now(), paths: map[string]string{},
			feeds: map[string]*feed{}, rests: map[string]rest{}, came: map[string]time.Time{},
			offers: make(chan offer), lists: make(chan []Info, 1), gone: make(chan error, 1),
		}
		if m.at == nil {
			m.at = Cursor{}
		}
		defer m.finish()
		defer cancel()
		m.running.Go(m.watch)
		m.run(yield)
	}
}

const (
	// An event that may be the oldest is waited for no longer than this; a city that is slower has its events when
	// they come.
	lateAfter = time.Second
	// A city that runs, and whose events cannot be had, is asked again after a while, which doubles.
	restMin, restMax = 100 * time.Millisecond, 5 * time.Second
	// startBefore is what of its past a city brings along that comes: it may have begun before anybody could see it.
	startBefore = time.Minute
	// leaveAfter is how long the end of a stream waits for cities to let go of it.
	leaveAfter = 2 * time.Second
)

// merge is one merged stream. All but what channels carry belongs to the goroutine of its reader.
type merge struct {
	ctx     context.Context
	dir     Directory
	opened  time.Time
	listed  bool // the first list was seen
	cities  []Info
	at      Cursor
	joined  bool                 // a city has joined, which no step has said yet
	came    map[string]time.Time // of the cities that were not there at first, when they were seen
	paths   map[string]string    // of the cities that at is about, as far as they were seen
	feeds   map[string]*feed
	rests   map[string]rest
	offers  chan offer
	lists   chan []Info // the newest
	gone    chan error  // why there are no more lists, nil = ctx has ended
	running sync.WaitGroup
}

// rest is a pause before a city is asked for its events again.
type rest struct {
	until time.Time
	took  time.Duration
}

// finish waits for all that works for the stream to end, but not for ever.
func (m *merge) finish() {
	ended := make(chan struct{})
	go func() { m.running.Wait(); close(ended) }() // as long as a city takes
	late := time.NewTimer(leaveAfter)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
}

// watch follows the directory.
func (m *merge) watch() {
	if fault := recovery.Catch(m.lookOn); fault != nil {
		m.gone <- fault
	}
}

func (m *merge) lookOn() {
	for all, err := range m.dir.Watch(m.ctx) {
		if err != nil {
			m.gone <- err
			return
		}
		select {
		case <-m.lists:
		default:
		}
		m.lists <- all // there is room: nobody else sends
	}
	m.gone <- nil
}

func (m *merge) run(yield func(Step, error) bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for m.ctx.Err() == nil {
		m.drain()
		now := time.Now()
		if m.joined && !m.opening(now) {
			if m.joined = false; !yield(Step{At: m.whole()}, nil) {
				return
			}
			continue
		}
		f, wake := m.next(now)
		if f != nil {
			if !m.give(f, yield) {
				return
			}
			continue
		}
		timer.Stop()
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case o := <-m.offers:
			m.joined = m.take(o) || m.joined
		case all := <-m.lists:
			m.follow(all)
		case err := <-m.gone:
			if fault, ok := errors.AsType[*recovery.Panic](err); ok {
				yield(Step{Fault: fault}, &Error{Code: Unavailable,
					Message: "which cities there are cannot be read: " + err.Error()})
			} else if err != nil {
				yield(Step{}, err)
			}
			return
		case <-timer.C:
			m.begin()
		case <-m.ctx.Done():
		}
	}
}

// drain takes what is there, so that a stream that never rests sees changes, and nobody is late whose reader was slow.
func (m *merge) drain() {
	for {
		select {
		case all := <-m.lists:
			m.follow(all)
		case o := <-m.offers:
			m.joined = m.take(o) || m.joined
		default:
			return
		}
	}
}

// opening reports whether a city is still to say where its events begin, and may be waited for.
func (m *merge) opening(now time.Time) bool {
	for _, f := range m.feeds {
		if !f.open && !f.slow && now.Before(f.asked.Add(lateAfter)) {
			return true
		}
	}
	return false
}

// whole returns the cursor with every city of the directory in it. A city whose end is not known, since it does not
// run or does not answer, is in it with 0: a reader that resumes with the cursor gets all of its events.
func (m *merge) whole() Cursor {
	var all Cursor
	for i := range m.cities {
		if _, known := m.at[m.cities[i].Name]; known {
			continue
		}
		if all == nil {
			all = maps.Clone(m.at)
		}
		all[m.cities[i].Name] = 0
	}
	if all == nil {
		return m.at
	}
	return all
}

// give yields what a city has offered, and lets it read on.
func (m *merge) give(f *feed, yield func(Step, error) bool) bool {
	e, fault := f.head, f.fault
	f.head, f.beyond = nil, false
	if fault == nil {
		m.at[f.name] = e.Seq
		delete(m.rests, f.name)
	}
	f.asked = time.Now()
	f.more <- struct{}{}
	m.joined = false // At has them
	return yield(Step{&Tagged{f.name, *e}, m.whole(), fault}, nil)
}

// next gives whose event is to be yielded: the oldest, where there is nobody who may have an older one. Else it
// says when there is something to do besides waiting for news, zero = never.
func (m *merge) next(now time.Time) (best *feed, wake time.Time) {
	sooner := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	for _, f := range m.feeds {
		switch late := f.asked.Add(lateAfter); {
		case f.head != nil:
			if best == nil || f.before(best) {
				best = f
			}
		case f.open && !f.beyond && m.at[f.name] >= f.last, f.slow: // what it has next is news
		case now.Before(late):
			sooner(late)
		default:
			f.slow = true
		}
	}
	if best != nil && wake.IsZero() {
		return best, wake
	}
	for _, r := range m.rests {
		if !r.until.IsZero() {
			sooner(r.until)
		}
	}
	return nil, wake
}

// take understands what a feed says, and tells whether a city has joined by it.
func (m *merge) take(o offer) (joined bool) {
	f := o.feed
	if m.feeds[f.name] != f {
		return false // it was told to end
	}
	f.slow = false
	switch {
	case o.over:
		delete(m.feeds, f.name)
		r := rest{took: max(restMin, min(2*m.rests[f.name].took, restMax))}
		r.until = time.Now().Add(r.took)
		m.rests[f.name] = r
	case o.event != nil:
		f.head, f.key, f.fault = o.event, o.key, o.fault
	default:
		f.open, f.last, f.beyond = true, o.last, o.after > o.last
		if _, known := m.at[f.name]; !known {
			m.at[f.name] = o.after
			return true
		}
	}
	return false
}

// follow takes a new list of cities in.
func (m *merge) follow(all []Info) {
	here := map[string]bool{}
	for i := range all {
		name := all[i].Name
		here[name] = true
		if path, seen := m.paths[name]; seen && path != all[i].Path { // another city by that name
			m.leave(name)
			delete(m.at, name)
			m.came[name] = time.Now()
		} else if !seen && m.listed {
			m.came[name] = time.Now()
		}
		m.paths[name] = all[i].Path
		// once it runs, it is asked at once
		if r, resting := m.rests[name]; resting && !all[i].Running {
			m.rests[name] = rest{took: r.took}
		}
	}
	for name := range m.feeds {
		if !here[name] {
			m.leave(name)
		}
	}
	m.cities = all
	m.begin()
	m.listed = true
}

func (m *merge) leave(name string) {
	if f := m.feeds[name]; f != nil {
		f.end()
		delete(m.feeds, name)
	}
	delete(m.rests, name)
}

// begin asks the cities that run for their events.
func (m *merge) begin() {
	now := time.Now()
	for name, r := range m.rests {
		if !r.until.After(now) {
			m.rests[name] = rest{took: r.took}
		}
	}
	for i := range m.cities {
		name := m.cities[i].Name
		if !m.cities[i].Running || m.feeds[name] != nil || m.rests[name].until.After(now) {
			continue
		}
		f := &feed{name: name, more: make(chan struct{}, 1), asked: now,
			slow: m.rests[name].took > 0}
		after, known := m.at[name]
		if !known && m.listed {
			f.began, f.since = m.opened, m.opened
			if at := m.came[name].Add(-startBefore); at.After(m.opened) {
				f.since = at
			}
		}
		ctx, end := context.WithCancel(m.ctx)
		f.end = end
		m.feeds[name] = f
		m.running.Go(func() { defer end(); f.run(ctx, m.dir, after, known, m.offers) })
	}
}
