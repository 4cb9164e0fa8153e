package perform

import (
	"time"

	"gcity/session"
)

// Abandon is Finish for a controller that has crashed. It waits for a short time only.
func (r *Runner) Abandon() {
	r.wind(true)
	defer time.AfterFunc(leaveLimit, r.Cancel).Stop()
	defer r.Cancel()
	if !r.wg.WaitFor(BreakLimit) {
		r.w.Logger.Error("some effects of the crashed controller do not end")
	}
}

// wind stops new work, and cancels work that need not finish.
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

// BreakLimit is how long effects in flight may take to end after the controller has crashed.
const BreakLimit = 10 * time.Second
