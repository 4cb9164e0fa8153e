package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/events"
)

// fire runs an automation by hand.
func (m *machine) fire(now time.Time, id uint64, c city.Fire) {
	w := &m.work
	if i := slices.IndexFunc(w.catalog.Broken, func(b automation.Broken) bool { return b.Scoped() == c.Automation }); i >= 0 {
		m.refuseID(id, city.Conflict, fmt.Sprintf("automation %s cannot be run: %s", c.Automation, w.catalog.Broken[i].Problems.Error()))
		return
	}
	names := make([]string, 0, len(w.catalog.Automations))
	for _, d := range w.catalog.Automations {
		names = append(names, d.Scoped())
	}
	if !slices.Contains(names, c.Automation) {
		m.refuseID(id, city.NotFound, notCalled("automation", c.Automation, names))
		return
	}
	if !w.swept {
		m.refuseID(id, city.Unavailable, "automations cannot be run yet: "+cmp.Or(w.lost, "the records of earlier runs are being read"))
		return
	}
	running := w.goes[c.Automation] != nil
	if err := w.runs.Fire(c.Automation, cmp.Or(c.By, operator), now); err != nil {
		m.refuseID(id, city.Conflict, "automation "+c.Automation+" is not run: "+err.Error())
		return
	}
	if running {
		m.reply(id, "automation "+c.Automation+" runs; it is run once more when that run has ended")
		return
	}
	w.firing[c.Automation] = append(w.firing[c.Automation], id)
	m.turnRuns(now)
}

// endRuns ends what goes, with the city; what waits does not begin.
func (m *machine) endRuns() {
	w := &m.work
	for _, name := range slices.Sorted(maps.Keys(w.firing)) {
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Unavailable, "automation "+name+" is not run: the city is being stopped")
		}
	}
	clear(w.firing)
	for _, f := range w.begin { // on record, but never begun
		name := f.run.Definition.Scoped()
		if run := w.goes[name]; run != nil {
			done := *run
			done.Outcome, done.Error = string(automation.Interrupted), "the city was stopped before it began"
			m.shut(fxShut{run: done, kind: events.AutomationFailed, msg: done.Error})
			delete(w.goes, name)
		}
	}
	w.begin = nil
	if len(w.goes) > 0 {
		m.do(fxEndRuns{})
	}
}
