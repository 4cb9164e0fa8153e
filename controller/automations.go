package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/beads/guard"
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
	depth   map[string]int               // of runs whose end is not told yet, by bead; see automation.Depth
	newest  uint64                       // event of the log when it was
	swept   bool                         // runs that a predecessor left open are closed
	order   bool                         // a sweep is in flight

	scanning, rescan bool
	follow           uint64   // the newest effect that hands them in
	followed         uint64   // events after this are being handed to runs
	listens          []string // to these types
	deaf             string   // why nothing is handed in, or was until the newest patrol
	cut              bool     // nothing is handed in until the next patrol

	goes   map[string]*city.Run // runs in flight by scoped name; ID "" = its record is being made
	last   map[string]*city.Run // the newest run of each automation
	early  []early
	firing map[string][]uint64  // commands that wait for a run to be opened
	halts  map[string][]uint64  // commands that wait for a run to be ended, by bead
	failed map[string]*city.Run // the newest run of each automation that failed
	begin  []fxRun              // runs that begin once the memory of them is written
	unshut map[string]fxShut    // records that could not be closed, by bead

	saved   uint64 // revision of what is remembered that is on the disk
	saving  bool
	unsaved string    // why it is not on the disk
	forgot  string    // why it is not known what they did before
	begun   time.Time // the first patrol
	unread  string    // why folders of automations cannot be read
	unswept string    // why the records of runs are not known
	odd     string    // which of them cannot be closed, and why
	lost    string    // why records of runs cannot be made

	strays time.Time // when records are looked for of runs that were given up; zero = there can be none

	unclosed   string // why records of runs cannot be closed
	uncounted  string // why not all work is counted
	unpurged   string // why old work is not removed
	unreturned string // why work is not given back
	stores     []guard.Trouble
	storesRev  uint64
	probing    bool // stores that failed are being tried

	counting bool
	ordered  uint64 // the turn in which the newest count began
	told     uint64 // and the one in which one came back
	recount  bool   // work has changed since the count in flight began, perhaps
	counted  bool
	asOf     time.Time // when the counts were last known to hold
	counts   city.Work
	rigs     map[string]city.RigWork
	held     map[string]holding   // by assignee: what he has been given and has not done
	astray   map[string]time.Time // since when those of them do not run who will not by themselves
	stranded []city.Stranded      // of whom a person should know
	former   map[string]bool      // agents that are declared no more
	leavers  map[string]string    // the pools of members that have left for good, and whose work is still theirs
	leaving  []leaver             // of whom work is being given back just now
	failing  bool                 // that has failed, and is tried again with the next patrol
	tasks    map[string]string    // by assignee: the newest work of his in progress
	gated    map[string]string    // by assignee: the gate that this work awaits
	mail     city.MailTally
	purged   time.Time
	purging  bool

	backedUp  time.Time // when the last look for backups that are due began
	backingUp bool
	unbacked  string // why there is no backup
}

func newWork() work {
	return work{runs: automation.NewRuns(0), deeds: map[string]automation.Memory{}, depth: map[string]int{}, goes: map[string]*city.Run{}, last: map[string]*city.Run{}, failed: map[string]*city.Run{},
		firing: map[string][]uint64{}, halts: map[string][]uint64{}, unshut: map[string]fxShut{}, leavers: map[string]string{}, former: map[string]bool{}}
}

// scan orders a look at the folders of automations.
func (m *machine) scan() {
	w := &m.work
	if m.conf == nil || m.conf.nowork || m.ending != alive || m.settling || m.away != "" {
		return
	}
	if w.scanning {
		w.rescan = true
		return
	}
	w.scanning, w.rescan = true, false
	m.do(fxScan{layers: m.conf.layers, rigs: m.conf.rigs, options: m.conf.automations})
}

// scanned takes what was found. Runs that a predecessor left open are closed before any begins.
func (m *machine) scanned(now time.Time, in inScanned) {
	w := &m.work
	w.scanning = false
	if w.rescan {
		m.scan()
	}
	if in.away {
		return
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
	forgotten := func(name string, _ *city.Run) bool { return !w.runs.Remembers(name) }
	maps.DeleteFunc(w.last, forgotten)
	maps.DeleteFunc(w.failed, forgotten)
	m.listen()
	m.fireEarly(now)
	m.turnRuns(now)
}

func (m *machine) sweepRuns() {
	if w := &m.work; !w.swept && !w.order {
		w.order = true
		var of []string
		for _, name := range slices.Sorted(maps.Keys(w.deeds)) {
			if d := w.deeds[name]; !d.Last.IsZero() && d.Gone.IsZero() {
				of = append(of, name)
			}
		}
		m.do(fxSweep{of: of})
	}
}

// runsSwept takes what the records of runs say: those that were open are over, and the newest of each automation is shown.
func (m *machine) runsSwept(now time.Time, in inSwept) {
	w := &m.work
	w.order = false
	m.inheritRuns(&in)
	if in.err != nil { // tried again by the next patrol
		m.lose(&w.unswept, "work cannot be read", in.err)
		m.fireEarly(now)
		return
	}
	m.note(&w.unswept, "")
	if in.odd != "" {
		m.note(&w.odd, "the records of runs that are over cannot be closed; look at them with gcity bead show: "+in.odd)
	}
	w.swept, m.changed = true, true
	for _, r := range slices.Backward(in.runs) {
		if r.Outcome == city.RunVoid {
			continue
		}
		if w.known && r.Seq > w.newest { // of a log that is no more
			r.Seq = 0
		}
		w.deeds[r.Automation] = w.deeds[r.Automation].Note(r.Opened, r.Outcome == string(automation.Interrupted), r.Seq, r.Retry)
		if before := w.last[r.Automation]; before == nil || before.Opened.Before(r.Opened) {
			w.last[r.Automation] = &r
		}
	}
	for name, r := range w.last {
		if r.Ended != nil && r.Outcome == string(automation.OK) {
			w.deeds[name] = w.deeds[name].Well(*r.Ended)
		}
	}
	w.runs.Recall(w.deeds)
	w.deeds = nil
	m.loadRuns(now)
}

// turnRuns judges all automations and begins what is due.
func (m *machine) turnRuns(now time.Time) {
	w := &m.work
	if !w.known || !w.swept || m.ending != alive || m.settling || m.away != "" {
		return
	}
	deeds := w.runs.Turn(now, automation.World{Suspended: m.rests, Patrol: m.conf.patrol, Closed: m.storeProblem(""), Ending: m.isShutting})
	for _, p := range deeds.Passed {
		m.do(fxRecord{event: events.Event{Type: events.AutomationSkipped, Actor: controller, Subject: p.Scoped, Message: p.Reason, Payload: depthOf(p.Depth)}})
	}
	for _, d := range deeds.Check {
		m.do(fxCondition{in: m.conf.source, of: d})
	}
	for _, r := range deeds.Open {
		w.goes[r.Definition.Scoped()] = &city.Run{}
		m.do(fxOpen{r})
	}
	m.unfired()
	if deeds.Said || len(deeds.Check)+len(deeds.Open)+len(deeds.Passed) > 0 {
		m.changed = true
	}
	m.memorise()
}

// rests says why the automations of a rig do not fire by themselves.
func (m *machine) rests(rig string) string {
	for i := range m.conf.rigs {
		if r := &m.conf.rigs[i]; r.Name == rig && r.Suspended {
			return "with rig " + rig
		}
	}
	if m.conf.suspended {
		return "with the city"
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
		w.strays = now.Add(strayWait)
		m.lose(&w.lost, "no record of a run can be made, so none runs", in.err)
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Unavailable, fmt.Sprintf("automation %s cannot be run: no record of it could be made: %v", name, in.err))
		}
		delete(w.firing, name)
		return
	}
	m.note(&w.lost, "")
	run := city.RunOf(in.bead)
	w.goes[name], w.last[name], w.depth[run.ID] = &run, &run, in.run.Depth
	w.runs.Opened(name, now)
	var answers []answer
	for _, id := range w.firing[name] {
		answers = append(answers, answer{id: id, receipt: city.Receipt{Message: fmt.Sprintf("automation %s runs, as %s", name, run.ID), Bead: &in.bead}})
	}
	delete(w.firing, name)
	m.tellRun(fxShut{run: run, kind: events.AutomationFired, msg: run.Reason}, answers...)
	if m.ending != alive {
		m.neverBegun(name)
		return
	}
	w.begin = append(w.begin, fxRun{in: m.conf.source, run: in.run, bead: in.bead.ID, memory: w.runs.Rev(), failed: w.failed[in.run.Follows]})
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
	ending, done := *run, *run
	ending.Outcome = string(in.outcome)
	w.last[in.scoped] = &ending
	done.Ended, done.Outcome, done.Code, done.Error, done.Output, done.Made = &now, string(in.outcome), in.code, in.problem, in.output, in.made
	done.TimedOut = in.timedOut
	m.changed = true
	kind, msg := endOf(&done, in.took)
	delete(w.failed, in.scoped)
	if in.outcome == automation.Failed {
		w.failed[in.scoped] = &done
	}
	if in.halted {
		w.runs.Halted(in.scoped, now)
	} else {
		w.runs.Ended(in.scoped, in.outcome, now)
	}
	m.halted(&done)
	if in.made != "" {
		m.do(fxRecord{event: events.Event{Type: events.BeadCreated, Actor: controller, Subject: in.made, Message: in.title,
			Payload: payload(map[string]any{"status": beads.StatusOpen, "depth": w.depth[run.ID] + 1})}})
	}
	m.shut(fxShut{run: done, formula: in.formula, kind: kind, msg: msg, again: m.again(in.scoped)})
	m.memorise()
	m.count()
	m.turnRuns(now)
}

// tellRun records an event about a run: its beginning or its end.
func (m *machine) tellRun(f fxShut, answers ...answer) {
	r, msg := f.run, f.msg
	about := map[string]any{"run": r.ID, "depth": m.work.depth[r.ID] + 1}
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
	if r.TimedOut {
		about["timed_out"] = true
	}
	if f.again != nil {
		about["again"] = f.again
		msg += fmt.Sprintf("; tried again (%d of %d)", f.again.Try, f.again.Of)
	}
	m.do(fxRecord{event: events.Event{Type: f.kind, Actor: cmp.Or(r.By, controller), Subject: r.Automation, Message: msg, Payload: payload(about)}, answers: answers})
}

// forgotShown is how long it is told at least that nothing was known of before.
const forgotShown = time.Hour

// workPatrol is the patrol's part in all this.
func (m *machine) workPatrol(now time.Time) {
	w := &m.work
	if w.begun.IsZero() {
		w.begun = now
	}
	if w.saved > 0 && now.Sub(w.begun) > forgotShown { // it is known anew, and somebody has seen this
		m.note(&w.forgot, "")
		m.note(&w.odd, "")
	}
	m.scan()
	m.probe(now)
	m.retryWork(now)
	m.purge(now)
	m.backUp(now)
}

// retryWork does what could not be done before.
func (m *machine) retryWork(now time.Time) {
	w := &m.work
	if w.known {
		m.sweepRuns()
	}
	m.hear()
	m.shutAgain()
	m.seekStrays(now)
	m.count()
	m.turnRuns(now)
}
