package automation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// MaxActive is the default maximum number of concurrent runs.
const MaxActive = 8

// Runs keeps the state of a city's automations and decides which runs start. It has no clock and no side effects. Its
// owner reports what has happened, and performs what Advance returns.
//
// A run that is due waits for a slot. Then the run is opened: the owner writes a record, calls Opened and starts the
// run. When the run has ended, the owner calls Ended. Runs is not safe for concurrent use.
type Runs struct {
	most  int
	items map[string]*item
	order []*item // sorted by scoped name
	rev   uint64

	closed string    // why no run could be opened in the latest Advance
	began  time.Time // when Load was first called
	now    time.Time
	patrol time.Duration // minimum interval between two checks of a condition
}

// item is the state of an automation, which might have been removed.
type item struct {
	name string     // scoped name
	d    Definition // definition from the latest catalog that contained the automation
	gone bool       // the latest catalog does not contain the automation, so no run starts
	// gone, but the file might still exist: it is broken, or it cannot be read
	unusable bool
	memory   Memory

	judgedAt      time.Time
	settled       bool   // since the last call to Judge, only the time has changed
	suspended     string // why the automation was suspended at the last call to Judge
	verdict       Verdict
	scheduleCache ScheduleCache
	check         CheckFacts
	recent        []time.Time
	want          *Run // the run that is due and waiting for a slot; nil = no run is waiting
	run           *Run // the run that is active or being opened; nil = no run
	skipReported  bool
	failures      []failure // oldest first; for each one, an on_failure run must follow
	// when another run was requested while the current one was being opened; zero = never
	again   time.Time
	againBy string // the user that requested it; "" = no user

	// next attempt to open the run; zero = no attempt has failed
	unopened     time.Time
	openProblem  string
	openFailures int

	seen       uint64
	pending    batch
	skipReason string // why events were skipped since the latest run; "" = no events were skipped
	// events skipped since the last Advance because of MaxDepth
	skippedByDepth int
}

func (it *item) removed() bool { return it.gone && !it.unusable }

type batch struct {
	count  int
	newest uint64
	depth  int
}

func (b batch) join(c batch) batch {
	return batch{b.count + c.count, max(b.newest, c.newest), max(b.depth, c.depth)}
}

// Run is a run of an automation, due or active.
type Run struct {
	Definition Definition // until the run is opened, newer definitions replace it
	Reason     string     // one sentence, for users
	By         string     // the user that requested the run; "" = no user
	// the failed automation that caused this run; "" = none
	Follows string
	Retry   int       // number of the retry; 0 = not a retry
	Opening time.Time // when the gate opened; for a schedule, the scheduled time
	Since   time.Time // when the run became due
	Opened  time.Time // when the run's record was written; zero = not yet
	After   uint64    // the run handles the events after this seq
	Until   uint64    // the run handles the events up to this seq
	Count   int       // number of events that the run handles
	Depth   int       // greatest Depth of the events that the run handles

	events batch
	gate   string // why the gate was already open when a user requested the run; "" = it was closed
	// the user has canceled the request while the run was being opened
	withdrawn bool
}

func (r *Run) began() time.Time {
	if r.Opened.IsZero() {
		return r.Since
	}
	return r.Opened
}

// World is the state outside Runs that affects Advance.
type World struct {
	// Suspended returns the text after "suspended", such as "with the city" or "with rig demo"; "" = not suspended
	Suspended func(rig string) string
	Closed    string // why no run can be opened now, or ""
	// Ending reports whether the end of an automation's latest run is still being recorded. The next run and the
	// on_failure run wait for that. If Ending is nil, no run waits.
	Ending func(scoped string) bool
	Patrol time.Duration // minimum interval between two checks of a condition
}

// Actions are what the caller of Advance must do, in this order.
type Actions struct {
	Skipped []SkippedRun
	Check   []Definition // conditions to check; pass each result to Checked
	Open    []Run        // runs to open; pass each result to Opened or Unopened

	// an automation's status has changed, not counting the remaining time
	TextChanged bool
}

// SkippedRun is a skipped run to report.
type SkippedRun struct {
	Scoped string
	Reason string
	Depth  int // depth for the event that reports the skip; see Depth
}

func (d *Actions) pass(scoped string, depth int, format string, args ...any) {
	d.Skipped = append(d.Skipped, SkippedRun{scoped, fmt.Sprintf(format, args...), depth})
}

// NewRuns returns an empty Runs. maxActive is the maximum number of concurrent runs; 0 = MaxActive.
func NewRuns(maxActive int) *Runs {
	if maxActive <= 0 {
		maxActive = MaxActive
	}
	return &Runs{most: maxActive, items: map[string]*item{}}
}

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

// Advance evaluates all automations and returns what to do. Open contains due runs, at most one for each free slot.
func (r *Runs) Advance(now time.Time, w World) Actions {
	var actions Actions
	r.now, r.patrol = now, w.Patrol
	for _, it := range r.order {
		if !it.gone {
			r.judge(it, now, w, &actions)
		}
	}
	if r.closed = w.Closed; r.closed == "" {
		actions.Open = r.open(now, w)
	}
	return actions
}

func (r *Runs) judge(it *item, now time.Time, w World, actions *Actions) {
	suspended := it.d.BlockedWhile(w.Suspended(it.d.Rig))
	if it.upToDate(suspended, now) {
		return
	}
	if it.skippedByDepth > 0 {
		it.skipReason = fmt.Sprintf("skipped %d× %s: at most %d runs can trigger each other "+
			"in a chain", it.skippedByDepth, it.d.On, MaxDepth)
		actions.pass(it.name, MaxDepth, "%s", it.skipReason)
		it.skippedByDepth = 0
	}
	if want := it.want; want != nil && (it.d.Off != "" || suspended != "" && want.By == "") {
		it.want, actions.TextChanged = nil, true
		r.drop(it, want, cmp.Or(it.d.Off, "suspended "+suspended), actions)
	}
	// the gate does not decide while a run is due or starting
	if it.want != nil || it.run != nil && it.run.Opened.IsZero() {
		return
	}
	v := Judge(it.d, it.facts(suspended, w.Patrol, now), now)
	// right after the start of the program, the retry's events might not have been read yet
	reading := v.Due && v.Retry > 0 && it.seen < it.memory.Again && now.Sub(r.began) < catchUpLimit
	if reading {
		v.Due, v.Reason = false, v.Reason+"; the events for this retry have not been read yet"
	}
	if it.run == nil && it.verdict.differs(v) {
		actions.TextChanged = true
	}
	it.verdict, it.judgedAt, it.scheduleCache, it.settled, it.suspended = v, now, v.ScheduleCache,
		!reading, suspended
	switch {
	case v.Due && it.run == nil:
		it.check.Fresh, actions.TextChanged = false, true
		it.want = &Run{Definition: it.d, Reason: v.Reason, Retry: v.Retry, Opening: v.Opening,
			Since: now}
		r.attachFailure(it)
		it.attachUser()
	case it.run == nil && len(it.failures) > 0 && !it.retries() && suspended == "" &&
		it.d.Off == "":
		actions.TextChanged = true
		it.want = it.after(it.nextFailure(), now)
	case v.Ask:
		it.check.Running, it.check.Asked = true, now
		actions.Check = append(actions.Check, it.d)
	case v.Keep && it.memory.Queued.IsZero():
		it.memory.Queued = v.Opening
		r.rev++
	case v.Skip:
		if it.memory.Skipped = v.Opening; it.d.Gate == Cron { // stays skipped after a restart
			r.rev++
		}
		if !it.skipReported {
			it.skipReported = true
			actions.pass(it.name, it.run.Depth+1, "due %s, but the run that started at %s "+
				"has not ended",
				it.d.clock(v.Opening), it.d.clock(it.run.began()))
		}
	}
}

// drop removes the failures that wait, and reports the runs of a user or of a failure that will not start.
func (r *Runs) drop(it *item, want *Run, why string, actions *Actions) {
	const text = "was due (%s) but is %s"
	if want.By != "" || want.Follows != "" && want.Retry == 0 { // a retry stays due
		r.rev++ // Memory no longer contains Follows
		actions.pass(it.name, want.Depth+1, text, want.Reason, why)
	}
	for _, f := range it.failures {
		r.rev++
		actions.pass(it.name, f.depth+1, text, f.reason(), why)
	}
	it.failures = nil
}

// catchUpLimit is how long a retry waits for its events. The log might no longer contain them.
const catchUpLimit = 10 * time.Minute

func (v Verdict) differs(w Verdict) bool {
	return v.off != w.off || !v.Next.Equal(w.Next) || w.Next.IsZero() && v.Reason != w.Reason
}

func (it *item) upToDate(suspended string, now time.Time) bool {
	if !it.settled || it.want != nil || it.run != nil || it.skippedByDepth > 0 ||
		it.d.Gate == Condition ||
		it.suspended != suspended {
		return false
	}
	return !now.Round(0).Before(it.judgedAt.Round(0)) &&
		(it.verdict.Next.IsZero() || now.Before(it.verdict.Next))
}

func (it *item) facts(suspended string, patrol time.Duration, now time.Time) Facts {
	m := it.memory
	f := Facts{
		Born: m.Born, Last: m.Last, JudgedAt: it.judgedAt, Skipped: m.Skipped, Queued: m.Queued,
		Suspended: suspended,
		Tries:     m.Tries, FailedAt: m.Ended, Check: it.check, Recent: it.recent, Patrol: patrol,
		ScheduleCache: it.scheduleCache,
		Events:        EventFacts{Cursor: m.Cursor, Count: it.pending.count},
	}
	if it.run != nil {
		f.Running = it.run.Opened
		if f.Running.IsZero() {
			f.Running = now
		}
	}
	return f
}

func (r *Runs) open(now time.Time, w World) []Run {
	var line []*item
	free := r.most
	for _, it := range r.order {
		switch {
		case it.run != nil:
			free--
		case it.gone:
		case w.Ending != nil && (w.Ending(it.name) || it.want != nil && w.Ending(it.want.Follows)):
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

// Minimum and maximum delay after a failed attempt to open a run.
const (
	minUnopened = time.Second
	maxUnopened = time.Minute
)

// Opened records that a run's record was written. The run's events now count as handled. If canceled is true, the
// request for the run was canceled in the meantime: the run must not start, and it changes nothing else.
func (r *Runs) Opened(scoped string, now time.Time) (canceled bool) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return false
	}
	m := &it.memory
	if it.run.withdrawn {
		if !it.again.IsZero() {
			m.Queued, m.QueuedBy = it.again, it.againBy
		}
		it.run, it.settled, it.again, it.againBy = nil, false, time.Time{}, ""
		it.unopened, it.openFailures, it.openProblem = time.Time{}, 0, ""
		r.rev++
		return true
	}
	it.run.Opened = now
	m.Followed, m.Depth = it.run.Follows, it.run.Depth
	m.Last, m.Open, m.Retry = now, true, it.run.Retry
	m.Queued, m.QueuedBy, it.again, it.againBy = it.again, it.againBy, time.Time{}, ""
	m.From, m.Cursor, m.Again = m.Cursor, max(m.Cursor, it.run.Until), 0
	it.skipReason = ""
	it.unopened, it.openFailures, it.openProblem, it.skipReported = time.Time{}, 0, "", false
	it.recent = append(it.recent[max(0, len(it.recent)+1-Rate):], now)
	r.rev++
	return false
}

// Unopened records that a run's record could not be written. The run stays due and is tried again later. A manual
// request is canceled instead.
func (r *Runs) Unopened(scoped, why string, now time.Time) {
	it := r.items[scoped]
	if it == nil || it.run == nil || !it.run.Opened.IsZero() {
		return
	}
	wait := min(minUnopened<<min(it.openFailures, 10), maxUnopened)
	again, by := it.again, it.againBy
	it.want, it.run, it.again, it.againBy = it.run, nil, time.Time{}, ""
	it.giveBack(it.want)
	it.want.withdrawn = false // another request keeps the run due
	it.openFailures++
	it.unopened, it.openProblem = now.Add(wait), why
	switch {
	case again.IsZero() && it.want.By != "":
		it.withdraw()
	case !again.IsZero():
		if it.want.By == "" {
			r.attachFailure(it)
		}
		if by != "" {
			it.memory.Queued, it.memory.QueuedBy = again, by
			it.want.gate = cmp.Or(it.want.gate, it.want.Reason) // stays due after another failure
			it.want.By, it.want.Reason = by, "by hand"
			r.rev++
		}
	}
	if it.removed() {
		it.want = nil
		it.forgetUnhandled()
	}
}

func (it *item) giveBack(run *Run) {
	it.settled = false
	if it.d.Gate == Event && run.Definition.On == it.d.On {
		it.pending = run.events.join(it.pending)
	}
	run.events = batch{}
}

// Checked records the result of a condition's check. check is the command that ran; err says why the exit code is
// unknown. Checked ignores the result if the automation's check has changed.
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
