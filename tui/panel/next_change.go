package panel

import (
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/tui/widget"
)

// how early a row announces the restart of an idle agent
const soon = time.Minute

// NextChange says what will happen to an agent if no user intervenes.
func (r *AgentRow) NextChange(e *Env) widget.Phrase {
	if r.State == city.Draining {
		return r.drainLeft(e.Now)
	}
	if !r.Until.IsZero() {
		return ChangeIn(r.State, widget.Until(r.Until, e.Now))
	}
	if next := r.idleRestart(e); next.Full != "" {
		return next
	}
	if r.Next == nil || r.Next.At == nil || r.State == city.Running &&
		r.Next.At.Sub(e.Now) > soon {
		return widget.Phrase{}
	}
	full, brief := nextTexts(r.Next, e.Now)
	return widget.Phrase{Full: full, Brief: brief, Least: brief}
}

// ChangeIn says what will happen to an agent when its state ends.
func ChangeIn(s city.State, in string) widget.Phrase {
	switch s {
	case city.Quarantined:
		return timed("retries in ", in)
	case city.Backoff, city.Failed:
		return timed("restarts in ", in)
	case city.Draining, city.Stopping:
		return widget.SamePhrase("kill in " + in)
	case city.Starting:
		return widget.Phrase{Full: "ready within " + in, Brief: "ready within " + in,
			Least: "within " + in}
	}
	return widget.SamePhrase("for another " + in)
}

func timed(what, in string) widget.Phrase {
	return widget.Phrase{Full: what + in, Brief: what + in, Least: "in " + in}
}

func (r *AgentRow) drainLeft(now time.Time) widget.Phrase {
	switch {
	case r.Drain != nil && r.Drain.Acked:
		return widget.Phrase{Full: "reported done; its session is ending", Brief: "has finished"}
	case r.Until.IsZero():
		return widget.SamePhrase("no deadline")
	}
	kill := widget.SamePhrase("kill in " + widget.Until(r.Until, now))
	kill.Full += city.IfStillRunning
	return kill
}

// idleRestart returns text that announces the restart of an idle agent, or none. It ignores short idle times, because
// LastActivity is updated only once per patrol.
func (r *AgentRow) idleRestart(e *Env) (next widget.Phrase) {
	if r.IdleTimeout <= 0 || r.State != city.Running || r.attached() || r.Session == nil ||
		r.Session.LastActivity == nil {
		return next
	}
	last := *r.Session.LastActivity
	quiet, at := e.Now.Sub(last), last.Add(r.IdleTimeout)
	if r.IdleTimeout-quiet > soon || quiet <= e.Snap.Patrol.Interval+CheckSlack ||
		at.Before(e.Now) {
		return next // an overdue restart is held back
	}
	next = timed("restarts in ", widget.Until(at, e.Now))
	next.Full += city.UnlessItPrints
	return next
}

// NextText says what happens next and, if known, when.
func NextText(n *city.Next, now time.Time) string {
	full, _ := nextTexts(n, now)
	return full
}

func nextTexts(n *city.Next, now time.Time) (full, brief string) {
	full, brief = describe.Next(n, func(at time.Time) string {
		return widget.Until(at, now)
	})
	return widget.Plain(full), widget.Plain(brief)
}

// CheckSlack is how late the controller's check of a session may be.
const CheckSlack = 5 * time.Second
