package machine

import (
	"encoding/json"
	"fmt"
	"time"

	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

// outputWait is how long the event of a crash waits for the last output.
const outputWait = effect.CaptureLimit + time.Second

// journal records the events of decisions, in their order.
type journal struct {
	m     *Machine
	queue []queuedRecord
	// sessions with an exit that the previous controller recorded, or left to be recorded
	past map[string]bool
}

// queuedRecord is an event that waits for its turn in the log.
type queuedRecord struct {
	effect.Record
	agent *record       // nil: the event is not about an agent
	end   *session.Exit // the exit that the event records; nil: not an exit
	// ID of the session that the event needs the output of; "" = it only waits for earlier events
	output string
	by     time.Time // when it stops waiting
}

// record records an event about an agent.
func (j *journal) record(a *record, e events.Event, answers ...effect.Answer) {
	e.Actor, e.Subject = orDefault(e.Actor, effect.ActorController), a.name
	j.inOrder(queuedRecord{Record: effect.Record{Event: e, Answers: answers}, agent: a})
}

// recordEnd records an exit, unless the previous controller has.
func (j *journal) recordEnd(a *record, x session.Exit, e events.Event, answers ...effect.Answer) {
	if j.past[x.ID] {
		return
	}
	e.Actor, e.Subject = orDefault(e.Actor, effect.ActorController), a.name
	j.inOrder(queuedRecord{Record: effect.Record{Event: e, Answers: answers}, agent: a, end: &x})
}

// recordCrash records an exit as a crash, with its last output.
func (j *journal) recordCrash(now time.Time, a *record, x session.Exit, e events.Event) {
	j.inOrder(queuedRecord{Record: effect.Record{Event: e}, agent: a, end: &x, output: x.ID,
		by: now.Add(outputWait)})
	j.m.step.DoLate(effect.Capture{
		Agent: a.name, Session: x.Name, ID: x.ID, At: x.At, Cols: a.want.Spec.Cols,
		Rows: a.want.Spec.Rows,
	})
}

// inOrder records an event. The log keeps the order of decisions: while a crash waits for its output, all later
// events wait too.
func (j *journal) inOrder(q queuedRecord) {
	if len(j.queue) == 0 && q.output == "" {
		j.m.step.Do(q.Record)
		return
	}
	j.queue = append(j.queue, q)
	if q.agent != nil {
		q.agent.act.queued++
	}
}

// release records the events that no longer wait. The wait for output ends at its deadline, or at once if now is
// zero.
func (j *journal) release(now time.Time) {
	n := 0
	for ; n < len(j.queue); n++ {
		q := &j.queue[n]
		if q.output != "" && !now.IsZero() && now.Before(q.by) {
			break
		}
		if q.output != "" {
			q.amend(map[string]any{"output_error": fmt.Sprintf("it was not saved within %s",
				outputWait)})
		}
		j.m.step.Do(q.Record)
		if q.agent != nil {
			q.agent.act.queued--
		}
	}
	j.queue = append(j.queue[:0], j.queue[n:]...)
	clear(j.queue[len(j.queue):cap(j.queue)])
}

func (j *journal) captured(now time.Time, in effect.Captured) {
	for i := range j.queue {
		if q := &j.queue[i]; q.output == in.ID && q.agent.name == in.Agent {
			about := map[string]any{"output": in.Tail}
			if in.File != "" {
				about["file"] = in.File
			}
			if in.Err != nil {
				about["output_error"] = in.Err.Error()
			}
			q.amend(about)
			q.output = ""
		}
	}
	a, ok := j.m.agents[in.Agent]
	if !ok {
		return
	}
	if a.sess.exit != nil && a.sess.lastEnd == in.ID {
		kept := *a.sess.exit
		kept.File = in.File
		a.sess.exit, j.m.step.Changed = &kept, true
	}
	j.m.decide(now, a)
}

// amend adds to the payload of a queued event.
func (q *queuedRecord) amend(more map[string]any) {
	about := map[string]any{}
	if json.Unmarshal(q.Event.Payload, &about) != nil {
		return
	}
	for key, value := range more {
		about[key] = value
	}
	q.Event.Payload = step.Payload(about)
}
