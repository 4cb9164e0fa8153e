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
	r.automations.shop.endRuns(errStopped)
	if r.automations.shop.follow != nil {
		r.automations.shop.follow()
	}
	if leave {
		r.Sessions.leave()
	}
}

func (sr *sessions) leave() {
	sr.Mu.Lock()
	defer sr.Mu.Unlock()
	for _, st := range sr.starts {
		select {
		case <-st.forked:
			st.cancel(session.ErrLeave)
		default:
		}
	}
}

// BreakLimit is how long what is in flight may take to end once the controller has broken.
const BreakLimit = 10 * time.Second
