package tui

import (
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/terminal"
)

// news is everything that came in since the model last heard, in one message.
type news struct {
	snap *city.Snapshot // nil = nothing new
	// why the city cannot be heard, "" = it is heard again; nil = nothing new
	gone    *string
	events  []events.Event // oldest first
	results []result
	found   []found
	pane    *terminal.News

	person    *Person // preferences, when they have changed
	inspected []inspected
	dug       []dug
	edited    *edited     // how an edit ended; nil = nothing new
	fleet     *fleet.List // the cities; nil = nothing new
	arrival   *arrival
}

func (n *news) empty() bool {
	return n.snap == nil && n.gone == nil && len(n.events) == 0 && len(n.results) == 0 &&
		len(n.found) == 0 && n.pane == nil && n.person == nil && len(n.inspected) == 0 &&
		len(n.dug) == 0 && n.edited == nil && n.fleet == nil && n.arrival == nil
}

// maxPending bounds the events kept while the model does not listen (up to twice as many for a moment). Older ones are
// dropped: the panel keeps no more either, and the log has them all.
const maxPending = panel.Kept

// mailbox keeps the newest of everything until the pump takes it. Putting something in never waits.
type mailbox struct {
	mu      sync.Mutex
	pending news
	newest  uint64        // seq of the newest event that was put in
	paneGap time.Duration // least time between two looks at the pane
	paneAt  time.Time     // of the last look
	wake    chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// put changes what is pending and wakes the pump.
func (b *mailbox) put(change func(*news)) {
	b.mu.Lock()
	change(&b.pending)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *mailbox) putSnapshot(s *city.Snapshot) {
	b.put(func(n *news) {
		ok := ""
		n.gone = &ok
		if n.snap == nil || s.Rev > n.snap.Rev || !s.Started.Equal(n.snap.Started) ||
			// what a stream brings may be older than an answer
			s.Rev == n.snap.Rev && !s.Patrol.Last.Before(n.snap.Patrol.Last) {
			n.snap = s
		}
	})
}

func (b *mailbox) putGone(why string) { b.put(func(n *news) { n.gone = &why }) }

func (b *mailbox) putEvent(e events.Event) {
	b.put(func(n *news) {
		if e.Seq <= b.newest && e.Seq > 0 {
			return // a stream that was left brings it once more
		}
		b.newest = e.Seq
		n.events = append(n.events, e)
		if len(n.events) == 2*maxPending {
			n.events = append([]events.Event(nil), n.events[maxPending:]...)
		}
	})
}

// last is the seq of the newest event that was put in, 0 = none was.
func (b *mailbox) last() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

func (b *mailbox) putResult(r result) { b.put(func(n *news) { n.results = append(n.results, r) }) }

func (b *mailbox) putFound(f found) { b.put(func(n *news) { n.found = append(n.found, f) }) }

func (b *mailbox) putPerson(p Person) { b.put(func(n *news) { n.person = &p }) }

func (b *mailbox) putPane(p terminal.News) { b.put(func(n *news) { n.pane = &p }) }

// pace sets the least time between two looks at the pane.
func (b *mailbox) pace(gap time.Duration) {
	b.mu.Lock()
	b.paneGap = gap
	b.mu.Unlock()
}

// take empties the mailbox. A pane that was looked at too recently stays in it; next says when it is due, the zero time
// if nothing waits.
func (b *mailbox) take(now time.Time) (n news, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, b.pending = b.pending, news{}
	if n.pane == nil {
		return n, time.Time{}
	}
	if due := b.paneAt.Add(b.paneGap); now.Before(due) && !n.pane.Urgent {
		b.pending.pane, n.pane = n.pane, nil
		return n, due
	}
	b.paneAt = now
	return n, time.Time{}
}
