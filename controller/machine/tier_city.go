package machine

import (
	"cmp"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/tier"
	"gcity/events"
)

// tierCity implements the view of the city that controller/tier uses.
type tierCity struct{ runsCity }

func (c tierCity) Listed() bool            { return c.m.lists.listed }
func (c tierCity) StalledUntil() time.Time { return c.m.stalledUntil }

func (c tierCity) Record(e events.Event, replies ...effect.Reply) {
	c.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: e, Replies: replies}})
}

// Agent returns an agent's state for watchdogs, or nil if the agent does not exist.
func (c tierCity) Agent(name string) *tier.Agent {
	m, a := c.m, c.m.agents[name]
	if a == nil {
		return nil
	}
	v := &tier.Agent{
		Name: a.name, State: a.state, Reason: a.reason, TriageOf: a.triageOf(),
		Alive: a.phase.Alive(), Ready: a.phase.Ready(), Starting: a.phase.Starting(),
		Stopping: a.phase.Stopping(), Ending: a.ending(), StaysEnded: a.restart.staysDown &&
			a.restart.final,
		Stuck: a.silence.stuck != nil, Life: &a.sess.life, LastOutput: a.sess.lastOutput,
		Mail: m.work.mail[a.name].Unread, Task: m.work.tasks[a.name], Gate: m.work.gated[a.name],
		CannotType: m.messages.Blocked(a.sess.life.Provider),
		Request:    a.triage.request, LastBeat: a.triage.lastBeat,
	}
	if a.want != nil {
		v.Declared, v.Suspended, v.Problem = true, a.want.Suspended.String(), a.want.Problem
	}
	if a.restart.hold == city.Quarantined {
		v.QuarantinedUntil = a.restart.notBefore
	}
	return v
}

func (c tierCity) Decide(now time.Time, name string) {
	if a := c.m.agents[name]; a != nil {
		c.m.decide(now, a)
	}
}

// Start ends an agent's wait and starts the agent. It returns the result for the watchdog's record.
func (c tierCity) Start(now time.Time, name, why string) string {
	a := c.m.agents[name]
	a.restart.retry()
	a.act.startReason = "started by " + why
	c.m.decide(now, a)
	if !a.phase.Starting() {
		return "not started yet: " + triageStatus(a)
	}
	return "starting"
}

// Replace restarts an agent. It returns the result for the watchdog's record.
func (c tierCity) Replace(now time.Time, name, why string) string {
	a := c.m.agents[name]
	switch {
	case a.phase.InFlight() && a.act.retryStopAt.IsZero():
		return tier.LeftAlone + triageStatus(a)
	case a.phase.InFlight():
		return "not restarted yet: " + triageStatus(a)
	case a.drain.current != nil:
		return tier.LeftAlone + "the agent is draining"
	case c.m.deps.missing(a) != "":
		return "failed: a restart would only stop the agent, " +
			"because it " + c.m.deps.missing(a)
	}
	a.act.intent = cause{kind: causeWatchdog, why: "restarted by " + why}
	c.m.decide(now, a)
	return "restarting"
}

// Type queues a nudge for an agent. It returns the nudge's ID, or the reason why the nudge was rejected.
func (c tierCity) Type(now time.Time, name, watchdog, text string) (id uint64, problem string) {
	a, tx := c.m.agents[name], &c.m.messages
	if why, never := (outboxCity{c.m}).WhyNotTyped(name); never {
		return 0, why
	}
	if why := a.out.WhyFull(len(text)); why != "" {
		return 0, why
	}
	before := tx.Sent
	if tx.Nudge(now, 0, a.out, city.Nudge{Text: text}); tx.Sent == before {
		return 0, "the nudge was rejected"
	}
	d := a.out.Message(tx.Sent)
	d.Tier, d.ForSession = watchdog, a.sess.life.ID
	return d.ID, ""
}

// MessageReason returns the reason why a nudge has not been submitted yet, or "" if it is no longer queued.
func (c tierCity) MessageReason(name string, id uint64) string {
	if a := c.m.agents[name]; a != nil {
		if d := a.out.Message(id); d != nil {
			return cmp.Or(d.Why, "the terminal is still receiving the nudge")
		}
	}
	return ""
}

// TakeBack cancels a queued nudge.
func (c tierCity) TakeBack(now time.Time, name string, id uint64, why string) {
	if a := c.m.agents[name]; a != nil {
		if d := a.out.Message(id); d != nil {
			c.m.messages.TakeBack(now, a.out, d, why)
		}
	}
}

// StartTriage requests a start of a triage agent for one beat.
func (c tierCity) StartTriage(name string, s *tier.TriageRequest) {
	a := c.m.agents[name]
	a.triage.request, a.triage.startProblem = s, ""
}

// StopTriage stops the session of a triage agent that decides for a watchdog.
func (c tierCity) StopTriage(now time.Time, name, watchdog string) {
	a := c.m.agents[name]
	if a != nil && a.triage.request != nil && a.triage.request.Tier == watchdog {
		a.triage.request = nil
		c.m.decide(now, a)
	}
}

// Decided records that a triage agent has made its decision. Its session may run until the given time.
func (c tierCity) Decided(name, beat string, until time.Time) {
	a := c.m.agents[name]
	if a != nil && a.triage.request != nil && a.triage.request.Beat == beat {
		a.triage.request.Judged, a.triage.request.Until = true, until
		a.triage.startProblem = ""
	}
}
