package feed

import (
	"reflect"
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/terminal"
)

// News is everything that was received since the previous message to the model.
type News struct {
	Snap *city.Snapshot // nil = nothing new
	// why the city does not respond; "" = it responds again; nil = nothing new
	Unreachable *string
	Events      []events.Event // oldest first
	// the city has a new event log, so the events that the model has are not part of it
	EventsRestarted bool
	Results         []Result
	Found           []FoundBeads
	Pane            *terminal.News

	Preferences  *Preferences
	Inspected    []Inspected
	HistoryPages []LoadedHistory
	Edited       *Edited     // nil = nothing new
	Fleet        *fleet.List // nil = nothing new
	OpenedCity   *OpenedCity
	Woken        bool // the delay of a Wake has passed
}

func (n *News) Empty() bool { return reflect.ValueOf(*n).IsZero() }

// MaxPending is the number of newest events that are kept if the model falls behind. Older ones may be dropped.
const MaxPending = panel.MaxEvents

// Mailbox stores the latest news until the pump takes it. Adding news never blocks.
type Mailbox struct {
	mu      sync.Mutex
	pending News
	newest  uint64        // sequence number of the newest event that was added
	paneGap time.Duration // minimum time between two updates of the pane
	paneAt  time.Time
	wake    chan struct{}
}

func NewMailbox() *Mailbox { return &Mailbox{wake: make(chan struct{}, 1)} }

// Put changes the pending news and wakes the pump.
func (b *Mailbox) Put(change func(*News)) {
	b.mu.Lock()
	change(&b.pending)
	b.mu.Unlock()
	wake(b.wake)
}

// wake makes the goroutine that waits for c continue. c must have a buffer.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *Mailbox) PutSnapshot(s *city.Snapshot) {
	b.Put(func(n *News) {
		ok := ""
		n.Unreachable = &ok
		if n.Snap == nil || s.Rev > n.Snap.Rev || !s.Started.Equal(n.Snap.Started) ||
			// the stream might lag behind a response to a poll
			s.Rev == n.Snap.Rev && !s.Patrol.Last.Before(n.Snap.Patrol.Last) {
			n.Snap = s
		}
	})
}

func (b *Mailbox) PutEvent(e events.Event) {
	b.Put(func(n *News) {
		if e.Seq <= b.newest && e.Seq > 0 {
			return // a reopened stream repeats events
		}
		b.newest = e.Seq
		n.Events = append(n.Events, e)
		if len(n.Events) == 2*MaxPending {
			n.Events = append([]events.Event(nil), n.Events[MaxPending:]...)
		}
	})
}

// restartEvents drops the pending events, and makes the model drop its own. The numbers of the city's events have
// started again.
func (b *Mailbox) restartEvents() {
	b.Put(func(n *News) { b.newest, n.Events, n.EventsRestarted = 0, nil, true })
}

func (b *Mailbox) lastEvent() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

func (b *Mailbox) putResult(r Result) { b.Put(func(n *News) { n.Results = append(n.Results, r) }) }

func (b *Mailbox) PutPreferences(p Preferences) { b.Put(func(n *News) { n.Preferences = &p }) }

func (b *Mailbox) PutPane(p terminal.News) { b.Put(func(n *News) { n.Pane = &p }) }

// SetPaneGap sets the minimum time between two updates of the pane.
func (b *Mailbox) SetPaneGap(gap time.Duration) {
	b.mu.Lock()
	b.paneGap = gap
	b.mu.Unlock()
}

// Take empties the mailbox. It also returns the time when a delayed update of the pane is due, or zero.
func (b *Mailbox) Take(now time.Time) (n News, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, b.pending = b.pending, News{}
	if n.Pane == nil {
		return n, time.Time{}
	}
	if due := b.paneAt.Add(b.paneGap); now.Before(due) && !n.Pane.Immediate {
		b.pending.Pane, n.Pane = n.Pane, nil
		return n, due
	}
	b.paneAt = now
	return n, time.Time{}
}

func (b *Mailbox) PutOpenedCity(a *OpenedCity) {
	b.Put(func(n *News) {
		// the result of a canceled switch might arrive late
		if n.OpenedCity == nil || n.OpenedCity.ID < a.ID {
			n.OpenedCity = a
		}
	})
}

// DropOutdated removes outdated news when a room becomes visible again.
func (b *Mailbox) DropOutdated(newer *city.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending.Preferences, b.pending.Pane = nil, nil
	b.pending.Unreachable, b.pending.OpenedCity = nil, nil
	if newer != nil {
		b.pending.Snap = nil
	}
}

// Behind reports whether the mailbox has missed too many events, or has events that are newer than seq. If so, it drops
// the pending ones. seq is the sequence number of the city's newest event.
func (b *Mailbox) Behind(seq uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest == 0 || seq >= b.newest && seq-b.newest <= backlog {
		return false
	}
	b.newest, b.pending.Events = 0, nil
	return true
}
