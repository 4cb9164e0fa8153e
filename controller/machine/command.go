package machine

import (
	"cmp"
	"fmt"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/suggest"
)

type commands struct{ m *Machine }

func (cs *commands) takeFrom(now time.Time, in effect.Command) {
	cs.m.step.TakeFrom(in.ID, in.Peer)
	cs.take(now, in.ID, in.Cmd)
	cs.m.step.Taken()
}

// unless take rejects the command, the reply follows when the action is complete (see waiter)
func (cs *commands) take(now time.Time, id uint64, cmd city.Command) {
	if cs.m.ending != running {
		if c, ok := cmd.(city.Shutdown); ok && !c.Leave {
			cs.m.cityStop.leaving = append(cs.m.cityStop.leaving, effect.Reply{ID: id})
			cs.m.cityStop.hurryUp(now)
			return
		}
		cs.m.step.Reject(id, city.Unavailable, "the city is being stopped")
		return
	}
	if cs.m.loader.rejectWhileHeld(id, cmd) {
		return
	}
	switch c := cmd.(type) {
	case city.Reload:
		cs.m.loader.askedFor(id, c)
	case city.Emit:
		cs.emit(id, c.Event)
	case city.Shutdown:
		cs.m.cityStop.leaving = append(cs.m.cityStop.leaving, effect.Reply{ID: id})
		cs.m.shutdown(now, c.Leave)
	case city.Suspend:
		cs.suspend(id, c.Agent, true)
	case city.Resume:
		cs.suspend(id, c.Agent, false)
	case city.Stop:
		cs.suspend(id, c.Agent, true)
	case city.SuspendRig:
		cs.m.loader.suspendGroup(effect.Edit{Rig: c.Rig, On: true, ID: id})
	case city.ResumeRig:
		cs.m.loader.suspendGroup(effect.Edit{Rig: c.Rig, ID: id})
	case city.Scale:
		cs.m.pools.Scale(id, c)
	case city.RestartPool:
		cs.m.pools.Restart(now, id, c)
	case city.CheckPool:
		cs.m.pools.CheckNow(now, id, c.Pool)
	case city.Fire:
		cs.m.runs.Fire(now, id, c)
	case city.EndRun:
		cs.m.runs.Cancel(now, id, c)
	case city.Beat:
		cs.m.watchdogs.BeatNow(id, c)
	case city.Decide:
		cs.m.watchdogs.Decide(now, id, c)
	case city.Acknowledge:
		cs.m.watchdogs.Acknowledge(id, c)
	case city.CreateBead, city.UpdateBead, city.SlingWork:
		cs.m.work.change(id, cmd)
	default:
		cs.agentCommand(now, id, cmd)
	}
}

func (cs *commands) agentCommand(now time.Time, id uint64, cmd city.Command) {
	a, ok := cs.find(id, cmd.Target())
	if !ok {
		return
	}
	switch c := cmd.(type) {
	case city.Restart:
		cs.restart(now, id, a)
	case city.Kill:
		cs.kill(now, id, a, c.Force)
	case city.Drain:
		cs.m.drains.command(now, id, a, c)
	case city.Undrain:
		cs.m.drains.undoCommand(now, id, a)
	case city.DrainAck:
		cs.m.drains.ack(now, id, a)
	case city.Release:
		cs.release(now, id, a)
	case city.RequestRestart:
		cs.requestRestart(now, id, a)
	case city.Nudge:
		cs.m.messages.Nudge(now, id, a.out, c)
	case city.Unsend:
		cs.m.messages.Unsend(now, id, a.out, c)
	default:
		cs.typeInto(id, a, cmd)
	}
}

func (cs *commands) find(id uint64, name string) (*record, bool) {
	if a, ok := cs.m.agents[name]; ok && !a.hidden() {
		return a, true
	}
	if p := cs.m.pools.Get(name); p != nil && p.Want.Max != 1 {
		why := fmt.Sprintf("%s is a pool; name one of its members, %s to %s", name,
			p.Want.Member(1), p.Want.Member(p.Want.Max))
		if p.Want.Max == 0 {
			why = name + " is a pool, and it is off (max = 0); set a larger max to use it"
		}
		cs.m.step.Reject(id, city.Invalid, "%s", why)
		return nil, false
	}
	for _, p := range cs.m.pools.All() {
		if i := p.Want.Index(name); i > 0 {
			cs.m.step.Reject(id, city.NotFound, "%v", suggest.NoSuch(suggest.Agent, name).Then(
				fmt.Sprintf("its pool %s wants %d of at most %d members", p.Name(), p.Desired,
					p.Want.Max)))
			return nil, false
		}
	}
	names := make([]string, 0, len(cs.m.order))
	for _, a := range cs.m.order {
		if !a.hidden() {
			names = append(names, a.name)
		}
	}
	cs.m.step.Reject(id, city.NotFound, "%v", suggest.NotFound(suggest.Agent, name, names))
	return nil, false
}

func (cs *commands) restart(now time.Time, id uint64, a *record) {
	if why := cs.noRestart(a); why != "" {
		cs.m.step.Reject(id, city.Conflict, "%s", why)
		return
	}
	a.waiters = append(a.waiters, waiter{id, "restart"})
	cs.startAgain(now, a, cs.m.step.Caller())
}

func (cs *commands) noRestart(a *record) string {
	switch {
	case a.want == nil:
		return "agent " + a.name + " was removed from the configuration and is being stopped"
	case a.surplus():
		return fmt.Sprintf("%s, so %s cannot restart; scale the pool up first", a.surplusReason(),
			a.name)
	case a.want.Suspended.On():
		return fmt.Sprintf("agent %s is %s; run `%s` first", a.name, a.want.Suspended,
			a.want.Suspended.ResumeCommand(a.want.Declared))
	case a.isTriage():
		return fmt.Sprintf("agent %s is the triage agent of watchdog %s and starts only for its "+
			"checks; `gcity watchdog triage %s` starts a check", a.name, a.want.TriageOf,
			a.want.TriageOf)
	}
	if !a.phase.Alive() || a.phase.InFlight() {
		return "" // skip the slow check below, because every snapshot calls this for every agent
	}
	if why := cs.m.deps.missing(a); why != "" {
		return fmt.Sprintf("a restart would only stop agent %s, because it %s; start that "+
			"dependency first, or kill the agent", a.name, why)
	}
	if a.want.Problem != "" {
		return a.onlyStops(a.want.Problem)
	}
	return ""
}

func (a *record) onlyStops(why string) string {
	return fmt.Sprintf("a restart would only stop agent %s, because it cannot start: %s; "+
		"correct that first, or kill the agent", a.name, why)
}

func (cs *commands) startAgain(now time.Time, a *record, by city.Peer) {
	if a.phase.Idle() {
		a.forgive("started by " + by.Name())
	}
	a.act.intent = cause{kind: causeRestart, why: "restarted by " + by.Name(), by: by}
	if a.phase.Starting() {
		a.act.startReason = a.act.intent.why
	}
	a.act.startCheck.At = time.Time{}
	cs.m.decide(now, a)
}

func (cs *commands) kill(now time.Time, id uint64, a *record, force bool) {
	if a.phase.Idle() {
		cs.m.step.Reject(id, city.Conflict, "agent %s has no session to kill: the "+
			"agent %s (%s)", a.name, a.state.Is(), a.reason)
		return
	}
	a.waiters = append(a.waiters, waiter{id, "kill"})
	by := cs.m.step.Caller()
	killed := cause{kind: causeKill, why: "killed by " + by.Name(), by: by, force: force}
	if a.phase.Stopping() {
		if a.act.stopping.kind == causeRestart {
			a.act.stopping = killed
		}
		a.act.stopping.force = a.act.stopping.force || force
		cs.m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name, Force: force})
		return
	}
	a.act.intent = killed
	cs.m.decide(now, a)
}

func (a *record) startsAfterKill() bool {
	return a.want != nil && !a.unwanted() && !a.want.Suspended.On() && a.want.Problem == "" &&
		!a.isTriage()
}

func (cs *commands) release(now time.Time, id uint64, a *record) {
	if a.want == nil || a.restart.kind == noHold {
		cs.m.step.Reject(id, city.Conflict, "agent %s %s; only agents in "+
			"quarantine or in backoff can be released", a.name, a.state.Is())
		return
	}
	held, by := a.restart.state(), cs.m.step.Caller().Name()
	a.forgive("released by " + by)
	cs.m.decided(now, a, "release", "by "+by+"; the agent "+held.Was())
	cs.m.journal.record(a, events.Event{Type: events.AgentReleased, Actor: by,
		Message: held.Was()})
	a.waiters = append(a.waiters, waiter{id, "restart"})
	cs.m.decide(now, a)
}

func (cs *commands) requestRestart(now time.Time, id uint64, a *record) {
	switch why := cs.noRestart(a); {
	case a.phase.State() == lifecycle.Starting:
		cs.m.step.Reject(id, city.Conflict, "agent %s is starting and cannot be restarted yet",
			a.name)
	case a.phase.Stopping() && (why != "" || a.act.stopping.kind == causeDrained):
		cs.m.step.Reject(id, city.Conflict, "agent %s is being stopped: %s", a.name,
			a.act.stopping.why)
	case !a.phase.Alive() || a.want == nil && a.drain.current == nil:
		cs.m.step.Reject(id, city.Conflict, "agent %s has no session to restart", a.name)
	case a.drain.current != nil: // the drain decides whether the agent starts again
		cs.m.drains.ack(now, id, a)
	case a.want.Problem != "":
		cs.m.step.Reject(id, city.Conflict, "%s", a.onlyStops(a.want.Problem))
	case a.want.Suspended.On(): // it waits for its dependents to stop
		cs.m.step.Reject(id, city.Conflict, "%s", why)
	case a.phase.Stopping():
		cs.m.step.Reply(id, "agent %s is restarting", a.name)
	default:
		a.waiters = append(a.waiters, waiter{id, "request"})
		if a.act.intent.kind == causeNone { // a pool's restart waits for the stop that it requested
			by := cs.m.step.Caller()
			by.Actor = cmp.Or(by.Actor, a.name)
			a.act.intent = cause{kind: causeRequest, why: "restart requested", by: by}
			a.act.startCheck.At = time.Time{}
		}
		cs.m.decide(now, a)
	}
}

func (cs *commands) suspend(id uint64, name string, on bool) {
	if p := cs.m.pools.Get(name); p != nil && (p.Want.Max != 1 || cs.m.agents[name] == nil ||
		cs.m.agents[name].hidden()) {
		cs.m.loader.suspendGroup(effect.Edit{Agent: name, On: on, ID: id})
		return
	}
	if name != "" {
		a, ok := cs.find(id, name)
		if !ok {
			return
		}
		if a.want == nil {
			cs.m.step.Reject(id, city.Conflict, "agent %s was removed from the configuration",
				a.name)
			return
		}
		if a.want.Pool != "" && a.want.Declared != a.name {
			cs.m.step.Reject(id, city.Conflict,
				"agent %s is a member of pool %s and cannot be suspended on its own; "+
					"%s the pool, or scale it", a.name, a.want.Declared, step.VerbFor(on))
			return
		}
		switch still := a.want.Suspended; {
		case on:
		case still.On() && still.Level != agent.AgentLevel:
			cs.m.step.Reject(id, city.Conflict, "agent %s is %s; run `%s` instead", a.name, still,
				still.ResumeCommand(a.name))
			return
		case !still.On() && !cs.m.loader.editing(name, ""):
			cs.m.step.Reply(id, "agent %s is not suspended", a.name)
			return
		}
		a.waiters = append(a.waiters, waiter{id, step.VerbFor(on)})
	} else if !on && !cs.m.conf.Suspended && !cs.m.loader.editing("", "") {
		cs.m.step.Reply(id, "the city is not suspended")
		return
	}
	cs.m.loader.edit(effect.Edit{Agent: name, On: on, ID: id})
}

func (cs *commands) typeInto(id uint64, a *record, cmd city.Command) {
	if !a.hasSession() {
		cs.m.step.Reject(id, city.Conflict, "%s", noSession(a))
		return
	}
	cs.m.messages.Type(id, a.out, cmd)
}

func (cs *commands) emit(id uint64, e events.Event) {
	cs.m.step.Do(effect.Emit{ID: id, Event: e})
	if city.ChangesWork(e.Type) { // by a client
		cs.m.work.count()
	}
}

func (cs *commands) rejectAll(ws []waiter, code city.Code, format string, args ...any) {
	for _, w := range ws {
		cs.m.step.Reject(w.id, code, format, args...)
	}
}

func (cs *commands) reject(a *record, code city.Code, format string, args ...any) {
	cs.rejectAll(a.waiters, code, format, args...)
	a.waiters = nil
	cs.m.messages.Reject(a.out, code, fmt.Sprintf(format, args...))
}

func (cs *commands) resolve(a *record, msg string, verbs ...string) {
	for _, w := range a.take(verbs...) {
		cs.m.step.Reply(w.id, "%s", msg)
	}
}

func (cs *commands) repliesFor(a *record, msg string, verbs ...string) []effect.Reply {
	var out []effect.Reply
	for _, w := range a.take(verbs...) {
		out = append(out, effect.Reply{ID: w.id, Receipt: city.Receipt{Message: msg}})
	}
	return out
}
