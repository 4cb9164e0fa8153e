package machine

import (
	"errors"
	"slices"

	"gcity/controller/effect"
	"gcity/events"
)

// the log's queue has the same limit
const maxUnwritten = 4096

// EventsAppended is called after the events of these effects were appended to the log. It returns the effects that may
// run now. If err says that the events are only queued, exits are not acknowledged until their events are in the log,
// and a start saves them to files.
func (m *Machine) EventsAppended(effects []effect.Effect, err error) []effect.Effect {
	m.step.Changed = true // the next snapshot differs because of new events
	if !errors.Is(err, events.ErrQueued) {
		return effects
	}
	j, queued := &m.journal, map[string]bool{}
	for _, f := range effects {
		if r, ok := f.(effect.Record); ok {
			if id := effect.EndedSession(&r.Event); id != "" {
				queued[id] = true
				j.notWritten(r)
			}
		}
	}
	for i := range effects {
		if s, ok := effects[i].(effect.Start); ok {
			effects[i] = j.withEnds(s, m.agents[s.Want.Name])
		}
	}
	return slices.DeleteFunc(effects, func(f effect.Effect) bool {
		ack, ok := f.(effect.Acknowledge)
		if !ok || !queued[ack.ID] {
			return false
		}
		if a := m.agents[ack.Agent]; a != nil {
			a.act.acks = append(a.act.acks, ack)
		} else {
			j.acks = append(j.acks, ack)
		}
		return true
	})
}

func (j *journal) notWritten(r effect.Record) {
	a := j.m.agents[r.Event.Subject]
	if a == nil {
		return
	}
	a.act.queued++
	j.unwritten = append(j.unwritten, queuedRecord{Record: r, agent: a})
	if over := len(j.unwritten) - maxUnwritten; over > 0 {
		for _, q := range j.unwritten[:over] {
			q.agent.act.queued--
		}
		j.unwritten = slices.Delete(j.unwritten, 0, over)
	}
}

func (j *journal) withEnds(s effect.Start, a *record) effect.Start {
	if a == nil {
		return s
	}
	s.Ends = j.unrecorded(a)
	a.act.exitFiles = len(s.Ends) > 0
	return s
}

func (j *journal) waitsForLog() bool { return len(j.unwritten)+len(j.acks) > 0 }

// written is called when all events are in the log.
func (j *journal) written() {
	for _, q := range j.unwritten {
		q.agent.act.queued--
	}
	for _, ack := range j.acks {
		j.m.step.Do(ack)
	}
	j.unwritten, j.acks = nil, nil
}
