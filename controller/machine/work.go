package machine

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// beadCommand makes or changes a piece of work.
func (m *Machine) beadCommand(id uint64, c city.Command) { m.do(effect.ChangeBead{ID: id, Cmd: c}) }

// beadDone takes the result.
func (m *Machine) beadDone(in effect.BeadChanged) {
	if in.Err != nil {
		for _, e := range in.Events { // some of it has happened
			m.do(effect.Record{Event: e})
		}
		m.do(effect.Reply{Answer: effect.Answer{ID: in.ID, Err: in.Err}})
		if len(in.Events) > 0 {
			m.count()
		}
		return
	}
	if len(in.Events) == 0 {
		m.do(effect.Reply{Answer: effect.Answer{ID: in.ID,
			Receipt: city.Receipt{Message: cmp.Or(in.Message, in.Bead.ID+" is so already"),
				Bead: &in.Bead}}})
		return
	}
	for i, e := range in.Events {
		f := effect.Record{Event: e}
		if i == len(in.Events)-1 {
			_, verb, _ := strings.Cut(e.Type, ".")
			f.Answers = []effect.Answer{{ID: in.ID,
				Receipt: city.Receipt{Message: cmp.Or(in.Message, verb+" "+in.Bead.ID),
					Bead: &in.Bead}}}
		}
		m.do(f)
	}
	m.count()
}

// count orders the open work to be counted: of all, and of each pool that has no check.
func (m *Machine) count() {
	w := &m.work
	if m.conf == nil || m.conf.NoWork || m.ending != alive {
		return
	}
	if w.counting {
		w.recount = true
		return
	}
	var pools []string
	for _, p := range m.sizes.poolOrder {
		if p.want.Check == "" && p.want.Max > 0 {
			pools = append(pools, p.name())
		}
	}
	w.counting, w.recount, w.ordered = true, false, m.turn
	m.do(effect.CountWork{Pools: pools})
}

func (m *Machine) countedWork(now time.Time, in effect.WorkCounted) {
	w := &m.work
	ordered := w.ordered
	w.counting, w.told = false, m.turn
	defer m.seekLeavers()
	defer m.sizes.chosen(now, ordered)
	if w.recount {
		m.count()
	}
	m.lose(&w.uncounted, "work cannot be counted", in.Err)
	// who is at work in the other stores is not to be drained for the one that has never answered
	if in.Unknown {
		m.known(in)
		m.strand(now)
		return
	}
	w.asOf = now
	if in.Unchanged {
		return
	}
	if !w.counted || w.counts.Open != in.Work.Open || w.counts.InProgress != in.Work.InProgress ||
		!maps.Equal(w.counts.Pools, in.Work.Pools) {
		m.changed = true
	}
	defer m.strand(now)
	m.known(in)
	w.counts, w.counted = in.Work, true
	for _, p := range m.sizes.poolOrder {
		if p.want.Check == "" {
			m.sizes.size(now, p)
		}
	}
}

// known takes what was seen of work, whether or not all stores have answered.
func (m *Machine) known(in effect.WorkCounted) {
	w := &m.work
	if !maps.Equal(w.tasks, in.Tasks) || !maps.Equal(w.gated, in.Gated) ||
		!maps.Equal(w.rigs, in.Rigs) || !maps.Equal(w.mail, in.Mail) {
		m.changed = true
	}
	w.rigs, w.tasks, w.gated, w.held, w.mail = in.Rigs, in.Tasks, in.Gated, in.Held, in.Mail
}

// uncountedReason is the reason of a size that is to follow work which nobody has counted so far: why not.
func (m *Machine) uncountedReason(p *poolRecord) string {
	what, waits := strings.CutSuffix(p.why, unanswered)
	if !waits {
		return p.why
	}
	return what + ": " + orDefault(m.work.uncounted, "its work has not been counted yet")
}
