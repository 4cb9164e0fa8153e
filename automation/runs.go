package automation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Most is how many runs go at once where nothing else is said.
const Most = 8

// Runs is the memory of all automations of a city, and decides which runs are opened. It has no clock and does nothing
// itself: its owner tells it what happened and carries out what Turn asks for. Equal calls give equal answers.
//
// A run that is due waits for a place, then is opened: the owner makes a record of it and says Opened, lets it go,
// and says Ended. Whoever has waited longest is opened first, what a person asked for before all others. Not for
// concurrent use.
type Runs struct {
	most  int
	items map[string]*item
	order []*item // in the order of scoped names
	rev   uint64

	closed string        // why nothing is opened, as of the newest turn
	loaded bool          // a catalog has been taken
	began  time.Time     // when that was
	now    time.Time     // of the newest turn
	patrol time.Duration // in it
}

// item is one automation: in the catalog, or remembered.
type item struct {
	name   string     // scoped
	d      Definition // as of the newest catalog that had it
	gone   bool       // no catalog has it
	memory Memory

	looked  time.Time // when it was last judged
	settled bool      // nothing but time has changed what is known of it since
	rests   string    // why it was suspended then
	verdict Verdict
	sought  Sought
	check   CheckFacts
	recent  []time.Time // newest openings
	want    *Run        // due, waits for a place
	run     *Run        // opened, or being opened
	told    bool        // that openings pass during this run
	follows string      // whose failure the run follows that is queued
	again   time.Time   // wanted once more while this run is being opened; zero = not

	unopened time.Time // not opened again before this: the last try failed
	whyNot   string
	fails    int // such tries in a row

	seen    uint64 // newest event that was looked at
	pending batch
	chain   string // why events were passed over since the newest run, "" = none were
	// events that were passed over since the last turn: too many runs had led to them
	deep int
}

// batch is some events that wait for a run.
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
	Definition Definition // as it was when the run became due
	Reason     string     // why, in words
	By         string     // who asked for it by hand
	Follows    string     // whose failure it follows; with neither, its gate opened
	Retry      int        // which retry it is, 0 = none
	Opening    time.Time  // when its gate opened; of a schedule, the time that it names
	Since      time.Time  // since when it has been due
	Opened     time.Time  // zero until there is a record of it
	After      uint64     // it deals with the events after this seq …
	Until      uint64     // … up to this one
	Count      int        // so many; 0 = it deals with none
	Depth      int        // what it causes is Depth+1 deep, see Depth

	events batch
	gate   string // the reason of before, if it was due already when somebody asked for it by hand
}

// began is when a run was opened, or, before that, became due.
func (r *Run) began() time.Time {
	if r.Opened.IsZero() {
		return r.Since
	}
	return r.Opened
}

// World is what a turn needs to know besides.
type World struct {
	// why nothing fires by itself: "with the city", "with rig demo"; "" = it does
	Suspended func(rig string) string
	Closed    string // why no run can be opened at all just now, "" = it can
	// whether the end of its last run is just being put on record: the next one waits; nil = never
	Ending func(scoped string) bool
	Patrol time.Duration // the least time between two checks of a condition
}

// Deeds are what is to be done after a turn, in this order.
type Deeds struct {
	Passed []Passed     // openings that are let pass, to be told
	Check  []Definition // conditions to be checked; each comes back by Checked
	Open   []Run        // runs to be opened; each comes back by Opened or Unopened

	Said bool // a gate says something else than before; what remains of a time does not count
}

// Passed is an opening without a run.
type Passed struct {
	Scoped string
	Reason string
	Depth  int // of the event that tells of it, see Depth
}

func (d *Deeds) pass(scoped string, depth int, format string, args ...any) {
	d.Passed = append(d.Passed, Passed{scoped, fmt.Sprintf(format, args...), depth})
}

// NewRuns makes the memory of a city. At most so many runs go at once; 0 = Most.
func NewRuns(most int) *Runs {
	if most <= 0 {
		most = Most
	}
	return &Runs{most: most, items: map[string]*item{}}
}

// get gives the item of a name, new if need be.
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

// Turn judges all automations, and opens what is due as far as there are places.
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
		it.chain = fmt.Sprintf("%d %s passed: %d runs led to one another by their events", it.deep,
			it.d.On, MaxDepth)
		deeds.pass(it.name, MaxDepth, "%s", it.chain)
		it.deep = 0
	}
	if want := it.want; want != nil && (it.d.Off != "" || suspended != "" && want.By == "") {
		it.want, deeds.Said = nil, true
		if want.By != "" || want.Follows != "" {
			deeds.pass(it.name, want.Depth+1, "was due (%s), and is %s", want.Reason,
				cmp.Or(it.d.Off, "suspended "+suspended))
		}
	}
	// until it is opened its gate cannot know of it
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
			deeds.pass(it.name, it.run.Depth+1, "due %s, but its run since %s still goes",
				it.d.clock(v.Opening), it.d.clock(it.run.began()))
		}
	}
}

// catchUpLimit is how long a retry waits for the log to be read up to its events. If some of them are gone, that
// never comes.
const catchUpLimit = 10 * time.Minute

// differs says whether a person is to be shown another verdict, apart from how long it is until what comes next.
func (v Verdict) differs(w Verdict) bool {
	return v.off != w.off || !v.Next.Equal(w.Next) || w.Next.IsZero() && v.Reason != w.Reason
}

// sleeps reports whether the verdict of before still stands: nothing has happened, and it is not yet time. A
// condition is to be asked again and again.
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

// open gives places to those that wait.
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

// How long an opening that failed is waited with.
const (
	minUnopened = time.Second
	maxUnopened = time.Minute
)

// Opened says that there is a record of the run, which goes from now on. Only now its events are dealt with, and
// its gate has something to count from.
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

// Unopened says that no record could be made of the run, which therefore did not go. It is due still, and tried
// again after a while, unless it was asked for by hand.
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

// giveBack lets the events of a run wait again.
func (it *item) giveBack(run *Run) {
	it.settled = false
	if it.d.Gate == Event && run.Definition.On == it.d.On {
		it.pending = run.events.join(it.pending)
	}
	run.events = batch{}
}

// Checked gives the result of a condition's check, which is the line that ran. err says why there is no exit code,
// "" = there is one. The result of a line that is no longer the automation's is not used.
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
