package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// commandFrom takes a command, and notes where it came from.
func (m *Machine) commandFrom(now time.Time, in effect.Command) {
	if in.Peer.Remote {
		m.step.TakeFrom(in.ID, in.Peer.From)
	}
	m.command(now, in.ID, in.Cmd)
	m.step.Taken()
}

// command takes a wish. It is answered when it is done (see waiter), or refused at once with what to do instead.
func (m *Machine) command(now time.Time, id uint64, cmd city.Command) {
	if m.ending != alive {
		if c, ok := cmd.(city.Shutdown); ok && !c.Leave {
			m.finale.leaving = append(m.finale.leaving, effect.Answer{ID: id})
			m.finale.hurryUp(now) // who asks twice is in haste
			return
		}
		m.step.Refuse(id, city.Unavailable, "the city is being stopped")
		return
	}
	if m.loader.barred(id, cmd) {
		return
	}
	switch c := cmd.(type) {
	case city.Reload:
		m.loader.askedFor(id, c)
	case city.Emit:
		m.emit(id, c.Event)
	case city.Shutdown:
		m.finale.leaving = append(m.finale.leaving, effect.Answer{ID: id})
		m.shutdown(now, c.Leave)
	case city.Suspend:
		m.suspend(id, c.Agent, true)
	case city.Resume:
		m.suspend(id, c.Agent, false)
	case city.Stop:
		m.suspend(id, c.Agent, true)
	case city.SuspendRig:
		m.loader.suspendRig(id, c.Rig, true)
	case city.ResumeRig:
		m.loader.suspendRig(id, c.Rig, false)
	case city.Scale:
		m.sizes.scale(id, c)
	case city.Fire:
		m.runs.Fire(now, id, c)
	case city.EndRun:
		m.runs.Cancel(now, id, c)
	case city.Beat:
		m.watchdogs.BeatNow(id, c)
	case city.Decide:
		m.watchdogs.Decide(now, id, c)
	case city.Acknowledge:
		m.watchdogs.Acknowledge(id, c)
	case city.CreateBead, city.UpdateBead, city.SlingWork:
		m.work.change(id, cmd)
	default:
		m.agentCommand(now, id, cmd)
	}
}

func (m *Machine) agentCommand(now time.Time, id uint64, cmd city.Command) {
	a, ok := m.find(id, cmd.Target())
	if !ok {
		return
	}
	switch c := cmd.(type) {
	case city.Restart:
		m.restart(now, id, a)
	case city.Kill:
		m.kill(now, id, a)
	case city.Drain:
		m.drainCommand(now, id, a, c.Final)
	case city.Undrain:
		m.undrainCommand(now, id, a)
	case city.DrainAck:
		m.ack(now, id, a)
	case city.Release:
		m.releaseAgent(now, id, a)
	case city.RequestRestart:
		m.request(now, id, a)
	case city.Nudge:
		m.texts.nudge(now, id, a, c)
	case city.Unsend:
		m.texts.unsend(now, id, a, c)
	default:
		m.typeInto(id, a, cmd)
	}
}

// find answers a command about an agent that nobody declares.
func (m *Machine) find(id uint64, name string) (*record, bool) {
	if a, ok := m.agents[name]; ok && !a.gone() {
		return a, true
	}
	if p := m.sizes.pools[name]; p != nil && p.want.Max != 1 {
		m.step.Refuse(id, city.Invalid, fmt.Sprintf("%s is a pool: name one of its "+
			"members, %s to %s",
			name, p.want.Member(1), p.want.Member(p.want.Max)))
		return nil, false
	}
	for _, p := range m.sizes.poolOrder {
		if i := p.want.Index(name); i > 0 {
			m.step.Refuse(id, city.NotFound, fmt.Sprintf("agent %s does not run: pool %s wants %d "+
				"of at most %d members", name, p.name(), p.desired, p.want.Max))
			return nil, false
		}
	}
	names := make([]string, 0, len(m.order))
	for _, a := range m.order {
		if !a.gone() {
			names = append(names, a.name)
		}
	}
	m.step.Refuse(id, city.NotFound, suggest.NotFound("agent", name, names))
	return nil, false
}

func (m *Machine) restart(now time.Time, id uint64, a *record) {
	if a.want == nil {
		m.step.Refuse(id, city.Conflict, "agent "+a.name+" is not declared any more and is "+
			"being stopped")
		return
	}
	if a.surplus() {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("%s, so %s is not started again: scale "+
			"it up first", a.surplusReason(), a.name))
		return
	}
	if a.want.Suspended != "" {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s is suspended %s: resume it first",
			a.name, a.want.Suspended))
		return
	}
	if a.called() {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s is the triage of watchdog "+
			"%s, and is "+
			"started by its beats alone: `gcity watchdog triage %s` has one begin", a.name,
			a.want.TriageOf, a.want.TriageOf))
		return
	}
	if why := m.deps.missing(a); why != "" && a.sess.alive && a.act.op == opNone {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s runs, and a restart would only end "+
			"it: it %s; see to that first, or kill it", a.name, why))
		return
	}
	a.waiters = append(a.waiters, waiter{id, "restart"})
	if !a.sess.alive && a.act.op == opNone {
		a.forgive("started by operator")
	}
	a.act.intent = cause{kind: causeRestart, why: "restarted by operator"} // a start fulfils it too
	m.decide(now, a)
}

func (m *Machine) kill(now time.Time, id uint64, a *record) {
	if !a.sess.alive && a.act.op == opNone {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s has no session to kill: "+
			"it is %s (%s)",
			a.name, a.state, a.reason))
		return
	}
	a.waiters = append(a.waiters, waiter{id, "kill"})
	if a.act.op == opStop {
		if a.act.stopping.kind == causeRestart {
			a.act.stopping = cause{kind: causeKill, why: "killed by operator"}
		}
		m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name})
		return
	}
	a.act.intent = cause{kind: causeKill, why: "killed by operator"}
	m.decide(now, a)
}

func (m *Machine) releaseAgent(now time.Time, id uint64, a *record) {
	if a.want == nil || a.rest.notBefore.IsZero() && !a.rest.left {
		m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s is %s: there is nothing to "+
			"release it from", a.name, a.state))
		return
	}
	held := a.rest.hold
	a.forgive("released by operator")
	m.decided(now, a, "release", "by operator, from "+string(held))
	m.journal.tell(a, events.Event{Type: events.AgentReleased, Actor: effect.ActorOperator,
		Message: "from " + string(held)},
		effect.Answer{ID: id, Receipt: city.Receipt{Message: "agent " + a.name +
			" is released and starts"}})
	m.decide(now, a)
}

func (m *Machine) request(now time.Time, id uint64, a *record) {
	if !a.sess.alive || a.want == nil {
		m.step.Refuse(id, city.Conflict, "agent "+a.name+" has no session to restart")
		return
	}
	if a.act.op == opNone {
		a.act.intent = cause{kind: causeRequest, why: "restart requested by agent"}
	}
	m.step.Reply(id, "agent "+a.name+" will be restarted")
	m.decide(now, a)
}

// suspend orders the flag to be written; agent "" is the city.
func (m *Machine) suspend(id uint64, name string, on bool) {
	if p := m.sizes.pools[name]; p != nil && (p.want.Max != 1 || m.agents[name] == nil ||
		m.agents[name].gone()) {
		m.loader.suspendPool(id, p, on)
		return
	}
	if name != "" {
		a, ok := m.find(id, name)
		if !ok {
			return
		}
		if a.want == nil {
			m.step.Refuse(id, city.Conflict, "agent "+a.name+" is not declared any more")
			return
		}
		if a.want.Pool != "" && a.want.Declared != a.name {
			m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s is a member of pool %s and has "+
				"no flag of its own: %s the pool, or scale it", a.name, a.want.Declared,
				verbFor(on)))
			return
		}
		a.waiters = append(a.waiters, waiter{id, verbFor(on)})
		if still := a.want.Suspended; !on && still != "" && still != byAgent {
			a.waiters = a.waiters[:len(a.waiters)-1]
			m.step.Refuse(id, city.Conflict, fmt.Sprintf("agent %s has no flag of its own: it is "+
				"suspended %s; resume that", a.name, still))
			return
		}
		if !on && a.want.Suspended == "" && !m.loader.editing(name) {
			m.resolve(a, "agent "+a.name+" is not suspended", "resume")
			return
		}
	}
	m.loader.edit(effect.Edit{Agent: name, On: on, ID: id})
}

// typeInto queues what is pressed, interrupted or cleared: one at a time per agent, in order.
func (m *Machine) typeInto(id uint64, a *record, cmd city.Command) {
	if !a.sess.alive && a.act.asking == nil {
		m.step.Refuse(id, city.Conflict, noSession(a))
		return
	}
	if len(a.typing) >= maxTyping {
		m.step.Refuse(id, city.Unavailable, fmt.Sprintf("agent %s has %d keys and lines "+
			"waiting to "+
			"be typed already", a.name, len(a.typing)))
		return
	}
	m.enqueue(a, typing{id: id, cmd: cmd})
}

// enqueue lets the terminal take something in its turn.
func (m *Machine) enqueue(a *record, t typing) {
	a.typing = append(a.typing, t)
	if len(a.typing) == 1 {
		m.beginTyping(a)
	}
}

// beginTyping hands the first in the queue to the terminal.
func (m *Machine) beginTyping(a *record) {
	t := a.typing[0]
	if t.text == nil {
		name := a.sess.life.Name
		if !a.sess.alive && a.act.asking != nil {
			name = a.act.asking.Name
		}
		m.step.Do(effect.Type{Agent: a.name, Session: name, Cmd: t.cmd})
		return
	}
	f := effect.Send{
		Agent: a.name, Session: a.sess.life.Name, Life: a.sess.life.ID,
		Provider: a.sess.life.Provider,
		ID:       t.text.id, Text: t.text.text, Polite: !t.text.now,
	}
	if a.want != nil {
		f.Prefix = a.want.Spec.Ready.Prefix
	}
	m.step.Do(f)
}

// typedNext takes what the terminal has dealt with off its queue.
func (m *Machine) typedNext(a *record) (t typing, ok bool) {
	if a == nil || len(a.typing) == 0 {
		return t, false
	}
	t = a.typing[0]
	a.typing = slices.Delete(a.typing, 0, 1)
	if len(a.typing) > 0 {
		m.beginTyping(a)
	}
	return t, true
}

// maxTyping bounds what may wait to be typed into one agent.
const maxTyping = 32

func (m *Machine) typed(in effect.Typed) {
	a := m.agents[in.Agent]
	t, ok := m.typedNext(a)
	if !ok || t.id == 0 {
		return
	}
	if in.Err != nil {
		m.step.Refuse(t.id, city.Unavailable, fmt.Sprintf("agent %s did not take it: %v", a.name,
			in.Err))
		return
	}
	switch t.cmd.(type) {
	case city.SendKeys:
		m.step.Reply(t.id, "agent "+a.name+" took the keys")
	case city.Clear:
		m.step.Reply(t.id, "the kept output of agent "+a.name+" is cleared")
	default:
		m.step.Reply(t.id, "agent "+a.name+" was interrupted")
	}
}

func (m *Machine) emit(id uint64, e events.Event) {
	m.step.Do(effect.Emit{ID: id, Event: e})
	if strings.HasPrefix(e.Type, "bead.") { // somebody has changed work
		m.work.count()
	}
}
