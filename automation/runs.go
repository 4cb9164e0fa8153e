package automation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Most is the default limit of concurrent runs.
const Most = 8

// Runs holds the state of all automations of a city and decides which runs are opened. It has no clock and performs
// nothing: its owner reports what happened and carries out what Turn returns. Equal calls give equal results.
//
// A run that is due waits for a slot and is then opened. The owner writes a record, calls Opened, starts the run,
// and calls Ended. Manual requests are opened first, then the runs that have waited longest. Not for concurrent
// use.
type Runs struct {
	most  int
	items map[string]*item
	order []*item // in the order of scoped names
	rev   uint64

	closed string        // why no run is opened, as of the latest turn
	loaded bool          // a catalog was loaded
	began  time.Time     // time of the first catalog
	now    time.Time     // time of the latest turn
	patrol time.Duration // patrol interval of that turn
}

// item is one automation, in the catalog or remembered.
type item struct {
	name   string     // scoped name
	d      Definition // from the latest catalog that had it
	gone   bool       // no catalog has it
	memory Memory

	looked  time.Time // when it was last judged
	settled bool      // only time has changed since then
	rests   string    // why it was suspended then
	verdict Verdict
	sought  Sought
	check   CheckFacts
	recent  []time.Time // times of the latest openings
	want    *Run        // due, waits for a slot
	run     *Run        // opened, or being opened
	told    bool        // the skip of openings during this run was reported
	follows string      // the failed automation that the queued run follows
	again   time.Time   // requested again while this run is being opened; zero = no

	unopened time.Time // no new attempt to open before this; the last one failed
	whyNot   string
	fails    int // failed attempts to open in a row

	seen    uint64 // latest event that was examined
	pending batch
	chain   string // why events were skipped since the latest run, "" = none were
	// events skipped since the last turn because too many runs had led to them
	deep int
}

// batch is a range of events that wait for a run.
type batch struct {
	count  int
	newest uint64
	depth  int
}

func (b batch) join(c batch) batch {
	return batch{b.count + c.count, max(b.newest, c.newest), max(b.depth, c.depth)}
}

// Run is one run of an automation.
type Run struct {
	Definition Definition // the definition when the run became due
	Reason     string     // one sentence
	By         string     // the user that requested it
	// the failed automation that it follows; if both are empty, its gate opened
	Follows string
	Retry   int       // number of the retry, 0 = not a retry
	Opening time.Time // when its gate opened; for a schedule, the scheduled time
	Since   time.Time // when it became due
	Opened  time.Time // when it was recorded; zero before that
	After   uint64    // it handles the events after this seq …
	Until   uint64    // … up to this one
	Count   int       // number of those events
	Depth   int       // events that it causes have Depth+1, see Depth

	events batch
	gate   string // the earlier reason, if it was already due when a user requested it
}

// began returns when a run was opened, or, before that, when it became due.
func (r *Run) began() time.Time {
	if r.Opened.IsZero() {
		return r.Since
	}
	return r.Opened
}

// World is the input of a turn that is not stored in Runs.
type World struct {
	// why nothing fires: "with the city", "with rig demo"; "" = not suspended
	Suspended func(rig string) string
	Closed    string // why no run can be opened at present, "" = runs can be opened
	// reports whether the end of the last run is being recorded, which delays the next one; nil = never
	Ending func(scoped string) bool
	Patrol time.Duration // the shortest time between two checks of a condition
}

// Deeds are what the caller must do after a turn, in this order.
type Deeds struct {
	Passed []Passed     // openings to report as skipped
	Check  []Definition // conditions to check; each result goes to Checked
	Open   []Run        // runs to open; each is answered by Opened or Unopened

	Said bool // the text of a gate has changed, not counting remaining times
}

// Passed is an opening that was skipped.
type Passed struct {
	Scoped string
	Reason string
	Depth  int // of the event that reports it, see Depth
}

func (d *Deeds) pass(scoped string, depth int, format string, args ...any) {
	d.Passed = append(d.Passed, Passed{scoped, fmt.Sprintf(format, args...), depth})
}

// NewRuns returns an empty state. most limits the concurrent runs; 0 = Most.
func NewRuns(most int) *Runs {
	if most <= 0 {
		most = Most
	}
	return &Runs{most: most, items: map[string]*item{}}
}

// get returns the item of a name and creates it if necessary.
func (r *Runs) get(name string) *item {
	if it := r.items[name]; it != nil {
		return it
	}
	it := &item{name: name, gone: true}
	r.items[name] = it
	i, _ := slices.BinarySearchFunc(r.order, name, func(it *item, name string) int {
		return cmp.Compare(it.name, name)
	})
	r.order = slices.Insert(r.order, i, it)
	return it
}

// Turn judges all automations and opens due runs while slots are free.
func (r *Runs) Turn(now time.Time, w World) Deeds {
	var deeds Deeds
	r.now, r.patrol = now, w.Patrol
	for _, it := range r.order {
		if !it.gone {
			r.judge(it, now, w, &deeds)
		}
	}
	if r.closed = w.Closed; r.closed == "" {
		deeds.Open = r.open(now, w)
	}
	return deeds
}

func (r *Runs) judge(it *item, now time.Time, w World, deeds *Deeds) {
	suspended := it.d.Rests(w.Suspended(it.d.Rig))
	if it.sleeps(suspended, now) {
		return
	}
	if it.deep > 0 {
		it.chain = fmt.Sprintf("%d %s skipped: %d runs led to one another by their events", it.deep,
			it.d.On, MaxDepth)
		deeds.pass(it.name, MaxDepth, "%s", it.chain)
		it.deep = 0
	}
	if want := it.want; want != nil && (it.d.Off != "" || suspended != "" && want.By == "") {
		it.want, deeds.Said = nil, true
		if want.By != "" || want.Follows != "" {
			deeds.pass(it.name, want.Depth+1, "was due (%s) and is %s", want.Reason,
				cmp.Or(it.d.Off, "suspended "+suspended))
		}
	}
	// until it is opened, its gate does not count it
	if it.want != nil || it.run != nil && it.run.Opened.IsZero() {
		return
	}
	v := Judge(it.d, it.facts(suspended, w.Patrol, now), now)
	// after a restart
	reading := v.Due && v.Retry > 0 && it.seen < it.memory.Again && now.Sub(r.began) < catchUpLimit
	if reading {
		v.Due, v.Reason = false, v.Reason+"; its events are being read"
	}
	if it.run == nil && it.verdict.differs(v) {
		deeds.Said = true
	}
	it.verdict, it.looked, it.sought, it.settled, it.rests = v, now, v.Sought, !reading, suspended
	switch {
	case v.Due && it.run == nil:
		it.check.Fresh, deeds.Said = false, true
		it.want = &Run{Definition: it.d, Reason: v.Reason, Retry: v.Retry, Opening: v.Opening,
			Since: now}
		if v.Retry == 0 {
			it.want.Follows, it.follows = it.follows, ""
		}
	case v.Ask:
		it.check.Running, it.check.Asked = true, now
		deeds.Check = append(deeds.Check, it.d)
	case v.Keep && it.memory.Queued.IsZero():
		it.memory.Queued = v.Opening
		r.rev++
	case v.Skip:
		it.memory.Skipped = v.Opening
		if !it.told {
			it.told = true
			deeds.pass(it.name, it.run.Depth+1, "due %s, but its run since %s has not ended",
				it.d.clock(v.Opening), it.d.clock(it.run.began()))
		}
	}
}

// catchUpLimit is how long a retry waits until the log has been read up to its events. If some events are gone,
// that never happens.
const catchUpLimit = 10 * time.Minute

// differs reports whether two verdicts read differently, apart from remaining times.
func (v Verdict) differs(w Verdict) bool {
	return v.off != w.off || !v.Next.Equal(w.Next) || w.Next.IsZero() && v.Reason != w.Reason
}

// sleeps reports whether the previous verdict still holds: nothing has happened, and it is not yet time. A
// condition is always judged again.
func (it *item) sleeps(suspended string, now time.Time) bool {
	if !it.settled || it.want != nil || it.run != nil || it.deep > 0 || it.d.Gate == Condition ||
		it.rests != suspended {
		return false
	}
	return !now.Round(0).Before(it.looked.Round(0)) &&
		(it.verdict.Next.IsZero() || now.Before(it.verdict.Next))
}

func (it *item) facts(suspended string, patrol time.Duration, now time.Time) Facts {
	m := it.memory
	f := Facts{
		Born: m.Born, Last: m.Last, Looked: it.looked, Skipped: m.Skipped, Queued: m.Queued,
		Suspended: suspended,
		Tries:     m.Tries, FailedAt: m.Ended, Check: it.check, Recent: it.recent, Patrol: patrol,
		Sought: it.sought,
		Events: EventFacts{Cursor: m.Cursor, Newest: it.pending.newest, Count: it.pending.count,
			Depth: it.pending.depth},
	}
	if it.run != nil {
		f.Running = it.run.Opened
		if f.Running.IsZero() {
			f.Running = now
		}
	}
	return f
}

// open assigns free slots to waiting runs.
func (r *Runs) open(now time.Time, w World) []Run {
	var line []*item
	free := r.most
	for _, it := range r.order {
		switch {
		case it.run != nil:
			free--
		case w.Ending != nil && w.Ending(it.name):
		case it.want != nil && (it.unopened.IsZero() || !now.Before(it.unopened) ||
			it.unopened.Sub(now) > maxUnopened):
			line = append(line, it)
		}
	}
	slices.SortStableFunc(line, func(a, b *item) int {
		if hand := cmp.Compare(b.want.By, ""); hand != cmp.Compare(a.want.By, "") {
			return hand - cmp.Compare(a.want.By, "")
		}
		return a.want.Since.Compare(b.want.Since)
	})
	var out []Run
	for _, it := range line[:max(0, min(free, len(line)))] {
		run := it.want
		it.want, it.run = nil, run
		if it.settled = false; it.d.Gate == Event {
			run.events, it.pending = it.pending, batch{}
			run.After, run.Until, run.Count = it.memory.Cursor,
				max(it.memory.Cursor, run.events.newest), run.events.count
			run.Depth = max(run.Depth, run.events.depth)
		}
		out = append(out, *run)
	}
	return out
}

// Waits after a failed attempt to open a run.
const (
	minUnopened = time.Second
	maxUnopened = time.Minute
)

// Opened records that a record of the run exists. From now on the run counts: its events are handled, and its gate
// counts from it.
func (r *Runs) Opened(scoped string, now time.Time) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return
	}
	it.run.Opened = now
	m := &it.memory
	m.Last, m.Open, m.Queued, m.Retry = now, true, it.again, it.run.Retry
	m.From, m.Cursor, m.Again = m.Cursor, max(m.Cursor, it.run.Until), 0
	it.chain = ""
	it.unopened, it.fails, it.whyNot, it.told, it.again = time.Time{}, 0, "", false, time.Time{}
	it.recent = append(it.recent[max(0, len(it.recent)+1-Rate):], now)
	r.rev++
}

// Unopened records that no record of the run could be written, so it did not start. It stays due and is tried again
// after a wait, unless it was requested by hand.
func (r *Runs) Unopened(scoped, why string, now time.Time) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return
	}
	wait := min(minUnopened<<min(it.fails, 10), maxUnopened)
	once := it.again.IsZero()
	it.want, it.run, it.again = it.run, nil, time.Time{}
	it.giveBack(it.want)
	it.fails++
	it.unopened, it.whyNot = now.Add(wait), why
	switch {
	case once && it.want.By != "":
		it.withdraw()
	case !once && it.want.By == "" && it.want.Follows == "":
		it.want.Follows, it.follows = it.follows, ""
	}
	if it.gone {
		it.want = nil
		it.unsee()
	}
}

// giveBack makes the events of a run wait again.
func (it *item) giveBack(run *Run) {
	it.settled = false
	if it.d.Gate == Event && run.Definition.On == it.d.On {
		it.pending = run.events.join(it.pending)
	}
	run.events = batch{}
}

// Checked records the result of a condition's check. check is the command that ran. err says why the exit code is
// unknown, "" = it is known. The result of a previously configured command is ignored.
func (r *Runs) Checked(scoped, check string, code int, err string) {
	it := r.items[scoped]
	switch {
	case it == nil:
	case it.gone || it.d.Check != check:
		it.check = CheckFacts{}
	default:
		c := &it.check
		c.Running, c.Done, c.Fresh, c.Code, c.Err = false, true, true, code, err
	}
}
