package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/suggest"
)

// endRun ends the run of an automation that goes. It is answered when nothing of it is left.
func (m *Machine) endRun(now time.Time, id uint64, c city.EndRun) {
	w, name := &m.work, c.Automation
	if err := city.CheckBy(c.By); err != nil {
		m.refuseID(id, err.Code, err.Message)
		return
	}
	run, by := w.goes[name], cmp.Or(c.By, effect.ActorOperator)
	switch {
	case run == nil && !m.automated(name):
		m.refuseID(id, city.NotFound, suggest.NotFound("automation", name, m.automationNames()))
		return
	case run == nil && w.runs.Awaits(name):
		m.refuseID(id, city.Conflict, "no run of "+name+" goes: one is due, and waits to be begun")
		return
	case run == nil:
		m.refuseID(id, city.Conflict, "no run of "+name+" goes: there is nothing to end")
		return
	case run.ID == "":
		m.refuseID(id, city.Conflict, "the run of "+name+" is just being begun: try again "+
			"in a moment")
		return
	}
	w.halts[run.ID] = append(w.halts[run.ID], id)
	bead := run.ID
	if i := slices.IndexFunc(w.begin, func(f effect.Run) bool { return f.Bead == bead }); i >= 0 {
		f := w.begin[i]
		w.begin = slices.Delete(w.begin, i, i+1)
		m.ran(now, effect.RunEnded{Scoped: name, Bead: bead, Outcome: automation.Failed,
			Problem: (&effect.Halt{Who: by}).Error() + " before it began",
			Formula: f.Run.Definition.Formula != "", Halted: true})
		return
	}
	m.do(effect.CancelRun{Bead: bead, By: by})
}

// halted answers those who wanted a run ended, now that it has.
func (m *Machine) halted(run *city.Run) {
	for _, id := range m.work.halts[run.ID] {
		m.reply(id, fmt.Sprintf("the run %s of %s has ended: %s", run.ID, run.Automation,
			cmp.Or(run.Error, run.Outcome)))
	}
	delete(m.work.halts, run.ID)
}

// automated reports whether there is, or was, an automation of a name.
func (m *Machine) automated(name string) bool {
	return m.work.runs.Remembers(name) || slices.Contains(m.automationNames(), name)
}

func (m *Machine) automationNames() []string {
	var names []string
	for _, d := range m.work.catalog.Automations {
		names = append(names, d.Scoped())
	}
	for _, b := range m.work.catalog.Broken {
		names = append(names, b.Scoped())
	}
	return names
}
