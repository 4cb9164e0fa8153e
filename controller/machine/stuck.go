package machine

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/step"
	"gcity/events"
)

// stuckness finds an agent that has work and has printed nothing for too long. The time starts when it got the
// work, or after a stall of the whole program. An agent that waits for a gate is not stuck.
func (m *Machine) stuckness(now time.Time, a *record) {
	a.silence.stuckAt = time.Time{}
	limit := a.want.StuckAfter
	if limit == 0 {
		m.unstick(a)
		return
	}
	if task, gate := m.work.tasks[a.name], m.work.gated[a.name]; task != a.silence.task ||
		gate != a.silence.gate {
		a.silence.task, a.silence.gate, a.silence.taskAt = task, gate, now
	}
	if a.silence.task == "" || a.silence.gate != "" || a.sess.lastOutput.IsZero() || a.obscure() {
		m.unstick(a)
		return
	}
	since := a.sess.lastOutput
	for _, t := range []time.Time{a.silence.taskAt, m.awake} {
		if t.After(since) {
			since = t
		}
	}
	switch at := since.Add(limit); {
	case now.Before(at):
		a.silence.stuckAt = at
		m.unstick(a)
	case a.silence.stuck != nil:
	case now.Sub(a.sess.fresh) > viewersFresh:
		m.looks.look()
	default:
		a.silence.stuck, m.step.Changed = &city.Stuck{Since: since, Task: a.silence.task}, true
		why := fmt.Sprintf("printed nothing for %s (stuck_after %s) while working on %s",
			now.Sub(since).Round(time.Second), limit, a.silence.task)
		m.decided(now, a, "stuck", why)
		m.journal.record(a, events.Event{Type: events.AgentStuck, Message: why,
			Payload: step.Payload(map[string]any{"since": since.UTC().Format(time.RFC3339),
				"task": a.silence.task})})
	}
}

func (m *Machine) unstick(a *record) {
	if a.silence.stuck != nil {
		a.silence.stuck, m.step.Changed = nil, true
	}
}
