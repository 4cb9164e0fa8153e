package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// leaves notes that a member's life was the last one that its pool wanted: what is assigned to it goes back to the
// pool.
func (wk *work) leaves(a *record) {
	switch {
	case a.pool == nil || !a.unwanted() || wk.m.conf.NoWork || wk.m.settling ||
		wk.m.ending != alive:
	case a.want == nil || a.pool.placed && wk.sure(a.pool):
		wk.leavers[a.name] = a.pool.name()
	}
}

// sure reports that a pool's size is no guess, so that a member that is not wanted has left for good. After a
// start of the city nobody has left who may only not have been started yet.
func (wk *work) sure(p *poolRecord) bool {
	return p.want.Max == 0 || p.override != nil || p.good || p.want.Check == "" && wk.counted
}

// seekLeavers finds those members by their work who left unseen: while they did not live, or before this
// controller began.
func (wk *work) seekLeavers() {
	tasks := wk.tasks
	if len(tasks) == 0 || !wk.m.looks.listed || len(wk.m.looks.dark) > 0 || wk.m.settling ||
		wk.m.ending != alive {
		return
	}
	for _, p := range wk.m.sizes.poolOrder {
		if !p.placed || !wk.sure(p) {
			continue
		}
		for _, w := range p.members {
			if tasks[w.Name] != "" && !p.has(w.Index) {
				wk.leavers[w.Name] = p.name()
			}
		}
	}
	for _, a := range wk.m.order {
		if a.pool != nil && a.want == nil && tasks[a.name] != "" {
			wk.leavers[a.name] = a.pool.name()
		}
	}
}

// giveBack orders the work of those who have left to be given back. Who lives still, or again, is not among them.
func (wk *work) giveBack() {
	if len(wk.leavers) == 0 || len(wk.leaving) > 0 || wk.failing || wk.m.ending != alive {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wk.leavers)) {
		a := wk.m.agents[name]
		switch {
		case a != nil && !a.unwanted():
			delete(wk.leavers, name)
		case a == nil || !a.sess.alive && a.act.op == opNone && !a.sess.unsure:
			wk.leaving = append(wk.leaving, effect.Leaver{Agent: name, Pool: wk.leavers[name]})
		}
	}
	if len(wk.leaving) > 0 {
		wk.m.step.Do(effect.ReturnWork{Of: slices.Clone(wk.leaving)})
	}
}

// handsBack says why a member that is wanted again is not started just now, "" if nothing is in its way: what it
// once had would be taken from it in the middle of it.
func (wk *work) handsBack(a *record) string {
	for _, l := range wk.leaving {
		if l.Agent == a.name {
			return "waits until its earlier work has gone back to pool " + l.Pool
		}
	}
	return ""
}

// workReturned takes what was given back. What could not be is tried again with each patrol.
func (wk *work) workReturned(now time.Time, in effect.WorkReturned) {
	tried := wk.leaving
	wk.leaving, wk.failing = nil, in.Err != nil
	wk.m.step.Lose(&wk.unreturned, "work of members that have left their pools cannot "+
		"be given back",
		in.Err)
	for _, l := range tried {
		if in.Err == nil {
			delete(wk.leavers, l.Agent)
		}
		wk.tellReturned(now, l, in.Done)
		if a := wk.m.agents[l.Agent]; a != nil {
			wk.m.decide(now, a)
		}
	}
	if len(in.Done) > 0 {
		wk.count()
	}
}

// tellReturned records what of one member's work was given back.
func (wk *work) tellReturned(now time.Time, l effect.Leaver, done []effect.Returned) {
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
	msg := fmt.Sprintf("%s has left for good; open again for the others: %s", l.Agent,
		step.Few(ids))
	wk.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: events.Event{
		Type: events.PoolWorkReturned, Actor: effect.ActorController, Subject: l.Pool, Message: msg,
		Payload: step.Payload(map[string]any{"agent": l.Agent, "beads": ids}),
	}}})
	if p := wk.m.sizes.pools[l.Pool]; p != nil {
		wk.m.decidedOn(now, &p.decisions, "work returned", msg)
	}
}
