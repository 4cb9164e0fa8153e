package machine

import (
	"cmp"
	"fmt"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/outbox"
	"gcity/controller/tier"
	"gcity/events"
)

// outboxCity implements the view of the city that controller/outbox uses.
type outboxCity struct{ m *Machine }

func (c outboxCity) Running() bool { return c.m.ending == running }
func (c outboxCity) RequestList()  { c.m.lists.request() }

func (c outboxCity) Terminal(name string) (t outbox.Terminal) {
	a := c.m.agents[name]
	if a == nil {
		return t
	}
	t = outbox.Terminal{Session: a.sess.life.Name, Life: a.sess.life.ID,
		Provider: a.sess.life.Provider, Alive: a.phase.Alive(), Output: a.sess.life.Output}
	if !t.Alive && a.act.asking != nil {
		t.Session = a.act.asking.Name
	}
	if a.want != nil {
		t.Prefix = a.want.Spec.Ready.Prefix
	}
	return t
}

func (c outboxCity) Unreachable(name string) string {
	a := c.m.agents[name]
	if _, never := c.WhyNotTyped(name); never || a.phase.Idle() && a.state == city.Failed {
		return noSession(a)
	}
	return ""
}

func noSession(a *record) string {
	return fmt.Sprintf("agent %s has no session: the agent is %s (%s)", a.name, a.state, a.reason)
}

func (c outboxCity) WhyNotTyped(name string) (why string, never bool) {
	a := c.m.agents[name]
	switch {
	case c.m.ending != running:
		return "the city is being stopped", true
	case a == nil:
		return "it was removed", true
	case a.phase.State() == lifecycle.Running:
		return "", false
	case a.unwanted() || a.want.Suspended.On() || a.want.Problem != "":
		return triageStatus(a), true
	case a.phase.State() != lifecycle.Absent:
	case a.restart.staysDown || a.restart.hold == city.Quarantined:
		return triageStatus(a), true
	}
	if a.phase.Starting() || a.state == city.Starting {
		return "the agent is starting and not ready yet", false
	}
	return triageStatus(a), false
}

func (c outboxCity) Record(name string, e events.Event, replies ...effect.Reply) {
	if a := c.m.agents[name]; a != nil {
		c.m.journal.record(a, e, replies...)
		return
	}
	e.Actor, e.Subject = cmp.Or(e.Actor, effect.ActorController), name
	c.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: e, Replies: replies}})
}

// Typed passes the result of a watchdog's message to the watchdog.
func (c outboxCity) Typed(d *outbox.Delivery) {
	c.m.watchdogs.Typed(d.Tier, tier.SentMessage{ID: d.ID, Dropped: d.Stage == city.GivenUp,
		Withdrew: d.Obsolete != "", Why: d.Why})
}
