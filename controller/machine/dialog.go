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

// answeredFor records that gcity pressed keys in an agent's terminal on behalf of the user.
func (m *Machine) answeredFor(in effect.DialogAnswered) {
	keys := strings.Join(in.Dialog.Keys, ", ")
	e := events.Event{
		Type: events.AgentNudged, Actor: effect.ActorController, Subject: in.Agent,
		Message: fmt.Sprintf("its question about %s was answered with %s because "+
			"emits_permission_warning is set", in.Dialog.Name, keys),
		Payload: step.Payload(map[string]any{"session": in.Session, "dialog": in.Dialog.Name,
			"keys": in.Dialog.Keys}),
	}
	if a, ok := m.agents[in.Agent]; ok {
		m.journal.record(a, e)
		return
	}
	m.step.Do(effect.Record{Event: e})
}

// asks updates the reason of a starting agent: it waits for the provider, or for a user to answer a question in the
// terminal.
func (m *Machine) asks(now time.Time, in effect.Asking) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.Starting() || a.phase.Canceled() {
		return
	}
	if in.About == "" {
		a.act.asking = nil
		why := orDefault(in.Waits, orDefault(a.act.because, "started"))
		m.set(now, a, city.Starting, why, time.Time{})
		return
	}
	a.act.asking, m.step.Changed = &in.Status, true
	m.set(now, a, city.Starting, "asks about "+in.About+": answer it in the agent's terminal; "+
		"with emits_permission_warning = true, gcity answers such questions", time.Time{})
}
