package automation

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"gcity/events"
)

// Memory is what is to be kept of an automation between two lives of the program, by scoped name. Records of runs
// may be pruned: this is what a cooldown counts from.
type Memory struct {
	Born     time.Time `json:"born"`           // with this gate, if it is a schedule
	Gate     string    `json:"gate,omitempty"` // and, of a schedule, what it says; "" = not known
	Gone     time.Time `json:"gone,omitzero"`  // since when no catalog has it
	Last     time.Time `json:"last,omitzero"`  // when its newest run was opened
	Open     bool      `json:"open,omitempty"`
	Retry    int       `json:"retry,omitempty"` // which retry the newest run is or was
	Ended    time.Time `json:"ended,omitzero"`
	Outcome  Outcome   `json:"outcome,omitempty"`
	Failures int       `json:"failures,omitempty"` // in a row
	Tries    int       `json:"tries,omitempty"`    // failed runs of one that is to be tried again
	Skipped  time.Time `json:"skipped,omitzero"`
	Queued   time.Time `json:"queued,omitzero"`

	On     string `json:"on,omitempty"`     // what events the rest is about
	Cursor uint64 `json:"cursor,omitempty"` // seq up to which they are dealt with
	From   uint64 `json:"from,omitempty"`   // the cursor before the newest run
	Seen   uint64 `json:"seen,omitempty"`   // up to here none is left; 0 = up to Cursor
	// those after Cursor up to here are the next retry's; 0 = none are
	Again uint64 `json:"again,omitempty"`

	noted bool // the cursor is known by a record alone, which does not say what events it is about
}

// keepGone is how long an automation that is no more is remembered: a folder may come back.
const keepGone = 30 * 24 * time.Hour

// away is how long one may be gone, its file being edited for instance, and still get the events that came meanwhile.
const away = time.Hour

// Note adds what the record of a run says and the memory may have missed: the program can end between the two. seq
// is the newest event that the run deals with, 0 = none; retry is which retry it is, 0 = none. Of several records
// the oldest is told first.
func (m Memory) Note(opened time.Time, open bool, seq uint64, retry int) Memory {
	// the events tell where the clock does not
	if !opened.After(m.Last) && (m.Tries > 0 || seq <= m.Cursor) {
		return m
	}
	m.Last, m.Open, m.Retry, m.Queued, m.Again = opened, open, retry, time.Time{}, 0
	if seq == 0 || seq != m.Cursor { // else it tries the same events once more
		m.From = m.Cursor
	}
	if seq > m.Cursor {
		m.Cursor = seq
		if m.From == 0 && m.On == "" { // the events before are nobody's to deal with again
			m.From, m.noted = seq, true
		}
	}
	return m
}

// Well adds that the newest run is on record as one that went well, at a time: the memory may take it for open still.
func (m Memory) Well(ended time.Time) Memory {
	if m.Open {
		m.Open, m.Outcome, m.Ended, m.Tries, m.Failures = false, OK, ended, 0, 0
	}
	return m
}

// Recall gives back what was remembered. It is called before the first Load.
func (r *Runs) Recall(all map[string]Memory) {
	for name, m := range all {
		it := r.get(name)
		it.memory = m
		it.seen = max(m.Cursor, m.Seen)
	}
}

// Rev grows whenever there is something new to remember.
func (r *Runs) Rev() uint64 { return r.rev }

// Memory is what is to be remembered.
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

// Load takes the automations of a new catalog. What is known already keeps its memory; what is new starts with the
// events after newest, which is the seq of the log's newest. It gives the names of those whose runs were open when
// the program ended the last time: they are over, as Interrupted. Events after From are to be handed over anew.
func (r *Runs) Load(all []Definition, newest uint64, now time.Time) (interrupted []string) {
	before := make(map[*item]bool, len(r.order))
	for _, it := range r.order {
		before[it] = !it.gone
		it.gone = true
	}
	for _, d := range all {
		it := r.get(d.Scoped())
		if it.d.Check != d.Check {
			it.check = CheckFacts{Running: it.check.Running} // one that goes is waited for
		}
		if want := it.want; want != nil && want.Definition.Sum != d.Sum {
			if want.Definition = d; want.By == "" && want.Follows == "" && !it.d.waitsLike(d) {
				it.want = nil // the gate is asked anew
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

// waitsLike reports whether the gates of two definitions are the same: what was due by one is due by the other.
func (d Definition) waitsLike(e Definition) bool {
	return d.When() == e.When() && d.Interval == e.Interval &&
		(d.Gate != Cron || d.Zone.String() == e.Zone.String())
}

// begin sets where an automation begins to wait for events: at the end of the log, unless it waited for the same
// before. first: nothing has run since the program began.
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
	if first && m.Again > newest { // they are gone
		m.Again = 0
	}
	if m.On != it.d.On || long || first && m.Cursor > newest { // the last: the log was begun anew
		m.On, m.Cursor, m.From, m.Again, it.seen, it.pending = it.d.On, newest, newest, 0, newest,
			batch{}
	}
}

// leave notes that an automation is no more. A run that goes is let go.
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

// unsee has the events looked at anew that no run deals with: should the automation come back, they are handed in
// again.
func (it *item) unsee() {
	it.seen = it.memory.Cursor
	if run := it.run; run != nil && run.Opened.IsZero() {
		it.seen = max(it.seen, run.Until)
	}
}

// Remembers reports whether anything is kept of an automation, be it gone or not.
func (r *Runs) Remembers(scoped string) bool { return r.items[scoped] != nil }

// Awaits reports whether a run of an automation is due, or being opened.
func (r *Runs) Awaits(scoped string) bool {
	it := r.items[scoped]
	return it != nil && (it.want != nil || it.run != nil && it.run.Opened.IsZero())
}

// From is the seq after which events are to be handed to See; ok is false if nobody waits for any.
func (r *Runs) From() (seq uint64, ok bool) {
	for _, it := range r.order {
		if !it.gone && it.d.Gate == Event && (!ok || it.seen < seq) {
			seq, ok = it.seen, true
		}
	}
	return seq, ok
}

// See takes an event of the log. They come in order; one that was seen is passed over.
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
			if e.Type != events.AutomationSkipped { // which tells of just that
				it.deep++
			}
			continue
		}
		it.settled = false
		it.pending = it.pending.join(batch{1, e.Seq, depth})
	}
}

// Depth is how many runs have led to one another, by the events that they caused, until this event: "depth" in its
// payload, which whoever writes events for a run sets to one more than the run's.
func Depth(e events.Event) int {
	var payload struct {
		Depth int `json:"depth"`
	}
	if !bytes.Contains(e.Payload, []byte(`"depth"`)) || json.Unmarshal(e.Payload, &payload) != nil {
		return 0
	}
	return min(max(0, payload.Depth), MaxDepth)
}
