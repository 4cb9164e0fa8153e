package perform

import (
	"time"

	"gcity/session"
)

// Abandon is runner.finish for a controller that has broken: nothing is waited for long.
func (r *Runner) Abandon() {
	r.wind(true)
	defer time.AfterFunc(leaveLimit, r.Cancel).Stop()
	defer r.Cancel()
	if !r.wg.WaitFor(BreakLimit) {
		r.w.Logger.Error("something of the broken controller does not end")
	}
}

// wind lets nothing more begin, and has what need not be waited for end.
func (r *Runner) wind(leave bool) {
	r.w.Last.Begin()
	close(r.closed)
	r.shop.endRuns(errStopped)
	if r.shop.follow != nil {
		r.shop.follow()
	}
	if leave {
		r.leave()
	}
}

func (r *Runner) leave() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for _, st := range r.starts {
		select {
		case <-st.forked:
			st.cancel(session.ErrLeave)
		default:
		}
	}
}

// BreakLimit is how long what is in flight may take to end once the controller has broken.
const BreakLimit = 10 * time.Second
