package tui

import (
	"time"

	"gcity/city"
)

// near is how close the end of an idle agent is when its row says so.
const near = time.Minute

// ends says what will happen to an agent by itself.
func (m *model) ends(r *agentRow) outlook {
	if r.state == city.Draining {
		return m.drains(r)
	}
	if !r.until.IsZero() {
		in := left(r.until.Sub(m.now))
		switch r.state {
		case city.Quarantined:
			return same("free in " + in)
		case city.Backoff, city.Failed:
			return same("again in " + in)
		case city.Stopping:
			return same("killed in " + in)
		case city.Starting:
			return same("ready within " + in)
		}
		return same("until then " + in)
	}
	if text := m.idles(r); text != "" {
		return same(text)
	}
	if r.next == nil || r.next.At == nil || r.state == city.Running && r.next.At.Sub(m.now) > near {
		return outlook{}
	}
	return same(m.nextText(r.next))
}

// drains says how long an agent that has been told to finish has.
func (m *model) drains(r *agentRow) outlook {
	switch {
	case r.drain != nil && r.drain.Acked:
		return outlook{"has finished, its session ends", "has finished"}
	case r.until.IsZero():
		return same("waits without end")
	}
	in := "killed in " + left(r.until.Sub(m.now))
	return outlook{in + " if it does not answer", in}
}

// idles says when an agent is restarted because nothing goes on in it, once that is near. What the city last saw of it
// may be as old as a patrol: an agent that has been quiet for no longer than that may have spoken since.
func (m *model) idles(r *agentRow) string {
	if r.idle <= 0 || r.state != city.Running || r.attached() || r.session == nil || r.session.LastActivity == nil {
		return ""
	}
	quiet := m.now.Sub(*r.session.LastActivity)
	rest := r.idle - quiet
	if rest > near || quiet <= m.snap.Patrol.Interval+slack {
		return ""
	}
	return "idle: restarted in " + left(rest)
}

// nextText says what happens next, and when where that is known; "" if nothing does.
func (m *model) nextText(n *city.Next) string {
	switch {
	case n == nil || n.What == "":
		return ""
	case n.At == nil:
		return plain(n.What)
	}
	return "in " + left(n.At.Sub(m.now)) + ": " + plain(n.What)
}
