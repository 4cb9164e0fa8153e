package automation

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"gcity/events"
)

// Memory is the persistent state of an automation.
type Memory struct {
	// when the automation was first seen with this gate, or was enabled or added again; zero = unknown
	Born time.Time `json:"born"`
	// the gate; for Cron, with the schedule and the time zone; "" = unknown
	Gate string `json:"gate,omitempty"`
	// when the automation was removed from the catalog; zero = it is in the catalog
	Gone time.Time `json:"gone,omitzero"`
	Off  bool      `json:"off,omitempty"` // the automation is disabled
	Last time.Time `json:"last,omitzero"` // when the latest run was opened
	Open bool      `json:"open,omitempty"`
	// retry number of the latest run; 0 = not a retry
	Retry    int       `json:"retry,omitempty"`
	Ended    time.Time `json:"ended,omitzero"`
	Outcome  Outcome   `json:"outcome,omitempty"`
	Failures int       `json:"failures,omitempty"` // consecutive failed runs
	// number of the next retry; 0 = none is due
	Tries   int       `json:"tries,omitempty"`
	Skipped time.Time `json:"skipped,omitzero"`
	Queued  time.Time `json:"queued,omitzero"`
	// the user that requested the queued run; "" = no user
	QueuedBy string `json:"queued_by,omitempty"`
	// the failed automation that caused the run that is due or queued; "" = none
	Follows string `json:"follows,omitempty"`
	// more failed automations; each causes another run
	ThenFollows []string `json:"then_follows,omitempty"`
	// the failed automation that caused the latest run, and that run's Depth; a retry keeps both
	Followed string `json:"followed,omitempty"`
	Depth    int    `json:"depth,omitempty"`

	On     string `json:"on,omitempty"`     // the event type that the fields below refer to
	Cursor uint64 `json:"cursor,omitempty"` // events up to this seq are handled
	From   uint64 `json:"from,omitempty"`   // Cursor before the latest run
	Seen   uint64 `json:"seen,omitempty"`   // events up to this seq need no run; 0 = up to Cursor
	// events up to this seq belong to the next retry; 0 = none
	Again uint64 `json:"again,omitempty"`

	fromRecord bool // Cursor comes from a run's record, which does not contain the event type
	// when the latest run failed, according to its record; zero = unknown
	failed   time.Time
	canceled bool // that run was canceled by a user
}

const keepRemoved = 30 * 24 * time.Hour

// maxAbsence is how long an automation can be missing without losing the events from that time.
const maxAbsence = time.Hour

// Note adds information from a run's record that Memory lacks, for example after a crash. seq belongs to the run's
// latest event, and retry is the number of the retry; both may be 0. Call Note with the oldest record first.
func (m Memory) Note(opened time.Time, open bool, seq uint64, retry int) Memory {
	// the clock might have been set back, but a higher seq still means a newer run
	if !opened.After(m.Last) && (m.Tries > 0 || seq <= m.Cursor) {
		return m
	}
	m.Last, m.Open, m.Retry, m.Again = opened, open, retry, 0
	m.Queued, m.QueuedBy = time.Time{}, ""
	if retry == 0 || m.Followed == "" { // the run has used the first failure
		m.Followed, m.Depth, m.Follows = m.Follows, 0, ""
		if len(m.ThenFollows) > 0 {
			m.Follows, m.ThenFollows = m.ThenFollows[0], m.ThenFollows[1:]
		}
	}
	if seq == 0 || seq != m.Cursor { // an equal seq means a retry with the same events
		m.From = m.Cursor
	}
	if seq > m.Cursor {
		m.Cursor = seq
		if m.From == 0 && m.On == "" { // without an event type, earlier events cannot be retried
			m.From, m.fromRecord = seq, true
		}
	}
	return m
}

// Succeeded records that the latest run has succeeded. It does nothing if the end of that run is already recorded.
func (m Memory) Succeeded(ended time.Time) Memory {
	if m.Open {
		m.Open, m.Outcome, m.Ended, m.Tries, m.Failures = false, OK, ended, 0, 0
	}
	return m
}

// FailedRun records that the latest run has failed or was canceled. It does nothing if the end of that run is already
// recorded. The next Load decides about a retry and the on_failure automation.
func (m Memory) FailedRun(ended time.Time, canceled bool) Memory {
	if m.Open {
		m.failed, m.canceled = ended, canceled
	}
	return m
}

// Recall restores the stored state of all automations. Call it before the first Load.
func (r *Runs) Recall(all map[string]Memory) {
	for name, m := range all {
		it := r.get(name)
		if m.Follows != "" {
			it.failures = append(it.failures, failure{of: m.Follows})
		}
		for _, of := range m.ThenFollows {
			it.failures = append(it.failures, failure{of: of})
		}
		m.Follows, m.ThenFollows = "", nil
		it.memory = m
		it.seen = max(m.Cursor, m.Seen)
	}
}

// Rev returns a number that increases whenever the memory changes.
func (r *Runs) Rev() uint64 { return r.rev }

// Memory returns the state to store.
func (r *Runs) Memory() map[string]Memory {
	out := make(map[string]Memory, len(r.items))
	for name, it := range r.items {
		m := it.memory
		m.Seen = 0
		for _, run := range []*Run{it.run, it.want} {
			if run != nil && run.Opened.IsZero() && run.Follows != "" && run.Retry == 0 {
				m.Follows = run.Follows
			}
		}
		for _, f := range it.failures {
			if m.Follows == "" {
				m.Follows = f.of
				continue
			}
			m.ThenFollows = append(m.ThenFollows, f.of)
		}
		if it.pending.count == 0 && (it.run == nil || !it.run.Opened.IsZero()) &&
			it.seen > m.Cursor {
			m.Seen = it.seen
		}
		out[name] = m
	}
	return out
}

// Load replaces the catalog. Known automations keep their state, even while they are broken or cannot be read. New
// automations handle only events after newest, the seq of the log's latest event. Load returns the automations whose
// runs were active at the last exit, and records these runs as Interrupted, unless their records say how they ended.
// Afterwards, the caller must pass all events after From to See.
func (r *Runs) Load(c Catalog, newest uint64, now time.Time) (interrupted []string) {
	before := make(map[*item]bool, len(r.order))
	for _, it := range r.order {
		before[it] = !it.gone
		it.gone, it.unusable = true, c.mayContain(it.name)
	}
	for _, d := range c.Automations {
		it := r.get(d.Scoped())
		first := it.d.Name == ""
		if it.d.Check != d.Check {
			// keep waiting for the result of a running check
			it.check = CheckFacts{Running: it.check.Running}
		}
		if want := it.want; want != nil && want.Definition.Hash != d.Hash {
			if want.Definition = d; want.By == "" && want.Follows == "" && !it.d.hasSameGate(d) {
				it.want = nil // the new gate decides whether a run is due
			}
		}
		was := it.memory
		it.d, it.gone, it.unusable, it.settled = d, false, false, false
		it.begin(newest, now, first)
		if !before[it] || was.Gate != it.memory.Gate || was.Off != it.memory.Off {
			r.rev++
		}
	}
	if r.began.IsZero() {
		r.began = now
	}
	ended := map[*item]*Run{}
	r.order = slices.DeleteFunc(r.order, func(it *item) bool {
		if it.unusable {
			if it.want != nil && it.want.By != "" {
				it.withdraw()
			}
			return false
		}
		if it.memory.Open && it.run == nil {
			run, failed := it.endOpen(now)
			if ended[it] = run; !failed {
				interrupted = append(interrupted, it.name)
			}
			it.seen = it.memory.Cursor
			r.rev++
		}
		if it.gone {
			r.leave(it, now)
		}
		drop := it.gone && it.run == nil && now.Sub(it.memory.Gone) > keepRemoved
		if drop {
			delete(r.items, it.name)
		}
		return drop
	})
	r.followAll(ended, now)
	return interrupted
}

func (r *Runs) followAll(ended map[*item]*Run, now time.Time) {
	for _, it := range r.order {
		if run := ended[it]; run != nil {
			r.follow(it, run, now)
		}
	}
}

// endOpen records the end of the run that was active at the last exit. failed is false if the run was interrupted.
func (it *item) endOpen(now time.Time) (run *Run, failed bool) {
	m := &it.memory
	run = &Run{Definition: it.d, Retry: m.Retry, After: m.From, Depth: m.Depth}
	at, canceled := m.failed, m.canceled
	m.failed, m.canceled = time.Time{}, false
	if at.IsZero() {
		it.ended(run, Interrupted, now)
		return run, false
	}
	if canceled {
		run.Retry = max(run.Retry, it.d.Retry)
	}
	if at.After(now) { // the clock was set back
		at = now
	}
	it.ended(run, Failed, at)
	return run, true
}

func (d Definition) hasSameGate(e Definition) bool {
	return d.When() == e.When() && d.Interval == e.Interval &&
		(d.Gate != Cron || d.Zone.String() == e.Zone.String())
}

// IsClockSet reports whether now can be correct. Some computers start with a clock that shows 1970 until they reach a
// time server.
func IsClockSet(now time.Time) bool { return now.Year() >= 2025 }

// begin sets the log position from which an automation handles events. first is true for the automation's first
// definition after the start of the program.
func (it *item) begin(newest uint64, now time.Time, first bool) {
	m := &it.memory
	gate := string(it.d.Gate)
	if it.d.Gate == Cron {
		gate = it.d.When() + " " + it.d.Zone.String()
	}
	long := !m.Gone.IsZero() && now.Sub(m.Gone) > maxAbsence
	changed := it.d.Gate == Cron && (long || m.Off || m.Gate != "" && m.Gate != gate)
	switch {
	case IsClockSet(now):
		if m.Born.IsZero() || m.Born.After(now) || changed {
			m.Born = now
		}
	case changed: // at an unknown time
		m.Born = time.Time{}
	}
	m.Gate, m.Off, m.Gone = gate, it.d.Off != "", time.Time{}
	if m.Off { // a run must not start without a new request when the automation is enabled again
		m.Queued, m.QueuedBy = time.Time{}, ""
	}
	if m.fromRecord && it.d.Gate == Event {
		m.On = it.d.On
	}
	m.fromRecord = false
	if first && m.Again > newest { // the log was replaced, and these events are gone
		m.Again = 0
	}
	// a cursor beyond the newest event means that the log was replaced
	if m.On != it.d.On || long || first && m.Cursor > newest {
		m.On, m.Cursor, m.From, m.Again, it.seen, it.pending = it.d.On, newest, newest, 0, newest,
			batch{}
	}
}

// leave records that an automation was removed. Its active run continues.
func (r *Runs) leave(it *item, now time.Time) {
	it.want, it.pending, it.failures = nil, batch{}, nil
	it.forgetUnhandled()
	it.check, it.memory.Tries = CheckFacts{Running: it.check.Running}, 0
	it.memory.Queued, it.memory.QueuedBy = time.Time{}, ""
	if it.memory.Gone.IsZero() || it.memory.Gone.After(now) {
		it.memory.Gone = now
		r.rev++
	}
}

// forgetUnhandled forgets the events that no run has handled, so that See accepts them if the automation is added
// again.
func (it *item) forgetUnhandled() {
	it.seen = it.memory.Cursor
	if run := it.run; run != nil && run.Opened.IsZero() {
		it.seen = max(it.seen, run.Until)
	}
}

// Remembers reports whether there is any state for an automation, even if it was removed.
func (r *Runs) Remembers(scoped string) bool { return r.items[scoped] != nil }

// Awaits reports whether a run of the automation is due or being opened.
func (r *Runs) Awaits(scoped string) bool {
	it := r.items[scoped]
	return it != nil && (it.want != nil && !it.gone || it.run != nil && it.run.Opened.IsZero())
}

// From returns the seq after which events must be passed to See. ok is false if no automation has an event gate.
func (r *Runs) From() (seq uint64, ok bool) {
	for _, it := range r.order {
		if !it.gone && it.d.Gate == Event && (!ok || it.seen < seq) {
			seq, ok = it.seen, true
		}
	}
	return seq, ok
}

// See handles an event from the log. Pass events in order; See ignores an event that it has already seen.
func (r *Runs) See(e events.Event) {
	depth := -1
	for _, it := range r.order {
		if it.gone || it.d.Gate != Event || e.Seq <= it.seen {
			continue
		}
		it.seen = e.Seq
		if !it.d.matches(e.Type) {
			continue
		}
		if depth < 0 {
			depth = Depth(e)
		}
		if depth >= MaxDepth {
			// skipping an AutomationSkipped event is not reported
			if e.Type != events.AutomationSkipped {
				it.skippedByDepth++
			}
			continue
		}
		it.settled = false
		it.pending = it.pending.join(batch{1, e.Seq, depth})
	}
}

// Depth returns the length of the chain of runs that led to an event: the value "depth" in the event's payload. If a
// run causes an event, the event's depth must be one greater than that of the run.
func Depth(e events.Event) int {
	var payload struct {
		Depth int `json:"depth"`
	}
	if !bytes.Contains(e.Payload, []byte(`"depth"`)) || json.Unmarshal(e.Payload, &payload) != nil {
		return 0
	}
	return min(max(0, payload.Depth), MaxDepth)
}
