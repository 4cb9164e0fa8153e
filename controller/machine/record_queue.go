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

// outputWait is how long a crash event waits for the agent's last output.
const outputWait = effect.CaptureLimit + time.Second

// journal records events in the order of the decisions that caused them.
type journal struct {
	m     *Machine
	queue []queuedRecord
	// IDs of sessions with an exit that the previous controller recorded, or saved for its successor to record
	past map[string]bool
}

// queuedRecord is an event that waits to be written to the log.
type queuedRecord struct {
	effect.Record
	agent *record       // nil = the event is not about an agent's session
	end   *session.Exit // the exit that the event records, or nil
	// ID of the session with the output that the event waits for; "" = the event waits only for earlier events
	output string
	by     time.Time // time at which the event stops waiting for the output
}

// record records an event about an agent.
func (j *journal) record(a *record, e events.Event, replies ...effect.Reply) {
	e.Actor, e.Subject = orDefault(e.Actor, effect.ActorController), a.name
	j.inOrder(queuedRecord{Record: effect.Record{Event: e, Replies: replies}, agent: a})
}

// recordEnd records an exit, unless the previous controller has recorded it.
func (j *journal) recordEnd(a *record, x session.Exit, e events.Event, replies ...effect.Reply) {
	if j.past[x.ID] {
		return
	}
	e.Actor, e.Subject = orDefault(e.Actor, effect.ActorController), a.name
	j.inOrder(queuedRecord{Record: effect.Record{Event: e, Replies: replies}, agent: a, end: &x})
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

// inOrder records an event. If an earlier event is still waiting for output, inOrder queues the new one, so that the
// log keeps the order of the decisions.
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

// release records the events that no longer have to wait. A zero now ends all waits for output.
func (j *journal) release(now time.Time) {
	n := 0
	for ; n < len(j.queue); n++ {
		q := &j.queue[n]
		if q.output != "" && !now.IsZero() && now.Before(q.by) {
			break
		}
		if q.output != "" {
			q.amend(map[string]any{"output_error": fmt.Sprintf("not saved within %s", outputWait)})
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

// amend adds fields to the payload of a queued event.
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
