package machine

import (
	"slices"
	"time"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/controller/effect"
	"gcity/events"
)

// storesChanged handles new problems with stores, and their recovery. Work that waited for a store continues as soon
// as the store has recovered.
func (wk *work) storesChanged(now time.Time, in effect.StoresReported) {
	if in.Rev <= wk.storesRev {
		return
	}
	before := wk.stores
	wk.stores, wk.storesRev = in.Stores, in.Rev
	if len(before)+len(in.Stores) == 0 {
		return
	}
	wk.m.step.Changed = true
	healed := false
	for _, s := range before {
		after := troubleOf(in.Stores, s.Scope)
		healed = healed || s.Reads && !after.Reads || s.Writes && !after.Writes
		if after.Text == "" {
			wk.m.step.Do(effect.Record{Event: events.Event{Type: events.StoreHealed,
				Actor: effect.ActorController, Subject: s.Scope,
				Message: "the work of " + beads.ScopeTitle(s.Scope) +
					" can be read and written again"}})
		}
	}
	for _, s := range in.Stores {
		if troubleOf(before, s.Scope).Text == "" {
			wk.m.step.Do(effect.Record{Event: events.Event{Type: events.StoreFailing,
				Actor: effect.ActorController, Subject: s.Scope, Message: s.Text}})
		}
	}
	if healed {
		wk.retry(now)
		return
	}
	wk.m.runs.Advance(now)
}

// troubleOf returns the problem with a scope's store, or the zero value if the store works.
func troubleOf(all []guard.Trouble, scope string) guard.Trouble {
	if i := slices.IndexFunc(all, func(s guard.Trouble) bool { return s.Scope == scope }); i >= 0 {
		return all[i]
	}
	return guard.Trouble{}
}

// storeProblem returns the problem with a scope's store, or "" if the store works.
func (wk *work) storeProblem(scope string) string { return troubleOf(wk.stores, scope).Text }

func (wk *work) storeProblems() []string {
	var out []string
	for _, s := range wk.stores {
		out = append(out, s.Text)
	}
	return out
}

// probe requests that failed stores be tried again, if a retry is due.
func (wk *work) probe(now time.Time) {
	due := slices.ContainsFunc(wk.stores, func(s guard.Trouble) bool {
		return !now.Before(s.Until)
	})
	if !due || wk.probing || wk.m.ending != running || wk.m.oneShot {
		return
	}
	wk.probing = true
	wk.m.step.Do(effect.ProbeStores{})
}
