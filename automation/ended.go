package automation

import (
	"slices"
	"time"
)

// Outcome is the result of a run.
type Outcome string

const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted" // the controller exited during the run
)

// Ended records the end of a run. If the run has failed or was interrupted and will not be retried, the on_failure
// automation becomes due and Ended returns its scoped name.
func (r *Runs) Ended(scoped string, how Outcome, now time.Time) (follows string) {
	it := r.items[scoped]
	if it == nil || it.run == nil {
		return ""
	}
	run := it.run
	it.run, it.settled = nil, false
	it.ended(run, how, now)
	r.rev++
	if how == OK {
		return ""
	}
	return r.follow(it, run, now)
}

// follow makes the on_failure automation due after a failed or interrupted run and returns its scoped name, unless the
// run is retried.
func (r *Runs) follow(it *item, run *Run, now time.Time) (follows string) {
	if it.memory.Tries > 0 || it.d.OnFailure == "" || it.removed() {
		return ""
	}
	next := r.items[it.d.OnFailure]
	if next == nil || next.removed() || next.d.Off != "" {
		return ""
	}
	next.followFailure(failure{it.name, run.Depth + 1}, now)
	return next.name
}

// failure is a failed automation that causes an on_failure run.
type failure struct {
	of    string // scoped name
	depth int    // Depth of the on_failure run
}

func (f failure) reason() string { return f.of + " failed" }

// followFailure makes a run due. Each failed automation causes its own run.
func (it *item) followFailure(f failure, now time.Time) {
	same := func(g failure) bool { return g.of == f.of }
	m := &it.memory
	switch retry := it.retries() && m.Followed != "" && m.Followed != f.of; {
	case it.want == nil && it.run == nil && !retry && !it.gone: // gone: the retries are unknown
		it.want = it.after(f, now)
		return
	case it.want != nil && it.want.Follows == f.of, slices.ContainsFunc(it.failures, same):
		return // that run reports the latest failure
	}
	it.failures, it.settled = append(it.failures, f), false
	if it.run != nil {
		it.queue(now, "")
	}
}

// nextFailure removes and returns the oldest failure.
func (it *item) nextFailure() (f failure) {
	if len(it.failures) > 0 {
		f, it.failures = it.failures[0], it.failures[1:]
	}
	return f
}

// after returns the run that is due because of a failure.
func (it *item) after(f failure, now time.Time) *Run {
	return &Run{Definition: it.d, Reason: f.reason(), Follows: f.of, Depth: f.depth, Opening: now,
		Since: now}
}

// attachFailure sets the failure that has caused the run that is due. For a retry, that is the failure that has caused
// the latest run.
func (r *Runs) attachFailure(it *item) {
	m, want := &it.memory, it.want
	if want.Retry > 0 {
		if m.Followed == "" && len(it.failures) > 0 {
			f := it.nextFailure()
			m.Followed, m.Depth = f.of, max(m.Depth, f.depth)
			r.rev++
		}
		want.Follows, want.Depth = m.Followed, m.Depth
		return
	}
	if want.Follows == "" && len(it.failures) > 0 {
		f := it.nextFailure()
		want.Follows, want.Depth = f.of, max(want.Depth, f.depth)
	}
}

// Canceled records that a user has canceled a run. A canceled run counts as failed and is not retried.
func (r *Runs) Canceled(scoped string, now time.Time) (follows string) {
	if it := r.items[scoped]; it != nil && it.run != nil {
		it.run.Retry = max(it.run.Retry, it.d.Retry)
	}
	return r.Ended(scoped, Failed, now)
}

// Queued reports whether the automation's next run is queued behind the active one.
func (r *Runs) Queued(scoped string) bool {
	it := r.items[scoped]
	if it == nil || it.run == nil {
		return false
	}
	at, _ := it.queued()
	return !at.IsZero()
}

// Again returns the number of a failed automation's next retry, the maximum number, and the time. ok is false if no
// retry follows.
func (r *Runs) Again(scoped string) (try, of int, at time.Time, ok bool) {
	it := r.items[scoped]
	if it == nil || it.gone || it.run != nil || !it.retries() || it.d.Off != "" {
		return 0, 0, time.Time{}, false
	}
	return it.memory.Tries, it.d.Retry, it.memory.Ended.Add(it.d.backoff(it.memory.Tries)), true
}

// a new definition can allow fewer retries
func (it *item) retries() bool { return it.memory.Tries > 0 && it.memory.Tries <= it.d.Retry }

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
	if run.Retry >= it.d.Retry || it.removed() {
		return
	}
	m.Tries = run.Retry + 1
	// a retry handles the failed run's events again, together with newer ones
	if it.d.Gate == Event && run.Definition.On == it.d.On {
		m.Again, m.Cursor = m.Cursor, min(m.Cursor, run.After)
		it.giveBack(run)
	}
}
