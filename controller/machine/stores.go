package machine

import (
	"slices"
	"time"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/controller/effect"
	"gcity/events"
)

// storesChanged takes what is wrong with the stores. One that is well again is asked at once for what it kept
// waiting.
func (m *Machine) storesChanged(now time.Time, in effect.StoresReported) {
	w := &m.work
	if in.Rev <= w.storesRev {
		return
	}
	before := w.stores
	w.stores, w.storesRev = in.Stores, in.Rev
	if len(before)+len(in.Stores) == 0 {
		return
	}
	m.step.Changed = true
	healed := false
	for _, s := range before {
		after := troubleOf(in.Stores, s.Scope)
		healed = healed || s.Reads && !after.Reads || s.Writes && !after.Writes
		if after.Text == "" {
			m.step.Do(effect.Record{Event: events.Event{Type: events.StoreHealed,
				Actor: effect.ActorController, Subject: s.Scope,
				Message: "the work of " + beads.ScopeTitle(s.Scope) +
					" can be read and written again"}})
		}
	}
	for _, s := range in.Stores {
		if troubleOf(before, s.Scope).Text == "" {
			m.step.Do(effect.Record{Event: events.Event{Type: events.StoreFailing,
				Actor: effect.ActorController, Subject: s.Scope, Message: s.Text}})
		}
	}
	if healed {
		m.retryWork(now)
		return
	}
	m.runs.Turn(now)
}

// troubleOf is that of a scope, the zero one if there is none.
func troubleOf(all []guard.Trouble, scope string) guard.Trouble {
	if i := slices.IndexFunc(all, func(s guard.Trouble) bool { return s.Scope == scope }); i >= 0 {
		return all[i]
	}
	return guard.Trouble{}
}

// storeProblem says what is wrong with a scope's store, "" if nothing is.
func (m *Machine) storeProblem(scope string) string { return troubleOf(m.work.stores, scope).Text }

func (m *Machine) storeProblems() []string {
	var out []string
	for _, s := range m.work.stores {
		out = append(out, s.Text)
	}
	return out
}

// probe has the stores tried that have failed, once it is time for one.
func (m *Machine) probe(now time.Time) {
	w := &m.work
	due := slices.ContainsFunc(w.stores, func(s guard.Trouble) bool { return !now.Before(s.Until) })
	if !due || w.probing || m.ending != alive || m.settling {
		return
	}
	w.probing = true
	m.step.Do(effect.ProbeStores{})
}
