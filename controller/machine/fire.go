package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// early is a command to fire that came before it was known what there is, and what went before.
type early struct {
	id   uint64
	fire city.Fire
}

// fireEarly carries out what came too early, or refuses it.
func (m *Machine) fireEarly(now time.Time) {
	all := m.work.early
	m.work.early = nil
	for _, e := range all {
		m.fire(now, e.id, e.fire)
	}
}

// fire runs an automation by hand.
func (m *Machine) fire(now time.Time, id uint64, c city.Fire) {
	w := &m.work
	if err := city.CheckBy(c.By); err != nil {
		m.refuseID(id, err.Code, err.Message)
		return
	}
	if (!w.known || !w.swept) && w.unswept == "" && m.storeProblem("") == "" && m.ending == alive &&
		m.conf != nil && !m.conf.NoWork {
		w.early = append(w.early, early{id, c})
		return
	}
	if i := slices.IndexFunc(w.catalog.Broken, func(b automation.Broken) bool {
		return b.Scoped() == c.Automation
	}); i >= 0 {
		m.refuseID(id, city.Conflict, fmt.Sprintf("automation %s cannot be run: %s", c.Automation,
			w.catalog.Broken[i].Problems.Error()))
		return
	}
	if !w.known && (m.conf == nil || !m.conf.NoWork) {
		m.refuseID(id, city.Unavailable, "automations cannot be run yet: their folders "+
			"are being read")
		return
	}
	names := make([]string, 0, len(w.catalog.Automations))
	for _, d := range w.catalog.Automations {
		names = append(names, d.Scoped())
	}
	if !slices.Contains(names, c.Automation) {
		m.refuseID(id, city.NotFound, suggest.NotFound("automation", c.Automation, names))
		return
	}
	if m.ending != alive {
		m.refuseID(id, city.Unavailable, "automation "+c.Automation+
			" is not run: the city is being stopped")
		return
	}
	if !w.swept {
		m.refuseID(id, city.Unavailable, "automations cannot be run yet: "+
			cmp.Or(m.storeProblem(""), w.unknown()))
		return
	}
	if closed := m.storeProblem(""); closed != "" {
		m.refuseID(id, city.Unavailable, "automation "+c.Automation+" is not run, since no "+
			"record of it can be made: "+closed)
		return
	}
	running, queued := w.goes[c.Automation] != nil, w.runs.Queued(c.Automation)
	if err := w.runs.Fire(c.Automation, cmp.Or(c.By, effect.ActorOperator), now); err != nil {
		m.refuseID(id, city.Conflict, "automation "+c.Automation+" is not run: "+err.Error())
		return
	}
	m.memorise()
	switch {
	case queued:
		m.reply(id, "automation "+c.Automation+" runs, and one more run of it is queued already: "+
			"this asks for no other")
		return
	case running:
		m.reply(id, "automation "+c.Automation+" runs; one more run of it is queued and begins "+
			"when that one has ended")
		return
	}
	w.firing[c.Automation] = append(w.firing[c.Automation], id)
	m.changed = true // it is due, if there is no place for it
	m.turnRuns(now)
}

// unfire takes back what somebody has asked for by hand who is gone, unless its run is being opened or others ask
// for it too.
func (m *Machine) unfire(now time.Time, id uint64) {
	w := &m.work
	w.early = slices.DeleteFunc(w.early, func(e early) bool { return e.id == id })
	for _, name := range slices.Sorted(maps.Keys(w.firing)) {
		rest := slices.DeleteFunc(w.firing[name], func(other uint64) bool { return other == id })
		if w.firing[name] = rest; len(rest) > 0 {
			continue
		}
		delete(w.firing, name)
		if w.runs.Withdraw(name) {
			m.changed = true
			m.turnRuns(now)
		}
	}
}

// unfired answers commands whose automation will not run after all: it has been disabled, or is no more.
func (m *Machine) unfired() {
	w := &m.work
	if len(w.firing) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.firing)) {
		if w.runs.Awaits(name) {
			continue
		}
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Conflict, "automation "+name+" is not run: it was disabled or "+
				"removed before there was a place for its run")
		}
		delete(w.firing, name)
	}
}

// endRuns ends what goes, with the city; what waits does not begin.
func (m *Machine) endRuns() {
	w := &m.work
	m.fireEarly(time.Time{})
	for _, name := range slices.Sorted(maps.Keys(w.firing)) {
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Unavailable, "automation "+name+
				" is not run: the city is being stopped")
		}
	}
	clear(w.firing)
	for _, f := range w.begin { // on record, but never begun
		m.neverBegun(f.Run.Definition.Scoped())
	}
	w.begin = nil
	if len(w.goes) > 0 {
		m.do(effect.CancelRuns{})
	}
}

// neverBegun ends a run that is on record, and that the end of the city overtook.
func (m *Machine) neverBegun(name string) {
	w := &m.work
	if run := w.goes[name]; run != nil {
		done := *run
		done.Outcome, done.Error = string(automation.Interrupted),
			"the city was stopped before it began"
		m.shut(effect.CloseRun{Run: done, Kind: events.AutomationFailed, Msg: done.Error})
		delete(w.goes, name)
	}
}

// depthOf is the payload of an event that is so deep within runs; nil for one that no run has caused.
func depthOf(depth int) json.RawMessage {
	if depth <= 1 {
		return nil
	}
	return payload(map[string]any{"depth": depth})
}
