package machine

import (
	"cmp"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/attention"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/outbox"
	"gcity/controller/pools"
	"gcity/controller/rollout"
	"gcity/controller/tier"
	"gcity/events"
)

func (m *Machine) attentionFacts(a *record) attention.Facts {
	return attention.Facts{Want: a.want, Alive: a.phase.Alive(), Life: &a.sess.life,
		Unknown: a.sess.unknown(), ListedAt: a.sess.seenAt, LastOutput: a.sess.lastOutput,
		Decisions: &a.decisions}
}

type terminalCity struct{ m *Machine }

func (c terminalCity) Running() bool { return c.m.ending == running }
func (c terminalCity) RequestList()  { c.m.lists.request() }

func (c terminalCity) StalledUntil() time.Time { return c.m.stalledUntil }

func (c terminalCity) TaskOf(agent string) (task, gate string) {
	return c.m.work.tasks[agent], c.m.work.gated[agent]
}

func (c terminalCity) Terminal(name string) (t outbox.Terminal) {
	a := c.m.agents[name]
	if a == nil {
		return t
	}
	t = outbox.Terminal{Session: a.sess.life.Name, Life: a.sess.life.ID,
		Provider: a.sess.life.Provider, Alive: a.phase.Alive(), Output: a.sess.life.Output}
	if !t.Alive && a.act.begun != nil {
		t.Session = a.act.begun.Name
	}
	if a.want != nil {
		t.Prefix, t.Dialogs = a.want.Spec.Ready.Prefix, a.want.Spec.Dialogs
	}
	return t
}

func (c terminalCity) Unreachable(name string) string {
	a := c.m.agents[name]
	if _, never := c.WhyNotTyped(name); never || a.phase.Idle() && a.state == city.Failed {
		return noSession(a)
	}
	return ""
}

func noSession(a *record) string {
	return fmt.Sprintf("agent %s has no session: the agent %s (%s)", a.name, a.state.Is(),
		a.reason)
}

func (c terminalCity) WhyNotTyped(name string) (why string, never bool) {
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
	case a.restart.stays() || a.restart.kind == quarantined:
		return triageStatus(a), true
	}
	if a.phase.Starting() || a.state == city.Starting {
		return "the agent is starting and not ready yet", false
	}
	return triageStatus(a), false
}

func (c terminalCity) Record(name string, e events.Event, replies ...effect.Reply) {
	e.Subject = name
	c.m.journal.record(c.m.agents[name], e, replies...)
}

// Typed passes the result of a watchdog's message to the watchdog.
func (c terminalCity) Typed(d *outbox.Delivery) {
	c.m.watchdogs.Typed(d.Tier, tier.SentMessage{ID: d.ID, Dropped: d.Stage == city.GivenUp,
		Withdrew: d.Obsolete != "", Why: d.Why})
}

type poolCity struct{ runsCity }

func (c poolCity) Step() uint64             { return c.m.stepNumber }
func (c poolCity) IsAgent(name string) bool { return c.m.agents[name] != nil }

func (c poolCity) Work() pools.Work {
	wk := &c.m.work
	// without a controller, open work does not change the size of a pool
	return pools.Work{Counted: wk.counted && c.m.observes == nil, CountedStep: wk.countedStep,
		AsOf: wk.asOf, Pools: wk.counts.Pools, Tasks: wk.tasks, Uncounted: wk.uncounted}
}

func (c poolCity) Session(name string) (alive, leaving bool) {
	a := c.m.agents[name]
	if a == nil || !a.phase.Alive() || a.phase.Stopping() {
		return false, false
	}
	d := a.drain.current
	return d == nil || !d.acked, d != nil
}

func (c poolCity) Found(p *pools.Pool) int {
	found := 0
	for _, a := range c.m.order {
		if a.pool == p && a.want != nil && a.belonged() {
			found++
		}
	}
	return found
}

func (a *record) belonged() bool {
	if !a.phase.Alive() {
		return a.sess.exit != nil && !a.sess.life.Drain.On()
	}
	return a.drain.current == nil || a.drain.current.by != byPool
}

func (c poolCity) WantedAgain(name string) {
	if a := c.m.agents[name]; a != nil {
		a.restart.wantedAgain()
	}
}

func (c poolCity) Populate(now time.Time, p *pools.Pool) {
	for _, w := range p.Members {
		if _, known := c.m.agents[w.Name]; !known && p.Has(w.Index) {
			c.m.join(c.m.record(now, w.Name), p, w)
		}
	}
	for _, a := range c.m.order {
		if a.pool == p {
			c.m.decide(now, a)
		}
	}
}

func (c poolCity) Member(name string) (rollout.Member, bool) {
	a := c.m.agents[name]
	switch {
	case a == nil, a.hidden():
		return rollout.Member{}, false
	case a.unwanted():
		return rollout.Member{State: a.state}, false
	}
	m := rollout.Member{State: a.state, Reason: a.reason, Busy: a.phase.InFlight(),
		Starts: a.phase.Starting(), Due: a.act.intent.kind == causeRestart,
		Waits: a.state == city.Waiting && c.m.deps.missing(a) == "" &&
			cmp.Or(a.waitsForCount(), c.m.work.waitsForReturn(a)) != "",
		Proven: a.want.Spec.Ready.Prefix != "" && a.want.Spec.Ready.Delay == 0}
	if a.phase.Alive() {
		m.Life = a.sess.life.ID
	}
	return m, true
}

func (c poolCity) Restart(now time.Time, name string, by city.Peer) (why string) {
	a := c.m.agents[name]
	if why := c.m.commands.noRestart(a); why != "" {
		return why
	}
	c.m.commands.startAgain(now, a, by)
	return ""
}

type tierCity struct{ runsCity }

func (c tierCity) StalledUntil() time.Time { return c.m.stalledUntil }

func (c tierCity) Agent(name string) *tier.Agent {
	m, a := c.m, c.m.agents[name]
	if a == nil {
		return nil
	}
	v := &tier.Agent{
		Name: a.name, State: a.state, Reason: a.reason, TriageOf: a.triageOf(),
		Alive: a.phase.Alive(), Ready: a.phase.Ready(), Starting: a.phase.Starting(),
		Stopping: a.phase.Stopping(), Ending: a.ending(),
		StaysEnded: a.restart.kind == staysFinal,
		Stuck:      a.attention.Stuck != nil, Life: &a.sess.life, LastOutput: a.sess.lastOutput,
		Mail: m.work.mail[a.name].Unread, Task: m.work.tasks[a.name], Gate: m.work.gated[a.name],
		CannotType: m.messages.Blocked(a.sess.life.Provider),
		Request:    a.triage.request, LastBeat: a.triage.lastBeat,
	}
	if a.want != nil {
		v.Declared, v.Suspended, v.Problem = true, a.want.Suspended.String(), a.want.Problem
	}
	if a.restart.kind == quarantined {
		v.QuarantinedUntil = a.restart.until
	}
	return v
}

func (c tierCity) Decide(now time.Time, name string) {
	if a := c.m.agents[name]; a != nil {
		c.m.decide(now, a)
	}
}

func (c tierCity) Start(now time.Time, name, why string) string {
	a := c.m.agents[name]
	a.restart.end()
	a.act.startReason = "started by " + why
	c.m.decide(now, a)
	if !a.phase.Starting() {
		return "not started yet: " + triageStatus(a)
	}
	return "starting"
}

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
	case a.want.Problem != "":
		return "failed: a restart would only stop the agent, because it cannot start: " +
			a.want.Problem
	}
	a.act.intent = cause{kind: causeWatchdog, why: "restarted by " + why}
	c.m.decide(now, a)
	return "restarting"
}

func (c tierCity) Type(now time.Time, name, watchdog, text string) (id uint64, problem string) {
	a, tx := c.m.agents[name], &c.m.messages
	if why, never := (terminalCity{c.m}).WhyNotTyped(name); never {
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

func (c tierCity) MessageReason(name string, id uint64) string {
	if a := c.m.agents[name]; a != nil {
		if d := a.out.Message(id); d != nil {
			return cmp.Or(d.Why, "the terminal is still receiving the nudge")
		}
	}
	return ""
}

func (c tierCity) TakeBack(now time.Time, name string, id uint64, why string) {
	if a := c.m.agents[name]; a != nil {
		if d := a.out.Message(id); d != nil {
			c.m.messages.TakeBack(now, a.out, d, why)
		}
	}
}

func (c tierCity) StartTriage(name string, s *tier.TriageRequest) {
	a := c.m.agents[name]
	a.triage.request, a.triage.startProblem = s, ""
}

func (c tierCity) StopTriage(now time.Time, name, watchdog string) {
	a := c.m.agents[name]
	if a != nil && a.triage.request != nil && a.triage.request.Tier == watchdog {
		a.triage.request = nil
		c.m.decide(now, a)
	}
}

func (c tierCity) Decided(name, beat string, until time.Time) {
	a := c.m.agents[name]
	if a != nil && a.triage.request != nil && a.triage.request.Beat == beat {
		a.triage.request.Judged, a.triage.request.Until = true, until
		a.triage.startProblem = ""
	}
}
