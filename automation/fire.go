package automation

import (
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
		it.queue(now)
		r.rev++
	case it.want != nil:
		if it.want.By == "" {
			it.want.gate = it.want.Reason
		}
		it.want.By, it.want.Reason = by, "by hand"
		it.unopened = time.Time{}
	default:
		it.unopened = time.Time{}
		it.want = &Run{Definition: it.d, Reason: "by hand", By: by, Opening: now, Since: now}
	}
	return nil
}

func (it *item) queue(now time.Time) {
	if it.run.Opened.IsZero() {
		it.again = now // Opened will queue the run
		return
	}
	it.memory.Queued = now
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

// withdraw cancels a manual request. A run that is also due because of its gate stays due.
func (it *item) withdraw() {
	if it.want.gate == "" {
		it.want, it.openProblem = nil, ""
		return
	}
	it.want.By, it.want.Reason, it.want.gate = "", it.want.gate, ""
}
