package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// answered hands in that a question was answered for an agent, before anything that follows from it.
func (r *runner) answered(s *session.Spec, d session.Dialog) {
	r.deliver(effect.DialogAnswered{Agent: s.Agent, Session: s.ID, Dialog: d})
}

// answeredFor records what was pressed in an agent's terminal in its operator's name: that is never silent.
func (m *machine) answeredFor(in effect.DialogAnswered) {
	keys := strings.Join(in.Dialog.Keys, ", ")
	e := events.Event{
		Type: events.AgentNudged, Actor: controller, Subject: in.Agent,
		Message: fmt.Sprintf("its question about %s was answered with %s, as "+
			"emits_permission_warning says", in.Dialog.Name, keys),
		Payload: payload(map[string]any{"session": in.Session, "dialog": in.Dialog.Name,
			"keys": in.Dialog.Keys}),
	}
	if a, ok := m.agents[in.Agent]; ok {
		m.tell(a, e)
		return
	}
	m.do(effect.Record{Event: e})
}

// asks hands in that a question waits for somebody, with the session in whose terminal it does.
func (r *runner) asks(ctx context.Context, s *session.Spec, d *session.Dialog) {
	in := effect.Asking{Agent: s.Agent, Status: session.Status{Name: s.Name, Agent: s.Agent,
		ID: s.ID}}
	if d != nil {
		in.About = d.Name
	}
	if l, ok := r.c.o.Provider.(session.Looker); ok {
		if st, err := l.Look(ctx, s.Name); err == nil && st.ID == s.ID {
			in.Status = st
		}
	}
	r.deliver(in)
}

// asks shows a question of a program that is not ready before it is answered, and lets people at its terminal. The
// start under way goes on: it ends when the question is gone, or too old.
func (m *machine) asks(now time.Time, in effect.Asking) {
	a, ok := m.agents[in.Agent]
	if !ok || a.op != opStart || a.canceled {
		return
	}
	if in.About == "" {
		a.asking = nil
		m.set(now, a, city.Starting, orDefault(a.because, "started"), time.Time{})
		return
	}
	a.asking, m.changed = &in.Status, true
	m.set(now, a, city.Starting, "asks about "+in.About+": answer at its terminal; "+
		"emits_permission_warning = true has such questions answered", time.Time{})
}
