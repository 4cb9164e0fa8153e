package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/events"
)

// noteLeaver records that a departing member's last session has ended, so that the member's work is returned to the
// pool.
func (wk *work) noteLeaver(a *record) {
	switch {
	case !a.unwanted() || wk.m.conf.NoWork || wk.m.oneShot ||
		wk.m.ending != running:
	case a.want == nil || a.pool.Final() && wk.m.pools.SizeKnown(a.pool):
		wk.leavers[a.name] = a.pool.Name()
	}
}

// findLeavers finds departed members that still have work. They left before this controller started, or while they
// were not running.
func (wk *work) findLeavers() {
	tasks := wk.tasks
	if len(tasks) == 0 || !wk.m.lists.listed || len(wk.m.lists.unlistedProviders) > 0 ||
		wk.m.oneShot ||
		wk.m.ending != running {
		return
	}
	for _, p := range wk.m.pools.All() {
		if !p.Final() || !wk.m.pools.SizeKnown(p) {
			continue
		}
		for _, w := range p.Members {
			if tasks[w.Name] != "" && !p.Has(w.Index) {
				wk.leavers[w.Name] = p.Name()
			}
		}
	}
	for _, a := range wk.m.order {
		if a.pool != nil && a.want == nil && tasks[a.name] != "" {
			wk.leavers[a.name] = a.pool.Name()
		}
	}
}

// returnWork requests that the work of departed members be returned to their pools. It skips members that are running
// or wanted again.
func (wk *work) returnWork() {
	if len(wk.leaving) > 0 || wk.failing || wk.m.ending != running {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wk.leavers)) {
		a := wk.m.agents[name]
		switch {
		case a != nil && !a.unwanted():
			delete(wk.leavers, name)
		case a == nil || a.phase.State() == lifecycle.Absent:
			wk.leaving = append(wk.leaving, effect.Leaver{Agent: name, Pool: wk.leavers[name]})
		}
	}
	if len(wk.leaving) > 0 {
		wk.m.step.Do(effect.ReturnWork{Of: slices.Clone(wk.leaving)})
	}
}

// waitsForReturn returns the reason why a wanted member must wait before it starts, if its earlier work is still
// being returned to the pool. It returns "" otherwise.
func (wk *work) waitsForReturn(a *record) string {
	for _, l := range wk.leaving {
		if l.Agent == a.name {
			return "waits until its earlier work is returned to pool " + l.Pool
		}
	}
	return ""
}

// workReturned handles the result of returning work. Failed returns are retried at each patrol.
func (wk *work) workReturned(now time.Time, in effect.WorkReturned) {
	tried := wk.leaving
	wk.leaving, wk.failing = nil, in.Err != nil
	wk.m.step.Lose(&wk.unreturned, "the work of members that have left their pools cannot "+
		"be returned", in.Err)
	for _, l := range tried {
		if in.Err == nil {
			delete(wk.leavers, l.Agent)
		}
		wk.recordReturned(now, l, in.Done)
		if a := wk.m.agents[l.Agent]; a != nil {
			wk.m.decide(now, a)
		}
	}
	if len(in.Done) > 0 {
		wk.count()
	}
}

// recordReturned records the events about one member's returned work.
func (wk *work) recordReturned(now time.Time, l effect.Leaver, done []effect.Returned) {
	var ids []string
	for _, d := range done {
		if d.Leaver == l {
			ids = append(ids, d.Bead)
			wk.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: d.Event}})
		}
	}
	if len(ids) == 0 {
		return
	}
	msg := fmt.Sprintf("%s has left the pool; its work is open again: %s", l.Agent, step.Few(ids))
	wk.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: events.Event{
		Type: events.PoolWorkReturned, Actor: effect.ActorController, Subject: l.Pool, Message: msg,
		Payload: step.Payload(map[string]any{"agent": l.Agent, "beads": ids}),
	}}})
	wk.m.pools.Decided(now, l.Pool, "work returned", msg)
}
