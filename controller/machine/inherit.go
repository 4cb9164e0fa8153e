package machine

import (
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// unrecorded returns the ends of an agent's lives whose events wait in the queue.
func (j *journal) unrecorded(a *record) (ends []effect.UnrecordedEnd) {
	for i := range j.queue {
		if q := &j.queue[i]; q.agent == a && q.end != nil {
			ends = append(ends, effect.UnrecordedEnd{Exit: *q.end, Event: q.Event})
		}
	}
	return ends
}

// begin orders a start, which keeps the ends that are not recorded yet.
func (j *journal) begin(a *record) {
	f := a.outfit()
	f.Ends = j.unrecorded(a)
	a.act.endFiles = len(f.Ends) > 0
	j.m.step.Do(f)
}

// inheritEnds records what the predecessor could not. Ends that a look shows too are left to it.
func (j *journal) inheritEnds(now time.Time, in *effect.Inherited, listed []session.Status) {
	shown := map[string]bool{}
	for i := range listed {
		shown[listed[i].ID] = true
	}
	for _, e := range in.Ends {
		id := e.Exit.ID
		ack := effect.Acknowledge{Agent: e.Exit.Agent, Session: e.Exit.Name, ID: id}
		a := j.m.agents[e.Exit.Agent]
		switch {
		case shown[id]:
		case in.Recorded[id]:
			j.m.step.Do(ack)
		case a == nil: // it is not declared any more
			j.m.step.Do(effect.Record{Event: e.Event})
			j.m.step.Do(ack)
		default:
			j.m.decided(now, a, "record", "the controller before could not: "+e.Event.Message)
			j.inheritEnd(now, a, e)
			j.past[id] = true
			a.act.acks = append(a.act.acks, ack)
		}
	}
}

// inheritEnd counts and records the end of an earlier life of an agent.
func (j *journal) inheritEnd(now time.Time, a *record, e effect.UnrecordedEnd) {
	if e.Event.Type != events.AgentCrashed || a.want == nil {
		j.inOrder(queuedRecord{Record: effect.Record{Event: e.Event}, agent: a})
		return
	}
	if !a.called() {
		a.rest.history.Died(now, effect.Death(&e.Exit), a.want.Policy)
	}
	j.tellCrash(now, a, e.Exit, e.Event)
}
