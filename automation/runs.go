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
// A run that is due waits for a place, then is opened: the owner makes a record of it and says Opened, lets it go, and says
// Ended. Whoever has waited longest is opened first, what a person asked for before all others. Not for concurrent use.
type Runs struct {
	most  int
	items map[string]*item
	order []*item // in the order of scoped names
	rev   uint64
}

// item is one automation: in the catalog, or remembered.
type item struct {
	name   string     // scoped
	d      Definition // as of the newest catalog that had it
	gone   bool       // no catalog has it
	memory Memory

	looked  time.Time // when it was last judged
	verdict Verdict
	sought  Sought
	check   CheckFacts
	recent  []time.Time // newest openings
	want    *Run        // due, waits for a place
	run     *Run        // opened, or being opened
	told    bool        // that openings pass during this run

	unopened time.Time // not opened again before this: the last try failed
	whyNot   string
	fails    int // such tries in a row

	seen    uint64 // newest event that was looked at
	pending batch
	deep    int // events that were passed over since the last turn: too many runs had led to them
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
	Suspended func(rig string) string // why nothing fires by itself: "by city", "by rig demo"; "" = it does
	Patrol    time.Duration           // the least time between two checks of a condition
}

// Deeds are what is to be done after a turn, in this order.
type Deeds struct {
	Passed []Passed     // openings that are let pass, to be told
	Check  []Definition // conditions to be checked; each comes back by Checked
	Open   []Run        // runs to be opened; each comes back by Opened or Unopened
}

// Passed is an opening without a run.
type Passed struct {
	Scoped string
	Reason string
}

func (d *Deeds) pass(scoped, format string, args ...any) {
	d.Passed = append(d.Passed, Passed{scoped, fmt.Sprintf(format, args...)})
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
	i, _ := slices.BinarySearchFunc(r.order, name, func(it *item, name string) int { return cmp.Compare(it.name, name) })
	r.order = slices.Insert(r.order, i, it)
	return it
}

// Turn judges all automations, and opens what is due as far as there are places.
func (r *Runs) Turn(now time.Time, w World) Deeds {
	var deeds Deeds
	for _, it := range r.order {
		if !it.gone {
			r.judge(it, now, w, &deeds)
		}
	}
	deeds.Open = r.open(now)
	return deeds
}

func (r *Runs) judge(it *item, now time.Time, w World, deeds *Deeds) {
	suspended := w.Suspended(it.d.Rig)
	if it.deep > 0 {
		deeds.pass(it.name, "%d %s passed: %d runs led to one another by their events", it.deep, it.d.On, MaxDepth)
		it.deep = 0
	}
	if want := it.want; want != nil && (it.d.Off != "" || suspended != "" && want.By == "") {
		it.want = nil
		if want.By != "" || want.Follows != "" {
			deeds.pass(it.name, "was due (%s), and is %s", want.Reason, cmp.Or(it.d.Off, "suspended "+suspended))
		}
	}
	if it.want != nil || it.run != nil && it.run.Opened.IsZero() { // until it is opened its gate cannot know of it
		return
	}
	v := Judge(it.d, it.facts(suspended, w.Patrol, now), now)
	it.verdict, it.looked, it.sought = v, now, v.Sought
	switch {
	case v.Due && it.run == nil:
		it.check.Fresh = false
		it.want = &Run{Definition: it.d, Reason: v.Reason, Retry: v.Retry, Opening: v.Opening, Since: now}
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
			deeds.pass(it.name, "due %s, but its run since %s still goes", it.d.clock(v.Opening), it.d.clock(it.run.began()))
		}
	}
}

func (it *item) facts(suspended string, patrol time.Duration, now time.Time) Facts {
	m := it.memory
	f := Facts{
		Born: m.Born, Last: m.Last, Looked: it.looked, Skipped: m.Skipped, Queued: m.Queued, Suspended: suspended,
		Tries: m.Tries, FailedAt: m.Ended, Check: it.check, Recent: it.recent, Patrol: patrol, Sought: it.sought,
		Events: EventFacts{Cursor: m.Cursor, Newest: it.pending.newest, Count: it.pending.count, Depth: it.pending.depth},
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
func (r *Runs) open(now time.Time) []Run {
	var line []*item
	free := r.most
	for _, it := range r.order {
		switch {
		case it.run != nil:
			free--
		case it.want != nil && (it.unopened.IsZero() || !now.Before(it.unopened) || it.unopened.Sub(now) > maxUnopened):
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
		if it.d.Gate == Event {
			run.events, it.pending = it.pending, batch{}
			run.After, run.Until, run.Count = it.memory.Cursor, max(it.memory.Cursor, run.events.newest), run.events.count
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

// Opened says that there is a record of the run, which goes from now on. Only now its events are dealt with, and its gate
// has something to count from.
func (r *Runs) Opened(scoped string, now time.Time) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return
	}
	it.run.Opened = now
	m := &it.memory
	m.Last, m.Open, m.Queued, m.Retry = now, true, time.Time{}, it.run.Retry
	m.From, m.Cursor = m.Cursor, max(m.Cursor, it.run.Until)
	it.unopened, it.fails, it.whyNot, it.told = time.Time{}, 0, "", false
	it.recent = append(it.recent[max(0, len(it.recent)+1-Rate):], now)
	r.rev++
}

// Unopened says that no record could be made of the run, which therefore did not go. It is due still, and tried again after
// a while.
func (r *Runs) Unopened(scoped, why string, now time.Time) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return
	}
	wait := min(minUnopened<<min(it.fails, 10), maxUnopened)
	it.want, it.run = it.run, nil
	it.giveBack(it.want)
	it.fails++
	it.unopened, it.whyNot = now.Add(wait), why
	if it.gone {
		it.want = nil
	}
}

// giveBack lets the events of a run wait again.
func (it *item) giveBack(run *Run) {
	if it.d.Gate == Event && run.Definition.On == it.d.On {
		it.pending = run.events.join(it.pending)
	}
	run.events = batch{}
}

// Checked gives the result of a condition's check. err says why there is no exit code, "" = there is one.
func (r *Runs) Checked(scoped string, code int, err string) {
	if it := r.items[scoped]; it != nil {
		c := &it.check
		c.Running, c.Done, c.Fresh, c.Code, c.Err = false, true, true, code, err
	}
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted" // by the end of the program
)

// Ended says that a run has ended. It gives the automation that follows a failure for good, "" = none; that one is due now.
func (r *Runs) Ended(scoped string, how Outcome, now time.Time) (follows string) {
	it := r.items[scoped]
	if it == nil || it.run == nil {
		return ""
	}
	run := it.run
	it.run = nil
	it.ended(run, how, now)
	r.rev++
	if how != Failed || it.memory.Tries > 0 || it.d.OnFailure == "" || it.gone {
		return ""
	}
	next := r.items[it.d.OnFailure]
	if next == nil || next.gone || next.d.Off != "" {
		return ""
	}
	switch {
	case next.want != nil:
	case next.run != nil:
		next.memory.Queued = now
	default:
		next.want = &Run{Definition: next.d, Reason: scoped + " failed", Follows: scoped, Opening: now, Since: now, Depth: run.Depth + 1}
	}
	return next.name
}

func (it *item) ended(run *Run, how Outcome, now time.Time) {
	m := &it.memory
	m.Open, m.Ended, m.Outcome, m.Tries = false, now, how, 0
	switch how {
	case OK:
		m.Failures = 0
		return
	case Failed:
		m.Failures++
	}
	if run.Retry >= it.d.Retry || it.gone {
		return
	}
	m.Tries = run.Retry + 1
	if it.d.Gate == Event && run.Definition.On == it.d.On { // whoever tries again deals with the same events, and those that came since
		m.Cursor = min(m.Cursor, run.After)
		it.giveBack(run)
	}
}

// Fire makes an automation due by hand, past its gate. by is who asks. It is refused for one that is off, or runs and does
// not queue.
func (r *Runs) Fire(scoped, by string, now time.Time) error {
	it := r.items[scoped]
	switch {
	case it == nil || it.gone:
		return fmt.Errorf("there is no automation %s", scoped)
	case it.d.Off != "":
		return fmt.Errorf("%s is %s", scoped, it.d.Off)
	case it.run != nil && it.d.Overlap != Queue:
		since := it.d.clock(it.run.began())
		return fmt.Errorf("%s runs since %s; wait for its end, or write overlap = %q into %s", scoped, since, Queue, it.d.Source)
	case it.run != nil:
		it.memory.Queued = now
		r.rev++
	case it.want != nil:
		it.want.By, it.want.Reason = by, "by hand"
		it.unopened = time.Time{}
	default:
		it.want = &Run{Definition: it.d, Reason: "by hand", By: by, Opening: now, Since: now}
	}
	return nil
}
