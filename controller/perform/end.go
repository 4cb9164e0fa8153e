package perform

import (
	"time"

	"gcity/session"
)

// Abandon replaces Finish after the controller has crashed. It waits only a limited time for effects in flight.
func (r *Runner) Abandon() {
	r.stopAccepting(true)
	defer time.AfterFunc(leaveLimit, r.Cancel).Stop()
	defer r.Cancel()
	if !r.wg.WaitFor(BreakLimit) {
		r.w.Logger.Error("some effects of the crashed controller have not ended")
	}
}

// stopAccepting prevents new effects, and cancels effects that need not complete.
func (r *Runner) stopAccepting(leave bool) {
	r.w.ShutdownDeadline.Begin()
	close(r.closed)
	r.automations.state.endRuns(errStopped)
	if r.automations.state.follow != nil {
		r.automations.state.follow()
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

// BreakLimit is how long Abandon waits for effects in flight.
const BreakLimit = 10 * time.Second
