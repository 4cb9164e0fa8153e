package automation

import (
	"cmp"
	"fmt"
	"time"

	"gcity/internal/suggest"
)

// Fire makes an automation due at a user's request, regardless of the automation's gate. Fire returns an error if the
// automation is disabled, or if it has an active run and does not queue another one.
func (r *Runs) Fire(scoped, by string, now time.Time) error {
	it := r.items[scoped]
	switch {
	case it == nil || it.gone:
		return suggest.NoSuch(suggest.Automation, scoped)
	case it.d.Off != "":
		return fmt.Errorf("it is %s", it.d.Off)
	case it.run != nil && it.d.Overlap != Queue:
		since := it.d.clock(it.run.began())
		return fmt.Errorf("it has been running since %s; wait until it ends, or set "+
			"overlap = %q in %s", since, Queue, it.d.Source)
	case it.run != nil:
		it.queue(now, by)
		r.rev++
	case it.want != nil:
		it.want.byHand(by)
		it.unopened = time.Time{}
	default:
		it.unopened = time.Time{}
		it.want = &Run{Definition: it.d, Reason: "by hand", By: by, Opening: now, Since: now}
	}
	return nil
}

// byHand adds a user's request to a run that is already due.
func (r *Run) byHand(by string) {
	if r.By == "" {
		r.gate = r.Reason
	}
	r.By, r.Reason = by, "by hand"
}

// attachUser sets the user that requested the queued run that is now due.
func (it *item) attachUser() {
	if by := it.memory.QueuedBy; by != "" && it.want.Retry == 0 {
		it.want.byHand(by)
	}
}

// queue queues another run. by is the user that requested it, or "".
func (it *item) queue(now time.Time, by string) {
	if it.run.Opened.IsZero() { // Opened will queue the run
		it.again, it.againBy = now, cmp.Or(it.againBy, by)
		return
	}
	it.memory.Queued, it.memory.QueuedBy = now, cmp.Or(it.memory.QueuedBy, by)
}

// queued returns when the run after the current one was requested, or zero, and the user. Until the current run is
// opened, memory describes the current run.
func (it *item) queued() (at time.Time, by string) {
	if it.run.Opened.IsZero() {
		return it.again, it.againBy
	}
	return it.memory.Queued, it.memory.QueuedBy
}

// Withdraw cancels a manual request that has not started a run. ok is false if it finds none. If the run is being
// opened, Opened later reports that the request was canceled.
func (r *Runs) Withdraw(scoped string) (ok bool) {
	it := r.items[scoped]
	if it != nil && it.run != nil && it.run.onlyByHand() && it.run.Opened.IsZero() {
		it.run.withdrawn = true
		return true
	}
	if it == nil || it.want == nil || it.want.By == "" {
		return false
	}
	it.settled = false
	it.withdraw()
	return true
}

// onlyByHand reports whether the run has no cause other than a manual request, and handles no events.
func (r *Run) onlyByHand() bool { return r.By != "" && r.gate == "" && r.Count == 0 }

// withdraw cancels a manual request. A run that is also due because of its gate, or because another user has queued it,
// stays due.
func (it *item) withdraw() {
	if it.want.gate == "" {
		it.want, it.openProblem = nil, ""
		return
	}
	it.want.By, it.want.Reason, it.want.gate = "", it.want.gate, ""
	it.attachUser()
}
