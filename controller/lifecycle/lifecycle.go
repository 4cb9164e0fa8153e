// Package lifecycle tracks the state of one agent's session. The state is one of a few named states. Each event
// that can change the state has a method.
package lifecycle

// State is the state of an agent's session.
type State int

// A session is Unready if it was not ready when the controller found it.
const (
	Absent State = iota
	Starting
	Unready  // a session is running but not ready
	Resuming // the provider is waiting for the running session to become ready
	Running
	Stopping
	// a start or a stop has failed, so the sessions must be listed before the next action
	Unknown
)

// Phase is the state of an agent's session. A start or stop that the state does not allow is ignored. The caller must
// not report results of a list while a start or stop is in flight.
type Phase struct {
	state State
	// last known state: Absent, Unready or Running
	known    State
	step     uint64 // step of the latest start, stop or reported exit
	canceled bool
	seen     bool
}

// State returns the current state.
func (p *Phase) State() State { return p.state }

// Start records that a start is in progress.
func (p *Phase) Start(step uint64) {
	if p.state == Absent {
		p.state, p.step, p.canceled = Starting, step, false
	}
}

// Resume records that the provider is waiting for an adopted session to become ready.
func (p *Phase) Resume(step uint64) {
	if p.state == Unready {
		p.state, p.step, p.canceled = Resuming, step, false
	}
}

// Cancel records that the start in flight is canceled. The start still returns a result. Cancel returns false if there
// is nothing to cancel.
func (p *Phase) Cancel() bool {
	if !p.Starting() || p.canceled {
		return false
	}
	p.canceled = true
	return true
}

// StartEnds records that a start has returned. The caller must then call Runs, BecomesUnknown or Ends. It returns false
// if no start is in flight.
func (p *Phase) StartEnds(step uint64) bool {
	if !p.Starting() {
		return false
	}
	p.state, p.step = p.known, step
	return true
}

// Stop changes the state Unready or Running to Stopping.
func (p *Phase) Stop(step uint64) {
	if p.state == Unready || p.state == Running {
		p.state, p.step = Stopping, step
	}
}

// StopEnds records that a stop has returned. The caller must then call Ends or BecomesUnknown. It returns false if no
// stop is in flight.
func (p *Phase) StopEnds(step uint64) bool {
	if p.state != Stopping {
		return false
	}
	p.state, p.step = p.known, step
	return true
}

// Runs records that the session is running and ready.
func (p *Phase) Runs() { p.state, p.known, p.seen = Running, Running, true }

// BecomesUnknown records that a start or a stop has failed.
func (p *Phase) BecomesUnknown() { p.state = Unknown }

// Ends records that the session has ended. If the state is Unknown, it stays so until the next list.
func (p *Phase) Ends() {
	p.known = Absent
	if p.state != Unknown {
		p.state = Absent
	}
}

// ExitReported records that the provider has reported the session's exit. The caller must then call Ends.
func (p *Phase) ExitReported(step uint64) { p.step = step }

// Listed records that the sessions were listed after the latest start or stop.
func (p *Phase) Listed() {
	if p.state == Unknown {
		p.state = p.known
	}
}

// FoundRunning records that a list contains a previously unknown session of the agent.
func (p *Phase) FoundRunning(ready bool) {
	p.known, p.seen = Unready, true
	if ready {
		p.known = Running
	}
	p.state = p.known
}

// Alive reports whether the session is assumed to be running.
func (p *Phase) Alive() bool { return p.known != Absent }

// Ready reports whether the session is assumed to be running and ready.
func (p *Phase) Ready() bool { return p.known == Running }

// Starting reports whether a start or a resume is in flight.
func (p *Phase) Starting() bool { return p.state == Starting || p.state == Resuming }

// Stopping reports whether a stop is in flight.
func (p *Phase) Stopping() bool { return p.state == Stopping }

// InFlight reports whether a start or a stop is in flight.
func (p *Phase) InFlight() bool { return p.Starting() || p.state == Stopping }

// Idle reports whether no session is assumed to be running or starting.
func (p *Phase) Idle() bool { return p.known == Absent && p.state != Starting }

// Canceled reports whether the latest start was canceled.
func (p *Phase) Canceled() bool { return p.canceled }

// Seen reports whether a session was ever seen running.
func (p *Phase) Seen() bool { return p.seen }

// Step returns the step in which the latest start or stop began or ended, or in which the latest exit was reported.
// Lists requested earlier are out of date.
func (p *Phase) Step() uint64 { return p.step }
