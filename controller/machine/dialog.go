package machine

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// answeredFor records what was pressed in an agent's terminal in its operator's name: that is never silent.
func (m *Machine) answeredFor(in effect.DialogAnswered) {
	keys := strings.Join(in.Dialog.Keys, ", ")
	e := events.Event{
		Type: events.AgentNudged, Actor: effect.ActorController, Subject: in.Agent,
		Message: fmt.Sprintf("its question about %s was answered with %s, as "+
			"emits_permission_warning says", in.Dialog.Name, keys),
		Payload: step.Payload(map[string]any{"session": in.Session, "dialog": in.Dialog.Name,
			"keys": in.Dialog.Keys}),
	}
	if a, ok := m.agents[in.Agent]; ok {
		m.journal.tell(a, e)
		return
	}
	m.step.Do(effect.Record{Event: e})
}

// asks shows what a start waits for: the session provider, or a question that people answer at the terminal.
func (m *Machine) asks(now time.Time, in effect.Asking) {
	a, ok := m.agents[in.Agent]
	if !ok || a.act.op != opStart || a.act.canceled {
		return
	}
	if in.About == "" {
		a.act.asking = nil
		why := orDefault(in.Waits, orDefault(a.act.because, "started"))
		m.set(now, a, city.Starting, why, time.Time{})
		return
	}
	a.act.asking, m.step.Changed = &in.Status, true
	m.set(now, a, city.Starting, "asks about "+in.About+": answer at its terminal; "+
		"emits_permission_warning = true has such questions answered", time.Time{})
}
