package controller

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"gcity/city"
)

// beadCommand makes or changes a piece of work.
func (m *machine) beadCommand(id uint64, c city.Command) { m.do(fxBead{id: id, cmd: c}) }

// beadDone takes the result.
func (m *machine) beadDone(in inBead) {
	if in.err != nil {
		for _, e := range in.events { // some of it has happened
			m.do(fxRecord{event: e})
		}
		m.do(fxAnswer{answer{id: in.id, err: in.err}})
		if len(in.events) > 0 {
			m.count()
		}
		return
	}
	if len(in.events) == 0 {
		m.do(fxAnswer{answer{id: in.id, receipt: city.Receipt{Message: cmp.Or(in.message, in.bead.ID+" is so already"), Bead: &in.bead}}})
		return
	}
	for i, e := range in.events {
		f := fxRecord{event: e}
		if i == len(in.events)-1 {
			_, verb, _ := strings.Cut(e.Type, ".")
			f.answers = []answer{{id: in.id, receipt: city.Receipt{Message: cmp.Or(in.message, verb+" "+in.bead.ID), Bead: &in.bead}}}
		}
		m.do(f)
	}
	m.count()
}

// count orders the open work to be counted: of all, and of each pool that has no check.
func (m *machine) count() {
	w := &m.work
	if m.conf == nil || m.conf.nowork || m.ending != alive {
		return
	}
	if w.counting {
		w.recount = true
		return
	}
	var pools []string
	for _, p := range m.poolOrder {
		if p.want.Check == "" && p.want.Max > 0 {
			pools = append(pools, p.name())
		}
	}
	w.counting, w.recount, w.ordered = true, false, m.turn
	m.do(fxCount{pools: pools})
}

func (m *machine) countedWork(now time.Time, in inCounted) {
	w := &m.work
	ordered := w.ordered
	w.counting, w.told = false, m.turn
	defer m.seekLeavers()
	defer m.chosen(now, ordered)
	if w.recount {
		m.count()
	}
	m.lose(&w.uncounted, "work cannot be counted", in.err)
	if in.unknown { // who is at work in the other stores is not to be drained for the one that has never answered
		m.known(in)
		m.strand(now)
		return
	}
	w.asOf = now
	if in.unchanged {
		return
	}
	if !w.counted || w.counts.Open != in.work.Open || w.counts.InProgress != in.work.InProgress || !maps.Equal(w.counts.Pools, in.work.Pools) {
		m.changed = true
	}
	defer m.strand(now)
	m.known(in)
	w.counts, w.counted = in.work, true
	for _, p := range m.poolOrder {
		if p.want.Check == "" {
			m.size(now, p)
		}
	}
}

// known takes what was seen of work, whether or not all stores have answered.
func (m *machine) known(in inCounted) {
	w := &m.work
	if !maps.Equal(w.tasks, in.tasks) || !maps.Equal(w.gated, in.gated) || !maps.Equal(w.rigs, in.rigs) || !maps.Equal(w.mail, in.mail) {
		m.changed = true
	}
	w.rigs, w.tasks, w.gated, w.held, w.mail = in.rigs, in.tasks, in.gated, in.held, in.mail
}

// uncountedReason is the reason of a size that is to follow work which nobody has counted so far: why not.
func (m *machine) uncountedReason(p *poolRecord) string {
	what, waits := strings.CutSuffix(p.why, unanswered)
	if !waits {
		return p.why
	}
	return what + ": " + orDefault(m.work.uncounted, "its work has not been counted yet")
}
