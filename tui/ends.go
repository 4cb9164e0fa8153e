package tui

import (
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// near is how close the end of an idle agent is when its row says so.
const near = time.Minute

// ends says what will happen to an agent by itself.
func (r *agentRow) ends(e *env) widget.Phrase {
	if r.state == city.Draining {
		return r.drains(e.now)
	}
	if !r.until.IsZero() {
		in := widget.Remaining(r.until.Sub(e.now))
		switch r.state {
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
	if r.next == nil || r.next.At == nil || r.state == city.Running && r.next.At.Sub(e.now) > near {
		return widget.Phrase{}
	}
	return widget.Same(nextText(r.next, e.now))
}

// drains says how long an agent that has been told to finish has.
func (r *agentRow) drains(now time.Time) widget.Phrase {
	switch {
	case r.drain != nil && r.drain.Acked:
		return widget.Phrase{Full: "has finished, its session ends", Brief: "has finished"}
	case r.until.IsZero():
		return widget.Same("waits without end")
	}
	in := "killed in " + widget.Remaining(r.until.Sub(now))
	return widget.Phrase{Full: in + " if it does not answer", Brief: in}
}

// idles says when an agent is restarted because nothing goes on in it, once that is near. What the city last saw of it
// may be as old as a patrol: an agent that has been quiet for no longer than that may have spoken since.
func (r *agentRow) idles(e *env) string {
	if r.idle <= 0 || r.state != city.Running || r.attached() || r.session == nil ||
		r.session.LastActivity == nil {
		return ""
	}
	quiet := e.now.Sub(*r.session.LastActivity)
	rest := r.idle - quiet
	if rest > near || quiet <= e.snap.Patrol.Interval+slack {
		return ""
	}
	return "idle: restarted in " + widget.Remaining(rest)
}

// nextText says what happens next, and when where that is known; "" if nothing does.
func nextText(n *city.Next, now time.Time) string {
	switch {
	case n == nil || n.What == "":
		return ""
	case n.At == nil:
		return widget.Plain(n.What)
	}
	return "in " + widget.Remaining(n.At.Sub(now)) + ": " + widget.Plain(n.What)
}
