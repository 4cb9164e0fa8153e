package panel

import (
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// near is how long before an idle restart the row announces the restart.
const near = time.Minute

// Ends returns what will happen to an agent if no user intervenes.
func (r *AgentRow) Ends(e *Env) widget.Phrase {
	if r.State == city.Draining {
		return r.drains(e.Now)
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
	if text := r.idles(e); text != "" {
		return widget.SamePhrase(text)
	}
	if r.next == nil || r.next.At == nil || r.State == city.Running && r.next.At.Sub(e.Now) > near {
		return widget.Phrase{}
	}
	return widget.SamePhrase(NextText(r.next, e.Now))
}

// drains returns the time that a draining agent has left.
func (r *AgentRow) drains(now time.Time) widget.Phrase {
	switch {
	case r.drain != nil && r.drain.Acked:
		return widget.Phrase{Full: "reported done; its session is ending", Brief: "has finished"}
	case r.Until.IsZero():
		return widget.SamePhrase("no deadline")
	}
	in := "kill in " + widget.Remaining(r.Until.Sub(now))
	return widget.Phrase{Full: in + " if still running", Brief: in}
}

// idles returns when an idle agent restarts, if that is soon. The known last activity may be one patrol old, so
// shorter idle times are not reported.
func (r *AgentRow) idles(e *Env) string {
	if r.idle <= 0 || r.State != city.Running || r.attached() || r.Session == nil ||
		r.Session.LastActivity == nil {
		return ""
	}
	quiet := e.Now.Sub(*r.Session.LastActivity)
	rest := r.idle - quiet
	if rest > near || quiet <= e.Snap.Patrol.Interval+Slack {
		return ""
	}
	return "idle; restarts in " + widget.Remaining(rest)
}

// NextText returns what happens next, with its time if known, or "".
func NextText(n *city.Next, now time.Time) string {
	switch {
	case n == nil || n.What == "":
		return ""
	case n.At == nil:
		return widget.Plain(n.What)
	}
	return "in " + widget.Remaining(n.At.Sub(now)) + ": " + widget.Plain(n.What)
}

// Slack is how much longer than the patrol's interval a check of the sessions may take.
const Slack = 5 * time.Second
