package automation

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"gcity/events"
)

// Memory is the persistent state of an automation, by scoped name. Records of runs may be pruned; a cooldown counts
// from this.
type Memory struct {
	// for a schedule: when it was first seen with this gate
	Born time.Time `json:"born"`
	// the gate and, for a schedule, its line; "" = unknown
	Gate     string    `json:"gate,omitempty"`
	Gone     time.Time `json:"gone,omitzero"` // since when no catalog has it
	Last     time.Time `json:"last,omitzero"` // when its latest run was opened
	Open     bool      `json:"open,omitempty"`
	Retry    int       `json:"retry,omitempty"` // number of the retry that the latest run is or was
	Ended    time.Time `json:"ended,omitzero"`
	Outcome  Outcome   `json:"outcome,omitempty"`
	Failures int       `json:"failures,omitempty"` // in a row
	// failed runs of an automation that will be retried
	Tries   int       `json:"tries,omitempty"`
	Skipped time.Time `json:"skipped,omitzero"`
	Queued  time.Time `json:"queued,omitzero"`

	On     string `json:"on,omitempty"`     // the events that the following fields are about
	Cursor uint64 `json:"cursor,omitempty"` // seq up to which events are handled
	From   uint64 `json:"from,omitempty"`   // the cursor before the latest run
	Seen   uint64 `json:"seen,omitempty"`   // no unhandled event up to here; 0 = up to Cursor
	// events after Cursor up to here belong to the next retry; 0 = none
	Again uint64 `json:"again,omitempty"`

	noted bool // the cursor comes from a record only, which does not name the events
}

// keepGone is how long a removed automation is remembered, because a folder may come back.
const keepGone = 30 * 24 * time.Hour

// away is how long an automation may be missing, for example during an edit, and still get the events of that time.
const away = time.Hour

// Note adds what the record of a run says and the memory may have missed, because the program can end between the
// two writes. seq is the latest event of the run, 0 = none. retry is the number of the retry, 0 = none. Call it for
// the oldest record first.
func (m Memory) Note(opened time.Time, open bool, seq uint64, retry int) Memory {
	// the events decide where the clock cannot
	if !opened.After(m.Last) && (m.Tries > 0 || seq <= m.Cursor) {
		return m
	}
	m.Last, m.Open, m.Retry, m.Queued, m.Again = opened, open, retry, time.Time{}, 0
	if seq == 0 || seq != m.Cursor { // otherwise it retries the same events
		m.From = m.Cursor
	}
	if seq > m.Cursor {
		m.Cursor = seq
		if m.From == 0 && m.On == "" { // the earlier events are not retried
			m.From, m.noted = seq, true
		}
	}
	return m
}

// Well records that the latest run succeeded, if the memory still has it as open.
func (m Memory) Well(ended time.Time) Memory {
	if m.Open {
		m.Open, m.Outcome, m.Ended, m.Tries, m.Failures = false, OK, ended, 0, 0
	}
	return m
}

// Recall restores the memory. Call it before the first Load.
func (r *Runs) Recall(all map[string]Memory) {
	for name, m := range all {
		it := r.get(name)
		it.memory = m
		it.seen = max(m.Cursor, m.Seen)
	}
}

// Rev increases whenever the memory changes.
func (r *Runs) Rev() uint64 { return r.rev }

// Memory returns the state to store.
func (r *Runs) Memory() map[string]Memory {
	out := make(map[string]Memory, len(r.items))
	for name, it := range r.items {
		m := it.memory
		m.Seen = 0
		if it.pending.count == 0 && (it.run == nil || !it.run.Opened.IsZero()) &&
			it.seen > m.Cursor {
			m.Seen = it.seen
		}
		out[name] = m
	}
	return out
}

// Load takes the automations of a new catalog. Known automations keep their memory. New ones start with the events
// after newest, the seq of the log's latest event. It returns the names of automations with runs that were open
// when the program last ended; those runs have ended as Interrupted. The caller must pass the events after From to
// See again.
func (r *Runs) Load(all []Definition, newest uint64, now time.Time) (interrupted []string) {
	before := make(map[*item]bool, len(r.order))
	for _, it := range r.order {
		before[it] = !it.gone
		it.gone = true
	}
	for _, d := range all {
		it := r.get(d.Scoped())
		if it.d.Check != d.Check {
			it.check = CheckFacts{Running: it.check.Running} // a running check is waited for
		}
		if want := it.want; want != nil && want.Definition.Sum != d.Sum {
			if want.Definition = d; want.By == "" && want.Follows == "" && !it.d.waitsLike(d) {
				it.want = nil // the gate is asked again
			}
		}
		was := it.memory.Gate
		it.d, it.gone, it.settled = d, false, false
		it.begin(newest, now, !r.loaded)
		if !before[it] || was != it.memory.Gate {
			r.rev++
		}
	}
	if !r.loaded {
		r.loaded, r.began = true, now
	}
	r.order = slices.DeleteFunc(r.order, func(it *item) bool {
		if it.memory.Open && it.run == nil {
			it.ended(&Run{Definition: it.d, Retry: it.memory.Retry, After: it.memory.From},
				Interrupted, now)
			it.seen = it.memory.Cursor
			interrupted = append(interrupted, it.name)
			r.rev++
		}
		if it.gone {
			r.leave(it, now)
		}
		drop := it.gone && it.run == nil && now.Sub(it.memory.Gone) > keepGone
		if drop {
			delete(r.items, it.name)
		}
		return drop
	})
	return interrupted
}

// waitsLike reports whether two definitions have the same gate, so that a pending opening stays valid.
func (d Definition) waitsLike(e Definition) bool {
	return d.When() == e.When() && d.Interval == e.Interval &&
		(d.Gate != Cron || d.Zone.String() == e.Zone.String())
}

// begin sets the event from which an automation waits: the end of the log, unless it waited for the same events
// before. first means that nothing has run since the program started.
func (it *item) begin(newest uint64, now time.Time, first bool) {
	m := &it.memory
	gate := string(it.d.Gate)
	if it.d.Gate == Cron {
		gate = it.d.When() + " " + it.d.Zone.String()
	}
	if m.Born.IsZero() || m.Born.After(now) || it.d.Gate == Cron && m.Gate != "" && m.Gate != gate {
		m.Born = now
	}
	m.Gate = gate
	long := !m.Gone.IsZero() && now.Sub(m.Gone) > away
	m.Gone = time.Time{}
	if m.noted && it.d.Gate == Event {
		m.On = it.d.On
	}
	m.noted = false
	if first && m.Again > newest { // the events are gone
		m.Again = 0
	}
	// the last case: the log was replaced
	if m.On != it.d.On || long || first && m.Cursor > newest {
		m.On, m.Cursor, m.From, m.Again, it.seen, it.pending = it.d.On, newest, newest, 0, newest,
			batch{}
	}
}

// leave records that an automation was removed. A current run continues.
func (r *Runs) leave(it *item, now time.Time) {
	it.want, it.pending, it.follows = nil, batch{}, ""
	it.unsee()
	it.check, it.memory.Queued, it.memory.Tries = CheckFacts{Running: it.check.Running},
		time.Time{}, 0
	if it.memory.Gone.IsZero() || it.memory.Gone.After(now) {
		it.memory.Gone = now
		r.rev++
	}
}

// unsee makes See accept events again that no run handles, in case the automation comes back.
func (it *item) unsee() {
	it.seen = it.memory.Cursor
	if run := it.run; run != nil && run.Opened.IsZero() {
		it.seen = max(it.seen, run.Until)
	}
}

// Remembers reports whether an automation, present or removed, has any state.
func (r *Runs) Remembers(scoped string) bool { return r.items[scoped] != nil }

// Awaits reports whether a run of an automation is due or being opened.
func (r *Runs) Awaits(scoped string) bool {
	it := r.items[scoped]
	return it != nil && (it.want != nil || it.run != nil && it.run.Opened.IsZero())
}

// From returns the seq after which events must be passed to See. ok is false if no automation waits for events.
func (r *Runs) From() (seq uint64, ok bool) {
	for _, it := range r.order {
		if !it.gone && it.d.Gate == Event && (!ok || it.seen < seq) {
			seq, ok = it.seen, true
		}
	}
	return seq, ok
}

// See takes an event of the log, in order. It ignores an event that it has seen.
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
			if e.Type != events.AutomationSkipped { // that event reports the skip itself
				it.deep++
			}
			continue
		}
		it.settled = false
		it.pending = it.pending.join(batch{1, e.Seq, depth})
	}
}

// Depth returns how many runs have caused each other by events up to this event. It is "depth" in the payload. A
// writer of events for a run sets it to one more than the run's depth.
func Depth(e events.Event) int {
	var payload struct {
		Depth int `json:"depth"`
	}
	if !bytes.Contains(e.Payload, []byte(`"depth"`)) || json.Unmarshal(e.Payload, &payload) != nil {
		return 0
	}
	return min(max(0, payload.Depth), MaxDepth)
}
