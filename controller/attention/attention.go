// Package attention decides which agents need a user's attention. It has no side effects.
package attention

import (
	"fmt"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/span"
	"gcity/session"
)

// City is the view of the city that Detector uses.
type City interface {
	RequestList()
	// TaskOf returns an agent's bead in progress, and the gate that it waits for.
	TaskOf(agent string) (task, gate string)
	// StalledUntil returns the end of the program's latest stall; zero = no stall.
	StalledUntil() time.Time
	Record(agent string, e events.Event, replies ...effect.Reply)
}

// Facts are the facts about an agent and its session.
type Facts struct {
	Want       *agent.Want // nil = the agent is not declared
	Life       *session.Status
	Alive      bool      // the session is alive
	Unknown    bool      // the state of the session is unknown
	ListedAt   time.Time // when Life was listed
	LastOutput time.Time // zero = unknown
	Decisions  *[]city.Decision
}

// listFresh is the maximum age of a session list that shows that an agent is silent.
const listFresh = time.Second

// Agent is the state of one agent.
type Agent struct {
	Asks     *city.Question
	Stuck    *city.Stuck
	StuckAt  time.Time // when stuck_after expires; zero = never, or it has expired
	NextLook time.Time // when to look for an answer; zero = at the next list

	// bead in progress and its gate, both since taskAt
	task, gate string
	taskAt     time.Time
	screen     screen
}

// Detector detects that agents need attention.
type Detector struct {
	city City
	out  *step.Output
}

// New returns a Detector that adds its effects to out.
func New(c City, out *step.Output) Detector { return Detector{c, out} }

// Forget forgets the agent's session, which has ended.
func (d *Detector) Forget(a *Agent) {
	d.clearStuck(a)
	d.clearQuestion(a)
}

func (d *Detector) clearStuck(a *Agent) {
	if a.Stuck != nil {
		a.Stuck, d.out.Changed = nil, true
	}
}

// UpdateStuck decides whether an agent is stuck. It is not stuck while it waits for a gate or asks a question.
func (d *Detector) UpdateStuck(now time.Time, a *Agent, f *Facts) {
	a.StuckAt = time.Time{}
	if f.Want == nil || f.Want.StuckAfter == 0 {
		d.clearStuck(a)
		return
	}
	if task, gate := d.city.TaskOf(f.Want.Name); task != a.task || gate != a.gate {
		a.task, a.gate, a.taskAt = task, gate, now
	}
	if a.task == "" || a.gate != "" || a.Asks != nil || f.LastOutput.IsZero() || f.Unknown {
		d.clearStuck(a)
		return
	}
	since := f.LastOutput
	for _, t := range []time.Time{a.taskAt, d.city.StalledUntil()} {
		if t.After(since) {
			since = t
		}
	}
	switch at := since.Add(f.Want.StuckAfter); {
	case now.Before(at):
		a.StuckAt = at
		d.clearStuck(a)
	case a.Stuck != nil:
	case now.Sub(f.ListedAt) > listFresh:
		d.city.RequestList()
	case d.ReadScreen(a, f):
	default:
		a.Stuck, d.out.Changed = &city.Stuck{Since: since, Task: a.task}, true
		d.record(now, f, events.Event{Type: events.AgentStuck, Message: fmt.Sprintf(
			"printed nothing for %s (stuck_after %s) while working on %s",
			span.Text(now.Sub(since).Round(time.Second)), span.Text(f.Want.StuckAfter), a.task),
			Payload: step.Payload(map[string]any{"since": since.UTC().Format(time.RFC3339),
				"task": a.task})}, "stuck")
	}
}

func (d *Detector) record(now time.Time, f *Facts, e events.Event, what string) {
	d.out.Decided(now, f.Decisions, what, e.Message)
	d.city.Record(f.Want.Name, e)
}
