package controller

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/events"
)

// work is what the machine knows of automations and of what is to be done. When which automation runs is decided by
// automation.Runs; here its deeds become effects, and what comes of them is told to it.
type work struct {
	runs    *automation.Runs
	catalog automation.Catalog
	known   bool                         // the catalog has been seen
	deeds   map[string]automation.Memory // as the controller before left them; nil once they are recalled
	depth   map[string]int               // of runs that go, see automation.Depth
	newest  uint64                       // event of the log when it was
	swept   bool                         // runs that a predecessor left open are closed
	order   bool                         // a sweep is in flight

	scanning, rescan bool
	followed         uint64   // events after this are being handed to runs
	listens          []string // to these types

	goes   map[string]*city.Run // runs in flight by scoped name; ID "" = its record is being made
	last   map[string]*city.Run // the newest run of each automation
	firing map[string][]uint64  // commands that wait for a run to be opened
	begin  []fxRun              // runs that begin once the memory of them is written
	unshut map[string]fxShut    // records that could not be closed, by bead

	saved   uint64 // revision of what is remembered that is on the disk
	saving  bool
	unsaved string // why it is not on the disk
	forgot  string // why it is not known what they did before
	unread  string // why folders of automations cannot be read
	lost    string // why work cannot be read, or its records written

	counting bool
	counted  bool
	counts   city.Work
	purged   time.Time
	purging  bool
}

func newWork() work {
	return work{runs: automation.NewRuns(0), deeds: map[string]automation.Memory{}, depth: map[string]int{}, goes: map[string]*city.Run{}, last: map[string]*city.Run{}, firing: map[string][]uint64{},
		unshut: map[string]fxShut{}}
}

// scan orders a look at the folders of automations.
func (m *machine) scan() {
	w := &m.work
	if m.conf == nil || m.conf.nowork || m.ending != alive || m.settling {
		return
	}
	if w.scanning {
		w.rescan = true
		return
	}
	w.scanning, w.rescan = true, false
	m.do(fxScan{layers: m.conf.layers, options: m.conf.automations})
}

// scanned takes what was found. Runs that a predecessor left open are closed before any begins.
func (m *machine) scanned(now time.Time, in inScanned) {
	w := &m.work
	w.scanning = false
	if w.rescan {
		m.scan()
	}
	m.note(&w.unread, in.trouble)
	if w.known && w.catalog.Revision == in.catalog.Revision {
		return
	}
	w.catalog, w.known, w.newest, m.changed = in.catalog, true, in.newest, true
	m.sweepRuns()
	m.loadRuns(now)
}

// loadRuns lets the automations that were found come into force, once it is known what the records say of them.
func (m *machine) loadRuns(now time.Time) {
	w := &m.work
	if !w.swept || !w.known {
		return
	}
	w.runs.Load(w.catalog.Automations, w.newest, now)
	m.listen()
	m.turnRuns(now)
}

func (m *machine) sweepRuns() {
	if w := &m.work; !w.swept && !w.order {
		w.order = true
		m.do(fxSweep{})
	}
}

// runsSwept takes what the records of runs say: those that were open are over, and the newest of each automation is shown.
func (m *machine) runsSwept(now time.Time, in inSwept) {
	w := &m.work
	w.order = false
	if in.err != nil { // tried again by the next patrol
		m.note(&w.lost, "work cannot be read: "+in.err.Error())
		return
	}
	m.note(&w.lost, "")
	w.swept, m.changed = true, true
	for i := range in.runs {
		r := in.runs[i]
		w.deeds[r.Automation] = w.deeds[r.Automation].Note(r.Opened, r.Outcome == string(automation.Interrupted), r.Seq)
		if before := w.last[r.Automation]; before == nil || before.Opened.Before(r.Opened) {
			w.last[r.Automation] = &r
		}
	}
	for _, r := range in.interrupted {
		m.tellRun(events.AutomationFailed, r, "interrupted: its controller ended before it did")
	}
	w.runs.Recall(w.deeds)
	w.deeds = nil
	m.loadRuns(now)
}

// listen sees to it that the events somebody waits for are handed in.
func (m *machine) listen() {
	w := &m.work
	from, ok := w.runs.From()
	if !ok {
		return
	}
	var on []string
	for _, d := range w.catalog.Automations {
		if d.Gate == automation.Event && !slices.Contains(on, d.On) {
			on = append(on, d.On)
		}
	}
	slices.Sort(on)
	if slices.Equal(on, w.listens) && from >= w.followed {
		return
	}
	w.listens, w.followed = on, from
	m.do(fxFollow{after: from, types: on})
}

// happened takes events that automations wait for.
func (m *machine) happened(now time.Time, in inHappened) {
	for _, e := range in.events {
		m.work.runs.See(e)
		m.work.followed = max(m.work.followed, e.Seq)
	}
	m.turnRuns(now)
}

// turnRuns judges all automations and begins what is due.
func (m *machine) turnRuns(now time.Time) {
	w := &m.work
	if !w.known || !w.swept || m.ending != alive || m.settling {
		return
	}
	deeds := w.runs.Turn(now, automation.World{Suspended: m.rests, Patrol: m.conf.patrol})
	for _, p := range deeds.Passed {
		m.do(fxRecord{event: events.Event{Type: events.AutomationSkipped, Actor: controller, Subject: p.Scoped, Message: p.Reason}})
	}
	for _, d := range deeds.Check {
		m.do(fxCondition{in: m.conf.source, of: d})
	}
	for _, r := range deeds.Open {
		w.goes[r.Definition.Scoped()] = &city.Run{}
		m.do(fxOpen{r})
	}
	if len(deeds.Check)+len(deeds.Open)+len(deeds.Passed) > 0 {
		m.changed = true
	}
	m.memorise()
}

// rests says why the automations of a rig do not fire by themselves.
func (m *machine) rests(rig string) string {
	for i := range m.conf.rigs {
		if r := &m.conf.rigs[i]; r.Name == rig && r.Suspended {
			return "by rig " + rig
		}
	}
	if m.conf.suspended {
		return "by city"
	}
	return ""
}

// opened takes the record of a run: it begins when what the next controller must know of it is on the disk (L4).
func (m *machine) opened(now time.Time, in inOpened) {
	w, name := &m.work, in.run.Definition.Scoped()
	m.changed = true
	if in.err != nil {
		delete(w.goes, name)
		w.runs.Unopened(name, in.err.Error(), now)
		m.note(&w.lost, "no record of a run can be made, so none runs: "+in.err.Error())
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Unavailable, fmt.Sprintf("automation %s cannot be run: no record of it could be made: %v", name, in.err))
		}
		delete(w.firing, name)
		return
	}
	m.note(&w.lost, "")
	run := city.RunOf(in.bead)
	w.goes[name], w.last[name], w.depth[name] = &run, &run, in.run.Depth
	w.runs.Opened(name, now)
	var answers []answer
	for _, id := range w.firing[name] {
		answers = append(answers, answer{id: id, receipt: city.Receipt{Message: fmt.Sprintf("automation %s runs, as %s", name, run.ID), Bead: &in.bead}})
	}
	delete(w.firing, name)
	m.tellRun(events.AutomationFired, run, run.Reason, answers...)
	w.begin = append(w.begin, fxRun{in: m.conf.source, run: in.run, bead: in.bead.ID, memory: w.runs.Rev()})
	m.memorise()
	m.turnRuns(now)
}

// ran takes the end of a run. Its record is closed by an effect of its own, which is tried again until it succeeds.
func (m *machine) ran(now time.Time, in inRan) {
	w := &m.work
	run := w.goes[in.scoped]
	if run == nil || run.ID != in.bead {
		return
	}
	delete(w.goes, in.scoped)
	done := *run
	done.Ended, done.Outcome, done.Code, done.Error, done.Output, done.Made = &now, string(in.outcome), in.code, in.problem, in.output, in.made
	m.changed = true
	kind, msg := events.AutomationCompleted, "ok in "+in.took.Round(time.Millisecond).String()
	if in.made != "" {
		msg = fmt.Sprintf("made %s in %s", in.made, in.took.Round(time.Millisecond))
	}
	if in.outcome != automation.OK {
		kind, msg = events.AutomationFailed, cmp.Or(in.problem, fmt.Sprintf("%s after %s", in.outcome, in.took.Round(time.Millisecond)))
	}
	m.shut(fxShut{run: done, formula: in.formula, kind: kind, msg: msg})
	w.runs.Ended(in.scoped, in.outcome, now)
	m.memorise()
	m.count()
	m.turnRuns(now)
}

func (m *machine) shut(f fxShut) {
	m.work.unshut[f.run.ID] = f
	m.do(f)
}

// shutRun takes the result of closing a record.
func (m *machine) shutRun(in inShut) {
	f, ok := m.work.unshut[in.bead]
	if !ok {
		return
	}
	if f.kind != "" { // told once its end is on record, or cannot be for now
		m.tellRun(f.kind, f.run, f.msg)
		f.kind, m.changed = "", true
		if now := m.work.last[f.run.Automation]; now == nil || now.ID == f.run.ID {
			ended := f.run
			m.work.last[f.run.Automation] = &ended
		}
	}
	if in.err == nil {
		delete(m.work.unshut, in.bead)
		return
	}
	f.failed = true
	m.work.unshut[in.bead] = f
	m.note(&m.work.lost, "the record of a run cannot be closed: "+in.err.Error())
}

// tellRun records an event about a run.
func (m *machine) tellRun(kind string, r city.Run, msg string, answers ...answer) {
	about := map[string]any{"run": r.ID, "depth": m.work.depth[r.Automation] + 1}
	if r.Ended != nil {
		about["duration_ms"] = r.Ended.Sub(r.Opened).Milliseconds()
		about["outcome"] = r.Outcome
	}
	if r.Code != nil {
		about["code"] = *r.Code
	}
	if r.Made != "" {
		about["made"] = r.Made
	}
	m.do(fxRecord{event: events.Event{Type: kind, Actor: cmp.Or(r.By, controller), Subject: r.Automation, Message: msg, Payload: payload(about)}, answers: answers})
}

// memorise has what is to be remembered of automations written down, and lets those runs begin of which it is.
func (m *machine) memorise() {
	w := &m.work
	if rev := w.runs.Rev(); rev != w.saved && !w.saving {
		data, err := json.Marshal(w.runs.Memory())
		if err != nil {
			m.note(&w.unsaved, err.Error())
			return
		}
		w.saving = true
		m.do(fxMemorise{rev: rev, memory: data})
	}
	if w.saving || w.saved != w.runs.Rev() && w.unsaved == "" {
		return
	}
	w.begin = slices.DeleteFunc(w.begin, func(f fxRun) bool {
		if f.memory > w.saved && w.unsaved == "" {
			return false
		}
		m.do(f)
		return true
	})
}

// memorised takes the result. What cannot be written down does not keep runs from going: degraded beats dead.
func (m *machine) memorised(now time.Time, in inMemorised) {
	w := &m.work
	w.saving = false
	if in.err != nil {
		m.note(&w.unsaved, "what automations have done cannot be remembered: "+in.err.Error())
	} else {
		w.saved = in.rev
		m.note(&w.unsaved, "")
		m.memorise()
		return
	}
	for _, f := range w.begin {
		m.do(f)
	}
	w.begin = nil
}

// workPatrol is the patrol's part in all this.
func (m *machine) workPatrol(now time.Time) {
	w := &m.work
	m.scan()
	if w.known {
		m.sweepRuns()
	}
	for _, id := range slices.Sorted(maps.Keys(w.unshut)) {
		if f := w.unshut[id]; f.failed {
			f.failed = false
			m.shut(f)
		}
	}
	m.count()
	m.purge(now)
	m.turnRuns(now)
}
