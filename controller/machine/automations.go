package machine

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
	"gcity/controller/effect"
	"gcity/events"
)

// work is what the machine knows of automations and of what is to be done. When which automation runs is decided by
// automation.Runs; here its deeds become effects, and what comes of them is told to it.
type work struct {
	runs    *automation.Runs
	catalog automation.Catalog
	known   bool // the catalog has been seen
	// as the controller before left them; nil once they are recalled
	deeds map[string]automation.Memory
	// of runs whose end is not told yet, by bead; see automation.Depth
	depth            map[string]int
	newest           uint64 // event of the log when it was
	swept            bool   // runs that a predecessor left open are closed
	order            bool   // a sweep is in flight
	scanning, rescan bool
	follow           uint64   // the newest effect that hands them in
	followed         uint64   // events after this are being handed to runs
	listens          []string // to these types
	// why nothing is handed in, or was until the newest patrol
	deaf    string
	cut     bool                 // nothing is handed in until the next patrol
	goes    map[string]*city.Run // runs in flight by scoped name; ID "" = its record is being made
	last    map[string]*city.Run // the newest run of each automation
	early   []early
	firing  map[string][]uint64        // commands that wait for a run to be opened
	halts   map[string][]uint64        // commands that wait for a run to be ended, by bead
	failed  map[string]*city.Run       // the newest run of each automation that failed
	begin   []effect.Run               // runs that begin once the memory of them is written
	unshut  map[string]effect.CloseRun // records that could not be closed, by bead
	saved   uint64                     // revision of what is remembered that is on the disk
	saving  bool
	unsaved string    // why it is not on the disk
	forgot  string    // why it is not known what they did before
	begun   time.Time // the first patrol
	unread  string    // why folders of automations cannot be read
	unswept string    // why the records of runs are not known
	odd     string    // which of them cannot be closed, and why
	lost    string    // why records of runs cannot be made
	// when records are looked for of runs that were given up; zero = there can be none
	strays     time.Time
	unclosed   string // why records of runs cannot be closed
	uncounted  string // why not all work is counted
	unpurged   string // why old work is not removed
	unreturned string // why work is not given back
	stores     []guard.Trouble
	storesRev  uint64
	probing    bool // stores that failed are being tried
	counting   bool
	ordered    uint64 // the turn in which the newest count began
	told       uint64 // and the one in which one came back
	recount    bool   // work has changed since the count in flight began, perhaps
	counted    bool
	asOf       time.Time // when the counts were last known to hold
	counts     city.Work
	rigs       map[string]city.RigWork
	held       map[string]effect.Holding // by assignee: what he has been given and has not done
	// since when those of them do not run who will not by themselves
	astray   map[string]time.Time
	stranded []city.Stranded // of whom a person should know
	former   map[string]bool // agents that are declared no more
	// the pools of members that have left for good, and whose work is still theirs
	leavers   map[string]string
	leaving   []effect.Leaver   // of whom work is being given back just now
	failing   bool              // that has failed, and is tried again with the next patrol
	tasks     map[string]string // by assignee: the newest work of his in progress
	gated     map[string]string // by assignee: the gate that this work awaits
	mail      city.MailTally
	purged    time.Time
	purging   bool
	backedUp  time.Time // when the last look for backups that are due began
	backingUp bool
	unbacked  string // why there is no backup
}

func newWork() work {
	w := work{}
	w.runs = automation.NewRuns(0)
	w.deeds = map[string]automation.Memory{}
	w.depth = map[string]int{}
	w.goes = map[string]*city.Run{}
	w.last = map[string]*city.Run{}
	w.failed = map[string]*city.Run{}
	w.firing = map[string][]uint64{}
	w.halts = map[string][]uint64{}
	w.unshut = map[string]effect.CloseRun{}
	w.leavers = map[string]string{}
	w.former = map[string]bool{}
	return w
}

// scan orders a look at the folders of automations.
func (m *Machine) scan() {
	w := &m.work
	if m.conf == nil || m.conf.NoWork || m.ending != alive || m.settling || m.away != "" {
		return
	}
	if w.scanning {
		w.rescan = true
		return
	}
	w.scanning, w.rescan = true, false
	m.do(effect.Scan{Layers: m.conf.Layers, Rigs: m.conf.Rigs, Options: m.conf.Automations})
}

// scanned takes what was found. Runs that a predecessor left open are closed before any begins.
func (m *Machine) scanned(now time.Time, in effect.Scanned) {
	w := &m.work
	w.scanning = false
	if w.rescan {
		m.scan()
	}
	if in.Away {
		return
	}
	m.note(&w.unread, in.Trouble)
	if w.known && w.catalog.Revision == in.Catalog.Revision {
		return
	}
	w.catalog, w.known, w.newest, m.changed = in.Catalog, true, in.Newest, true
	m.sweepRuns()
	m.loadRuns(now)
}

// loadRuns lets the automations that were found come into force, once it is known what the records say of them.
func (m *Machine) loadRuns(now time.Time) {
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

func (m *Machine) sweepRuns() {
	if w := &m.work; !w.swept && !w.order {
		w.order = true
		var of []string
		for _, name := range slices.Sorted(maps.Keys(w.deeds)) {
			if d := w.deeds[name]; !d.Last.IsZero() && d.Gone.IsZero() {
				of = append(of, name)
			}
		}
		m.do(effect.SweepRuns{Of: of})
	}
}

// runsSwept takes what the records of runs say: those that were open are over, and the newest of each automation
// is shown.
func (m *Machine) runsSwept(now time.Time, in effect.RunsSwept) {
	w := &m.work
	w.order = false
	m.inheritRuns(&in)
	if in.Err != nil { // tried again by the next patrol
		m.lose(&w.unswept, "work cannot be read", in.Err)
		m.fireEarly(now)
		return
	}
	m.note(&w.unswept, "")
	if in.Odd != "" {
		m.note(&w.odd, "the records of runs that are over cannot be closed; look at them with "+
			"gcity bead show: "+in.Odd)
	}
	w.swept, m.changed = true, true
	for _, r := range slices.Backward(in.Runs) {
		if r.Outcome == city.RunVoid {
			continue
		}
		if w.known && r.Seq > w.newest { // of a log that is no more
			r.Seq = 0
		}
		w.deeds[r.Automation] = w.deeds[r.Automation].Note(r.Opened,
			r.Outcome == string(automation.Interrupted), r.Seq, r.Retry)
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
func (m *Machine) turnRuns(now time.Time) {
	w := &m.work
	if !w.known || !w.swept || m.ending != alive || m.settling || m.away != "" {
		return
	}
	deeds := w.runs.Turn(now, automation.World{Suspended: m.rests, Patrol: m.conf.Patrol,
		Closed: m.storeProblem(""), Ending: m.isShutting})
	for _, p := range deeds.Passed {
		m.do(effect.Record{Event: events.Event{Type: events.AutomationSkipped,
			Actor: effect.ActorController, Subject: p.Scoped, Message: p.Reason,
			Payload: depthOf(p.Depth)}})
	}
	for _, d := range deeds.Check {
		m.do(effect.CheckCondition{In: m.conf.Source, Of: d})
	}
	for _, r := range deeds.Open {
		w.goes[r.Definition.Scoped()] = &city.Run{}
		m.do(effect.OpenRun{Run: r})
	}
	m.unfired()
	if deeds.Said || len(deeds.Check)+len(deeds.Open)+len(deeds.Passed) > 0 {
		m.changed = true
	}
	m.memorise()
}

// rests says why the automations of a rig do not fire by themselves.
func (m *Machine) rests(rig string) string {
	for i := range m.conf.Rigs {
		if r := &m.conf.Rigs[i]; r.Name == rig && r.Suspended {
			return "with rig " + rig
		}
	}
	if m.conf.Suspended {
		return "with the city"
	}
	return ""
}

// opened takes the record of a run: it begins when what the next controller must know of it is on the disk (L4).
func (m *Machine) opened(now time.Time, in effect.RunOpened) {
	w, name := &m.work, in.Run.Definition.Scoped()
	m.changed = true
	if in.Err != nil {
		delete(w.goes, name)
		w.runs.Unopened(name, in.Err.Error(), now)
		w.strays = now.Add(strayWait)
		m.lose(&w.lost, "no record of a run can be made, so none runs", in.Err)
		for _, id := range w.firing[name] {
			m.refuseID(id, city.Unavailable, fmt.Sprintf("automation %s cannot be run: no record "+
				"of it could be made: %v", name, in.Err))
		}
		delete(w.firing, name)
		return
	}
	m.note(&w.lost, "")
	run := city.RunOf(in.Bead)
	w.goes[name], w.last[name], w.depth[run.ID] = &run, &run, in.Run.Depth
	w.runs.Opened(name, now)
	var answers []effect.Answer
	for _, id := range w.firing[name] {
		answers = append(answers, effect.Answer{ID: id,
			Receipt: city.Receipt{Message: fmt.Sprintf("automation %s runs, as %s", name, run.ID),
				Bead: &in.Bead}})
	}
	delete(w.firing, name)
	m.tellRun(effect.CloseRun{Run: run, Kind: events.AutomationFired, Msg: run.Reason}, answers...)
	if m.ending != alive {
		m.neverBegun(name)
		return
	}
	w.begin = append(w.begin, effect.Run{In: m.conf.Source, Run: in.Run, Bead: in.Bead.ID,
		Memory: w.runs.Rev(), Failed: w.failed[in.Run.Follows]})
	m.memorise()
	m.turnRuns(now)
}

// ran takes the end of a run. Its record is closed by an effect of its own, which is tried again until it succeeds.
func (m *Machine) ran(now time.Time, in effect.RunEnded) {
	w := &m.work
	run := w.goes[in.Scoped]
	if run == nil || run.ID != in.Bead {
		return
	}
	delete(w.goes, in.Scoped)
	ending, done := *run, *run
	ending.Outcome = string(in.Outcome)
	w.last[in.Scoped] = &ending
	done.Ended, done.Outcome, done.Code, done.Error, done.Output, done.Made = &now,
		string(in.Outcome), in.Code, in.Problem, in.Output, in.Made
	done.TimedOut = in.TimedOut
	m.changed = true
	kind, msg := endOf(&done, in.Took)
	delete(w.failed, in.Scoped)
	if in.Outcome == automation.Failed {
		w.failed[in.Scoped] = &done
	}
	if in.Halted {
		w.runs.Halted(in.Scoped, now)
	} else {
		w.runs.Ended(in.Scoped, in.Outcome, now)
	}
	m.halted(&done)
	if in.Made != "" {
		m.do(effect.Record{Event: events.Event{Type: events.BeadCreated,
			Actor: effect.ActorController, Subject: in.Made, Message: in.Title,
			Payload: payload(map[string]any{"status": beads.StatusOpen,
				"depth": w.depth[run.ID] + 1})}})
	}
	m.shut(effect.CloseRun{Run: done, Formula: in.Formula, Kind: kind, Msg: msg,
		Again: m.again(in.Scoped)})
	m.memorise()
	m.count()
	m.turnRuns(now)
}

// tellRun records an event about a run: its beginning or its end.
func (m *Machine) tellRun(f effect.CloseRun, answers ...effect.Answer) {
	r, msg := f.Run, f.Msg
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
	if f.Again != nil {
		about["again"] = f.Again
		msg += fmt.Sprintf("; tried again (%d of %d)", f.Again.Try, f.Again.Of)
	}
	m.do(effect.Record{Event: events.Event{Type: f.Kind,
		Actor: cmp.Or(r.By, effect.ActorController), Subject: r.Automation, Message: msg,
		Payload: payload(about)}, Answers: answers})
}

// forgotShown is how long it is told at least that nothing was known of before.
const forgotShown = time.Hour

// workPatrol is the patrol's part in all this.
func (m *Machine) workPatrol(now time.Time) {
	w := &m.work
	if w.begun.IsZero() {
		w.begun = now
	}
	// it is known anew, and somebody has seen this
	if w.saved > 0 && now.Sub(w.begun) > forgotShown {
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
func (m *Machine) retryWork(now time.Time) {
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
