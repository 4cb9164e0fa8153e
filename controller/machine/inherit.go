package machine

import (
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// unrecorded returns an agent's exits that are not in the log yet, because their events are still queued.
func (j *journal) unrecorded(a *record) (ends []effect.UnrecordedEnd) {
	for i := range j.queue {
		if q := &j.queue[i]; q.agent == a && q.end != nil {
			ends = append(ends, effect.UnrecordedEnd{Exit: *q.end, Event: q.Event})
		}
	}
	return ends
}

// unrecordedCrashes returns the number of an agent's crashes that are not in the log yet.
func (j *journal) unrecordedCrashes(a *record) (n int) {
	for _, end := range j.unrecorded(a) {
		if end.Event.Type == events.AgentCrashed {
			n++
		}
	}
	return n
}

// begin requests a start. The start also saves the agent's exits that are not in the event log yet.
func (j *journal) begin(a *record) {
	f := a.policy.startEffect(a)
	f.Ends = j.unrecorded(a)
	a.act.exitFiles = len(f.Ends) > 0
	j.m.step.Do(f)
}

// inheritEnds records exits that the previous controller could not record. It skips exits that the list of sessions
// contains, because those are handled separately.
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
		case a == nil: // the agent was removed from the configuration
			j.m.step.Do(effect.Record{Event: e.Event})
			j.m.step.Do(ack)
		default:
			j.m.decided(now, a, "record", "not recorded by the previous "+
				"controller: "+e.Event.Message)
			j.inheritEnd(now, a, e)
			j.past[id] = true
			a.act.acks = append(a.act.acks, ack)
		}
	}
}

// inheritEnd counts and records the exit of an agent's earlier session.
func (j *journal) inheritEnd(now time.Time, a *record, e effect.UnrecordedEnd) {
	if e.Event.Type != events.AgentCrashed || a.want == nil {
		j.inOrder(queuedRecord{Record: effect.Record{Event: e.Event}, agent: a})
		return
	}
	if a.policy.counts() {
		a.restart.history.Died(now, effect.Death(&e.Exit), a.want.Policy)
	}
	j.recordCrash(now, a, e.Exit, e.Event)
}
