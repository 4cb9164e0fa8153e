package automation

import "time"

// Outcome is the result of a run.
type Outcome string

const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted" // the controller exited during the run
)

// Ended records the end of a run. If the run has failed and will not be retried, the on_failure automation becomes due
// and Ended returns its scoped name.
func (r *Runs) Ended(scoped string, how Outcome, now time.Time) (follows string) {
	it := r.items[scoped]
	if it == nil || it.run == nil {
		return ""
	}
	run := it.run
	it.run, it.settled = nil, false
	it.ended(run, how, now)
	r.rev++
	if how != Failed || it.memory.Tries > 0 || it.d.OnFailure == "" || it.removed() {
		return ""
	}
	next := r.items[it.d.OnFailure]
	if next == nil || next.removed() || next.d.Off != "" {
		return ""
	}
	switch {
	case next.want != nil:
	case next.run != nil:
		next.queue(now)
		next.follows = scoped
	default:
		next.want = next.after(scoped, now)
		next.want.Depth = run.Depth + 1
	}
	return next.name
}

// after returns the run that is due because the automation failed has failed.
func (it *item) after(failed string, now time.Time) *Run {
	return &Run{Definition: it.d, Reason: failed + " failed", Follows: failed, Opening: now,
		Since: now}
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
	return it != nil && it.run != nil && !(it.memory.Queued.IsZero() && it.again.IsZero())
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
