package panel

import (
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// near is how close the end of an idle agent is when its row says so.
const near = time.Minute

// Ends says what will happen to an agent by itself.
func (r *AgentRow) Ends(e *Env) widget.Phrase {
	if r.State == city.Draining {
		return r.drains(e.Now)
	}
	if !r.Until.IsZero() {
		in := widget.Remaining(r.Until.Sub(e.Now))
		switch r.State {
		case city.Quarantined:
			return widget.Same("free in " + in)
		case city.Backoff, city.Failed:
			return widget.Same("again in " + in)
		case city.Stopping:
			return widget.Same("killed in " + in)
		case city.Starting:
			return widget.Same("ready within " + in)
		}
		return widget.Same("until then " + in)
	}
	if text := r.idles(e); text != "" {
		return widget.Same(text)
	}
	if r.next == nil || r.next.At == nil || r.State == city.Running && r.next.At.Sub(e.Now) > near {
		return widget.Phrase{}
	}
	return widget.Same(NextText(r.next, e.Now))
}

// drains says how long an agent that has been told to finish has.
func (r *AgentRow) drains(now time.Time) widget.Phrase {
	switch {
	case r.drain != nil && r.drain.Acked:
		return widget.Phrase{Full: "has finished, its session ends", Brief: "has finished"}
	case r.Until.IsZero():
		return widget.Same("waits without end")
	}
	in := "killed in " + widget.Remaining(r.Until.Sub(now))
	return widget.Phrase{Full: in + " if it does not answer", Brief: in}
}

// idles says when an agent is restarted because nothing goes on in it, once that is near. What the city last saw of it
// may be as old as a patrol: an agent that has been quiet for no longer than that may have spoken since.
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
	return "idle: restarted in " + widget.Remaining(rest)
}

// NextText says what happens next, and when where that is known; "" if nothing does.
func NextText(n *city.Next, now time.Time) string {
	switch {
	case n == nil || n.What == "":
		return ""
	case n.At == nil:
		return widget.Plain(n.What)
	}
	return "in " + widget.Remaining(n.At.Sub(now)) + ": " + widget.Plain(n.What)
}

// Slack is what a look at the sessions may take beyond the patrol's interval.
const Slack = 5 * time.Second
