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

// Merged yields the events of all cities in a directory: first those after a cursor, then live events. It ends when ctx
// ends or the directory becomes unavailable. Events from before the start of the stream are sorted by time. Later
// events are in order only within each city. Cities can be added, removed and restarted during the stream. An
// events.Gap stands for missing events, a read error, or a cursor beyond the end of a log.
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

// Step is one step of a merged stream.
type Step struct {
	Event *Tagged // nil = there is no event, but cities were added to At
	At    Cursor  // the cursor to resume from; valid until the next step
	// a panic that Event reports, or that ended the stream; its type is *recovery.Panic
	Fault error
}

// MergedSteps is like Merged, but also yields the cursor after each event.
func MergedSteps(ctx context.Context, d Directory, from Cursor) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		m := &merge{
			ctx: ctx, dir: d, at: maps.Clone(from), opened: time.Now(), paths: map[string]string{},
			feeds: map[string]*feed{}, retries: map[string]retryDelay{},
			joinedAt: map[string]time.Time{},
			offers:   make(chan offer), lists: make(chan []Info, 1),
			listsEnded: make(chan error, 1),
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
	// time to wait for an older event from a slow city
	maxEventDelay = time.Second
	// delay before a city is queried again
	retryMin, retryMax = 100 * time.Millisecond, 5 * time.Second
	// A city might have started this long before the directory listed it.
	readBefore    = time.Minute
	finishTimeout = 2 * time.Second
)

// The reader's goroutine owns all fields except channels.
type merge struct {
	ctx        context.Context
	dir        Directory
	opened     time.Time
	listed     bool
	cities     []Info
	at         Cursor
	joined     bool                 // a city has been added, but no step has reported it yet
	joinedAt   map[string]time.Time // when a city was added, if it was not in the first list
	paths      map[string]string
	feeds      map[string]*feed
	retries    map[string]retryDelay
	offers     chan offer
	lists      chan []Info
	listsEnded chan error // the value nil means that ctx has ended
	running    sync.WaitGroup
}

type retryDelay struct {
	until time.Time
	took  time.Duration
}

func (m *merge) finish() {
	ended := make(chan struct{})
	go func() { m.running.Wait(); close(ended) }()
	late := time.NewTimer(finishTimeout)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
}

func (m *merge) watch() {
	if fault := recovery.Catch(m.watchDirectory); fault != nil {
		m.listsEnded <- fault
	}
}

func (m *merge) watchDirectory() {
	for all, err := range m.dir.Watch(m.ctx) {
		if err != nil {
			m.listsEnded <- err
			return
		}
		select {
		case <-m.lists:
		default:
		}
		m.lists <- all // does not block: the channel is empty and has no other sender
	}
	m.listsEnded <- nil
}

func (m *merge) run(yield func(Step, error) bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for m.ctx.Err() == nil {
		m.drain()
		now := time.Now()
		if m.joined && !m.opening(now) {
			if m.joined = false; !yield(Step{At: m.completeCursor()}, nil) {
				return
			}
			continue
		}
		f, wake := m.next(now)
		if f != nil {
			if !m.yieldNext(f, yield) {
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
			m.joined = m.handleOffer(o) || m.joined
		case all := <-m.lists:
			m.updateCities(all)
		case err := <-m.listsEnded:
			if fault, ok := errors.AsType[*recovery.Panic](err); ok {
				yield(Step{Fault: fault},
					Errorf(Unavailable, "cannot read the list of cities: %v", err))
			} else if err != nil {
				yield(Step{}, err)
			}
			return
		case <-timer.C:
			m.startFeeds()
		case <-m.ctx.Done():
		}
	}
}

// A busy stream must not miss new lists or offers.
func (m *merge) drain() {
	for {
		select {
		case all := <-m.lists:
			m.updateCities(all)
		case o := <-m.offers:
			m.joined = m.handleOffer(o) || m.joined
		default:
			return
		}
	}
}

func (m *merge) opening(now time.Time) bool {
	for _, f := range m.feeds {
		if !f.open && !f.slow && now.Before(f.asked.Add(maxEventDelay)) {
			return true
		}
	}
	return false
}

// A city without a known position gets seq 0, so that a resuming reader gets all of its events.
func (m *merge) completeCursor() Cursor {
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

func (m *merge) yieldNext(f *feed, yield func(Step, error) bool) bool {
	e, fault := f.nextEvent, f.fault
	f.nextEvent, f.beyond = nil, false
	if fault == nil {
		m.at[f.name] = e.Seq
		delete(m.retries, f.name)
	}
	f.asked = time.Now()
	f.next <- struct{}{}
	m.joined = false
	return yield(Step{&Tagged{f.name, *e}, m.completeCursor(), fault}, nil)
}

// next returns the feed with the oldest event, or nil while another city might have an older one. At wake, the caller
// must call startFeeds and next again even if no message has arrived; zero = never.
func (m *merge) next(now time.Time) (best *feed, wake time.Time) {
	sooner := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	for _, f := range m.feeds {
		switch late := f.asked.Add(maxEventDelay); {
		case f.nextEvent != nil:
			if best == nil || f.before(best) {
				best = f
			}
		case f.open && !f.beyond && m.at[f.name] >= f.last, f.slow:
			// do not wait: the city has no older events, or is slow
		case now.Before(late):
			sooner(late)
		default:
			f.slow = true
		}
	}
	if best != nil && wake.IsZero() {
		return best, wake
	}
	for _, r := range m.retries {
		if !r.until.IsZero() {
			sooner(r.until)
		}
	}
	return nil, wake
}

func (m *merge) handleOffer(o offer) (joined bool) {
	f := o.feed
	if m.feeds[f.name] != f {
		return false
	}
	f.slow = false
	switch {
	case o.over:
		delete(m.feeds, f.name)
		r := retryDelay{took: max(retryMin, min(2*m.retries[f.name].took, retryMax))}
		r.until = time.Now().Add(r.took)
		m.retries[f.name] = r
	case o.event != nil:
		f.nextEvent, f.headTime, f.fault = o.event, o.key, o.fault
	default:
		f.open, f.last, f.beyond = true, o.last, o.after > o.last
		if _, known := m.at[f.name]; !known {
			m.at[f.name] = o.after
			return true
		}
	}
	return false
}

func (m *merge) updateCities(all []Info) {
	here := map[string]bool{}
	for i := range all {
		name := all[i].Name
		here[name] = true
		if path, seen := m.paths[name]; seen && path != all[i].Path {
			m.removeCity(name)
			delete(m.at, name)
			m.joinedAt[name] = time.Now()
		} else if !seen && m.listed {
			m.joinedAt[name] = time.Now()
		}
		m.paths[name] = all[i].Path
		// while a city is not running, drop its retry delay, so that its events are requested as soon as it runs
		if r, resting := m.retries[name]; resting && !all[i].Running {
			m.retries[name] = retryDelay{took: r.took}
		}
	}
	for name := range m.feeds {
		if !here[name] {
			m.removeCity(name)
		}
	}
	m.cities = all
	m.startFeeds()
	m.listed = true
}

func (m *merge) removeCity(name string) {
	if f := m.feeds[name]; f != nil {
		f.end()
		delete(m.feeds, name)
	}
	delete(m.retries, name)
}

func (m *merge) startFeeds() {
	now := time.Now()
	for name, r := range m.retries {
		if !r.until.After(now) {
			m.retries[name] = retryDelay{took: r.took}
		}
	}
	for i := range m.cities {
		name := m.cities[i].Name
		if !m.cities[i].Running || m.feeds[name] != nil || m.retries[name].until.After(now) {
			continue
		}
		f := &feed{name: name, next: make(chan struct{}, 1), asked: now,
			slow: m.retries[name].took > 0}
		after, known := m.at[name]
		if !known && m.listed {
			f.began, f.startAt = m.opened, m.opened
			if at := m.joinedAt[name].Add(-readBefore); at.After(m.opened) {
				f.startAt = at
			}
		}
		ctx, end := context.WithCancel(m.ctx)
		f.end = end
		m.feeds[name] = f
		m.running.Go(func() { defer end(); f.run(ctx, m.dir, after, known, m.offers) })
	}
}
