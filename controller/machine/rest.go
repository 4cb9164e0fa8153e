package machine

import (
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/restart"
)

// rest is the history of an agent's exits, and the wait before its next start.
type rest struct {
	history           restart.History
	kept              *effect.Memo // the last saved history; nil = not saved
	notBefore         time.Time    // earliest time of the next start
	hold              city.State
	holdWhy           string
	quarantineCrashes int // number of crashes that led to the current quarantine
	missing           effect.MissingMemo
	staysDown         bool // it exited, and its policy does not restart it
	final             bool // the user asked for no restart
	restarts          int
	// since the last start it exited on its own, or was stopped for its silence
	diedOnItsOwn bool
}

// wait makes the agent wait in this state until a time.
func (r *rest) wait(s city.State, why string, until time.Time) {
	r.hold, r.holdWhy, r.notBefore = s, why, until
}

// stay keeps the agent stopped.
func (r *rest) stay(why string) {
	r.staysDown, r.hold, r.holdWhy = true, city.Exited, why
}

// stayFinal keeps the agent stopped until a user restarts it.
func (r *rest) stayFinal(why string) {
	r.stay(why + "; the user requested no restart")
	r.final, r.notBefore = true, time.Time{}
}

// endWait ends the wait before the next start.
func (r *rest) endWait() { r.wait("", "", time.Time{}) }

// retry lets the agent start now.
func (r *rest) retry() {
	r.endWait()
	r.staysDown = false
}

// stopped clears what earlier exits led to, because gcity stopped the agent.
func (r *rest) stopped() {
	r.retry()
	r.final = false
}

// wantedAgain lets a drained member start, because its pool wants it again.
func (r *rest) wantedAgain() {
	if r.staysDown {
		r.staysDown, r.final, r.hold, r.holdWhy = false, false, "", ""
	}
}

// forgive clears crashes and waits.
func (r *rest) forgive() {
	r.stopped()
	r.history, r.missing = restart.History{}, effect.MissingMemo{}
}

// started notes that the agent runs. fresh reports that its session is new.
func (r *rest) started(fresh bool) {
	r.staysDown, r.final, r.missing = false, false, effect.MissingMemo{}
	if fresh && r.diedOnItsOwn {
		r.restarts++
	}
	r.diedOnItsOwn = r.diedOnItsOwn && !fresh
}

// counts reports whether the agent waits, or has crashes within the window.
func (r *rest) counts(now time.Time, window time.Duration) bool {
	return now.Before(r.notBefore) || r.history.Within(now, window) > 0
}

// crashes returns the number of crashes that count: those within the window, or those that led to the quarantine.
func (r *rest) crashes(now time.Time, window time.Duration) int {
	if r.pause() == city.Quarantined {
		return r.quarantineCrashes
	}
	return r.history.Within(now, window)
}

// pause returns the state of an agent that waits for a time to start: backoff, failed or quarantined. "" = no wait.
func (r *rest) pause() city.State {
	if r.staysDown || r.notBefore.IsZero() {
		return ""
	}
	return r.hold
}
