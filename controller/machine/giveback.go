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
func (m *Machine) leaves(a *record) {
	switch {
	case a.pool == nil || !a.unwanted() || m.conf.NoWork || m.settling || m.ending != alive:
	case a.want == nil || a.pool.placed && m.sure(a.pool):
		m.work.leavers[a.name] = a.pool.name()
	}
}

// sure reports that a pool's size is no guess, so that a member that is not wanted has left for good. After a
// start of the city nobody has left who may only not have been started yet.
func (m *Machine) sure(p *poolRecord) bool {
	return p.want.Max == 0 || p.override != nil || p.good || p.want.Check == "" && m.work.counted
}

// seekLeavers finds those members by their work who left unseen: while they did not live, or before this
// controller began.
func (m *Machine) seekLeavers() {
	tasks := m.work.tasks
	if len(tasks) == 0 || !m.listed || len(m.dark) > 0 || m.settling || m.ending != alive {
		return
	}
	for _, p := range m.sizes.poolOrder {
		if !p.placed || !m.sure(p) {
			continue
		}
		for _, w := range p.members {
			if tasks[w.Name] != "" && !p.has(w.Index) {
				m.work.leavers[w.Name] = p.name()
			}
		}
	}
	for _, a := range m.order {
		if a.pool != nil && a.want == nil && tasks[a.name] != "" {
			m.work.leavers[a.name] = a.pool.name()
		}
	}
}

// giveBack orders the work of those who have left to be given back. Who lives still, or again, is not among them.
func (m *Machine) giveBack() {
	w := &m.work
	if len(w.leavers) == 0 || len(w.leaving) > 0 || w.failing || m.ending != alive {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.leavers)) {
		a := m.agents[name]
		switch {
		case a != nil && !a.unwanted():
			delete(w.leavers, name)
		case a == nil || !a.sess.alive && a.act.op == opNone && !a.sess.unsure:
			w.leaving = append(w.leaving, effect.Leaver{Agent: name, Pool: w.leavers[name]})
		}
	}
	if len(w.leaving) > 0 {
		m.step.Do(effect.ReturnWork{Of: slices.Clone(w.leaving)})
	}
}

// handsBack says why a member that is wanted again is not started just now, "" if nothing is in its way: what it
// once had would be taken from it in the middle of it.
func (m *Machine) handsBack(a *record) string {
	for _, l := range m.work.leaving {
		if l.Agent == a.name {
			return "waits until its earlier work has gone back to pool " + l.Pool
		}
	}
	return ""
}

// workReturned takes what was given back. What could not be is tried again with each patrol.
func (m *Machine) workReturned(now time.Time, in effect.WorkReturned) {
	w := &m.work
	tried := w.leaving
	w.leaving, w.failing = nil, in.Err != nil
	m.step.Lose(&w.unreturned, "work of members that have left their pools cannot be given back",
		in.Err)
	for _, l := range tried {
		if in.Err == nil {
			delete(w.leavers, l.Agent)
		}
		m.tellReturned(now, l, in.Done)
		if a := m.agents[l.Agent]; a != nil {
			m.decide(now, a)
		}
	}
	if len(in.Done) > 0 {
		m.count()
	}
}

// tellReturned records what of one member's work was given back.
func (m *Machine) tellReturned(now time.Time, l effect.Leaver, done []effect.Returned) {
	var ids []string
	for _, d := range done {
		if d.Leaver == l {
			ids = append(ids, d.Bead)
			m.inOrder(queuedRecord{Record: effect.Record{Event: d.Event}})
		}
	}
	if len(ids) == 0 {
		return
	}
	msg := fmt.Sprintf("%s has left for good; open again for the others: %s", l.Agent, few(ids))
	m.inOrder(queuedRecord{Record: effect.Record{Event: events.Event{
		Type: events.PoolWorkReturned, Actor: effect.ActorController, Subject: l.Pool, Message: msg,
		Payload: step.Payload(map[string]any{"agent": l.Agent, "beads": ids}),
	}}})
	if p := m.sizes.pools[l.Pool]; p != nil {
		m.decidedOn(now, &p.decisions, "work returned", msg)
	}
}
