// Package lifecycle tracks the session of one agent. The session is in one named state, and each event that can
// change the state is one method.
package lifecycle

// State is the state of an agent's session.
type State int

// The states. A session that was not ready when the controller found it is Unready.
const (
	Absent   State = iota // no session runs
	Starting              // a start is in flight
	Unready               // a session runs and is not ready
	Resuming              // a session runs, and its provider waits until it is ready
	Running               // a session runs and is ready
	Stopping              // a stop is in flight
	// a start or a stop has failed: the sessions must be listed before the next action
	Unclear
)

// Phase is the state of an agent's session, with the facts that its next state depends on. A method for the
// beginning or end of a start or stop changes nothing in a state in which that cannot occur. The caller must not
// report what a list shows while a start or stop is in flight.
type Phase struct {
	state State
	// Absent, Unready or Running: what is known apart from a start, a stop or a doubt
	known    State
	turn     uint64 // turn in which the newest start or stop began or ended
	canceled bool   // the newest start was canceled
	seen     bool   // a session was seen running
}

// State returns the current state.
func (p *Phase) State() State { return p.state }

// Start notes that a start begins.
func (p *Phase) Start(turn uint64) {
	if p.state == Absent {
		p.state, p.turn, p.canceled = Starting, turn, false
	}
}

// Resume notes that the provider begins to wait until the session is ready.
func (p *Phase) Resume(turn uint64) {
	if p.state == Unready {
		p.state, p.turn, p.canceled = Resuming, turn, false
	}
}

// Cancel notes that the start in flight is canceled. Its result is still awaited.
func (p *Phase) Cancel() bool {
	if !p.Starting() || p.canceled {
		return false
	}
	p.canceled = true
	return true
}

// StartEnds notes that the start in flight has returned. Runs, Doubt or Ends follows.
func (p *Phase) StartEnds(turn uint64) bool {
	if !p.Starting() {
		return false
	}
	p.state, p.turn = p.known, turn
	return true
}

// Stop notes that a stop begins.
func (p *Phase) Stop(turn uint64) {
	if p.state == Unready || p.state == Running {
		p.state, p.turn = Stopping, turn
	}
}

// StopEnds notes that the stop in flight has returned. Ends or Doubt follows.
func (p *Phase) StopEnds(turn uint64) bool {
	if p.state != Stopping {
		return false
	}
	p.state, p.turn = p.known, turn
	return true
}

// Runs notes that the session runs and is ready.
func (p *Phase) Runs() { p.state, p.known, p.seen = Running, Running, true }

// Doubt notes that a start or a stop has failed, so that it is unknown whether a session runs.
func (p *Phase) Doubt() { p.state = Unclear }

// Ends notes that the session has ended. A doubt remains until the sessions are listed.
func (p *Phase) Ends() {
	p.known = Absent
	if p.state != Unclear {
		p.state = Absent
	}
}

// Listed notes that the sessions were listed since the newest start or stop. It ends a doubt.
func (p *Phase) Listed() {
	if p.state == Unclear {
		p.state = p.known
	}
}

// Found notes that a list shows a session that was unknown.
func (p *Phase) Found(ready bool) {
	p.known, p.seen = Unready, true
	if ready {
		p.known = Running
	}
	p.state = p.known
}

// Alive reports whether the session is believed to run.
func (p *Phase) Alive() bool { return p.known != Absent }

// Ready reports whether the session is believed to run and is ready.
func (p *Phase) Ready() bool { return p.known == Running }

// Starting reports whether a start is in flight, or the wait until a found session is ready.
func (p *Phase) Starting() bool { return p.state == Starting || p.state == Resuming }

// Stopping reports whether a stop is in flight.
func (p *Phase) Stopping() bool { return p.state == Stopping }

// InFlight reports whether a start or a stop is in flight.
func (p *Phase) InFlight() bool { return p.Starting() || p.state == Stopping }

// Idle reports whether no session is believed to run, and no start or stop is in flight.
func (p *Phase) Idle() bool { return p.known == Absent && p.state != Starting }

// Canceled reports whether the newest start was canceled.
func (p *Phase) Canceled() bool { return p.canceled }

// Seen reports whether a session was ever seen running.
func (p *Phase) Seen() bool { return p.seen }

// Turn returns the turn in which the newest start or stop began or ended. A list requested earlier is out of date.
func (p *Phase) Turn() uint64 { return p.turn }
