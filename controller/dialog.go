package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/session"
)

// answered hands in that a question was answered for an agent, before anything that follows from it.
func (r *runner) answered(s *session.Spec, d session.Dialog) {
	r.deliver(inAnswered{agent: s.Agent, session: s.ID, dialog: d})
}

// answeredFor records what was pressed in an agent's terminal in its operator's name: that is never silent.
func (m *machine) answeredFor(in inAnswered) {
	keys := strings.Join(in.dialog.Keys, ", ")
	e := events.Event{
		Type: events.AgentNudged, Actor: controller, Subject: in.agent,
		Message: fmt.Sprintf("its question about %s was answered with %s, as emits_permission_warning says", in.dialog.Name, keys),
		Payload: payload(map[string]any{"session": in.session, "dialog": in.dialog.Name, "keys": in.dialog.Keys}),
	}
	if a, ok := m.agents[in.agent]; ok {
		m.tell(a, e)
		return
	}
	m.do(fxRecord{event: e})
}

// asks hands in that a question waits for somebody, with the session in whose terminal it does.
func (r *runner) asks(ctx context.Context, s *session.Spec, d *session.Dialog) {
	in := inAsks{agent: s.Agent, status: session.Status{Name: s.Name, Agent: s.Agent, ID: s.ID}}
	if d != nil {
		in.about = d.Name
	}
	if l, ok := r.c.o.Provider.(session.Looker); ok {
		if st, err := l.Look(ctx, s.Name); err == nil && st.ID == s.ID {
			in.status = st
		}
	}
	r.deliver(in)
}

// asks shows a question of a program that is not ready before it is answered, and lets people at its terminal. The start
// under way goes on: it ends when the question is gone, or too old.
func (m *machine) asks(now time.Time, in inAsks) {
	a, ok := m.agents[in.agent]
	if !ok || a.op != opStart || a.canceled {
		return
	}
	if in.about == "" {
		a.asking = nil
		m.set(now, a, city.Starting, orDefault(a.because, "started"), time.Time{})
		return
	}
	a.asking, m.changed = &in.status, true
	m.set(now, a, city.Starting, "asks about "+in.about+": answer at its terminal; emits_permission_warning = true has such questions answered", time.Time{})
}
