package panel

import (
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// soon is how long before an idle agent restarts its row announces the restart.
const soon = time.Minute

// NextChange describes what will happen to an agent if no user intervenes.
func (r *AgentRow) NextChange(e *Env) widget.Phrase {
	if r.State == city.Draining {
		return r.drainLeft(e.Now)
	}
	if !r.Until.IsZero() {
		in := widget.Remaining(r.Until.Sub(e.Now))
		switch r.State {
		case city.Quarantined:
			return widget.SamePhrase("retries in " + in)
		case city.Backoff, city.Failed:
			return widget.SamePhrase("restarts in " + in)
		case city.Stopping:
			return widget.SamePhrase("kill in " + in)
		case city.Starting:
			return widget.SamePhrase("ready within " + in)
		}
		return widget.SamePhrase("for another " + in)
	}
	if text := r.idleRestart(e); text != "" {
		return widget.SamePhrase(text)
	}
	if r.next == nil || r.next.At == nil || r.State == city.Running &&
		r.next.At.Sub(e.Now) > soon {
		return widget.Phrase{}
	}
	return widget.SamePhrase(NextText(r.next, e.Now))
}

// drainLeft describes how much time a draining agent has left.
func (r *AgentRow) drainLeft(now time.Time) widget.Phrase {
	switch {
	case r.drain != nil && r.drain.Acked:
		return widget.Phrase{Full: "reported done; its session is ending", Brief: "has finished"}
	case r.Until.IsZero():
		return widget.SamePhrase("no deadline")
	}
	in := "kill in " + widget.Remaining(r.Until.Sub(now))
	return widget.Phrase{Full: in + " if still running", Brief: in}
}

// idleRestart describes when an idle agent restarts, if that is soon. The known last activity may be one patrol old, so
// shorter idle times are not reported.
func (r *AgentRow) idleRestart(e *Env) string {
	if r.idle <= 0 || r.State != city.Running || r.attached() || r.Session == nil ||
		r.Session.LastActivity == nil {
		return ""
	}
	quiet := e.Now.Sub(*r.Session.LastActivity)
	rest := r.idle - quiet
	if rest > soon || quiet <= e.Snap.Patrol.Interval+CheckSlack {
		return ""
	}
	return "idle; restarts in " + widget.Remaining(rest)
}

// NextText describes what happens next, with its time if that is known, or returns "".
func NextText(n *city.Next, now time.Time) string {
	switch {
	case n == nil || n.What == "":
		return ""
	case n.At == nil:
		return widget.Plain(n.What)
	}
	return "in " + widget.Remaining(n.At.Sub(now)) + ": " + widget.Plain(n.What)
}

// CheckSlack is how much longer than the patrol's interval a session check may take.
const CheckSlack = 5 * time.Second
