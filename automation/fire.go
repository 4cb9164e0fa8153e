package automation

import (
	"fmt"
	"time"
)

// Fire makes an automation due by hand, past its gate. by is who asks. It is refused for one that is off, or runs
// and does not queue.
func (r *Runs) Fire(scoped, by string, now time.Time) error {
	it := r.items[scoped]
	switch {
	case it == nil || it.gone:
		return fmt.Errorf("there is no automation %s", scoped)
	case it.d.Off != "":
		return fmt.Errorf("%s is %s", scoped, it.d.Off)
	case it.run != nil && it.d.Overlap != Queue:
		since := it.d.clock(it.run.began())
		return fmt.Errorf("%s runs since %s; wait for its end, or write overlap = %q into %s",
			scoped, since, Queue, it.d.Source)
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

// queue has one more run follow the one that goes, or is being opened.
func (it *item) queue(now time.Time) {
	if it.run.Opened.IsZero() {
		it.again = now // what is kept until then belongs to the run that is being opened
		return
	}
	it.memory.Queued = now
}

// Withdraw takes back what was asked for by hand, as long as it waits for a place. ok is false if nothing does.
func (r *Runs) Withdraw(scoped string) (ok bool) {
	it := r.items[scoped]
	if it == nil || it.want == nil || it.want.By == "" {
		return false
	}
	it.settled = false
	it.withdraw()
	return true
}

// withdraw takes a wish by hand back: who asked hears that it failed, and will ask again. What the gate wants stays.
func (it *item) withdraw() {
	if it.want.gate == "" {
		it.want, it.whyNot = nil, ""
		return
	}
	it.want.By, it.want.Reason, it.want.gate = "", it.want.gate, ""
}
