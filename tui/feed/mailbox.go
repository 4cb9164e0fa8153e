package feed

import (
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/terminal"
)

// News is everything that came in since the model last heard, in one message.
type News struct {
	Snap *city.Snapshot // nil = nothing new
	// why the city cannot be heard, "" = it is heard again; nil = nothing new
	Gone    *string
	Events  []events.Event // oldest first
	Results []Result
	Found   []FoundBeads
	Pane    *terminal.News

	Person    *Person // preferences, when they have changed
	Inspected []Inspected
	Dug       []LoadedHistory
	Edited    *Edited     // how an edit ended; nil = nothing new
	Fleet     *fleet.List // the cities; nil = nothing new
	Arrival   *Arrival
}

func (n *News) Empty() bool {
	return n.Snap == nil && n.Gone == nil && len(n.Events) == 0 && len(n.Results) == 0 &&
		len(n.Found) == 0 && n.Pane == nil && n.Person == nil && len(n.Inspected) == 0 &&
		len(n.Dug) == 0 && n.Edited == nil && n.Fleet == nil && n.Arrival == nil
}

// MaxPending bounds the events kept while the model does not listen (up to twice as many for a moment). Older ones are
// dropped: the panel keeps no more either, and the log has them all.
const MaxPending = panel.Kept

// Mailbox keeps the newest of everything until the pump takes it. Putting something in never waits.
type Mailbox struct {
	mu      sync.Mutex
	pending News
	newest  uint64        // seq of the newest event that was put in
	paneGap time.Duration // least time between two looks at the pane
	paneAt  time.Time     // of the last look
	wake    chan struct{}
}

func NewMailbox() *Mailbox { return &Mailbox{wake: make(chan struct{}, 1)} }

// Put changes what is pending and wakes the pump.
func (b *Mailbox) Put(change func(*News)) {
	b.mu.Lock()
	change(&b.pending)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *Mailbox) PutSnapshot(s *city.Snapshot) {
	b.Put(func(n *News) {
		ok := ""
		n.Gone = &ok
		if n.Snap == nil || s.Rev > n.Snap.Rev || !s.Started.Equal(n.Snap.Started) ||
			// what a stream brings may be older than an answer
			s.Rev == n.Snap.Rev && !s.Patrol.Last.Before(n.Snap.Patrol.Last) {
			n.Snap = s
		}
	})
}

func (b *Mailbox) putGone(why string) { b.Put(func(n *News) { n.Gone = &why }) }

func (b *Mailbox) PutEvent(e events.Event) {
	b.Put(func(n *News) {
		if e.Seq <= b.newest && e.Seq > 0 {
			return // a stream that was left brings it once more
		}
		b.newest = e.Seq
		n.Events = append(n.Events, e)
		if len(n.Events) == 2*MaxPending {
			n.Events = append([]events.Event(nil), n.Events[MaxPending:]...)
		}
	})
}

// last is the seq of the newest event that was put in, 0 = none was.
func (b *Mailbox) last() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

func (b *Mailbox) putResult(r Result) { b.Put(func(n *News) { n.Results = append(n.Results, r) }) }

func (b *Mailbox) putFound(f FoundBeads) { b.Put(func(n *News) { n.Found = append(n.Found, f) }) }

func (b *Mailbox) PutPerson(p Person) { b.Put(func(n *News) { n.Person = &p }) }

func (b *Mailbox) PutPane(p terminal.News) { b.Put(func(n *News) { n.Pane = &p }) }

// Pace sets the least time between two looks at the pane.
func (b *Mailbox) Pace(gap time.Duration) {
	b.mu.Lock()
	b.paneGap = gap
	b.mu.Unlock()
}

// Take empties the mailbox. A pane that was looked at too recently stays in it; next says when it is due, the zero time
// if nothing waits.
func (b *Mailbox) Take(now time.Time) (n News, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, b.pending = b.pending, News{}
	if n.Pane == nil {
		return n, time.Time{}
	}
	if due := b.paneAt.Add(b.paneGap); now.Before(due) && !n.Pane.Urgent {
		b.pending.Pane, n.Pane = n.Pane, nil
		return n, due
	}
	b.paneAt = now
	return n, time.Time{}
}

func (b *Mailbox) PutArrival(a *Arrival) {
	b.Put(func(n *News) {
		if n.Arrival == nil || n.Arrival.ID < a.ID { // one that was given up may be late
			n.Arrival = a
		}
	})
}

// Drop forgets what a room's mailbox holds that was true when the room was left, and is no longer.
func (b *Mailbox) Drop(newer *city.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending.Person, b.pending.Pane, b.pending.Gone, b.pending.Arrival = nil, nil, nil, nil
	if newer != nil {
		b.pending.Snap = nil
	}
}

// Behind reports whether more has happened than is shown of the past anyway since the room was left; then it is
// forgotten.
func (b *Mailbox) Behind(seq uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest == 0 || seq >= b.newest && seq-b.newest <= backlog {
		return false
	}
	b.newest, b.pending.Events = 0, nil
	return true
}
