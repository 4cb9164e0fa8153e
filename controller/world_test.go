package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// world is a machine with a dumb reality around it: sessions that live and die, effects that take the time they are
// told to, and a notebook. Stories and fuzz tests play in it.
type world struct {
	m       *machine
	now     time.Time
	begun   time.Time
	patrol  time.Time // next tick
	pending []effect  // in flight, oldest first
	alive   map[string]*session.Status
	dead    map[string]session.Status // exits not yet acknowledged, by id
	fails   map[string]string         // agents whose starts fail, and how
	stuck   map[string]bool           // effects that stay in flight, by key
	edits   map[string]bool           // suspended flags as written
	confs   int
	current *conf
	uses    map[string]session.Usage // what agents' processes take
	onDisk  bool                     // the next configuration says crash_history = "disk"
	memory  []byte                   // the file of crash histories
	broken  string                   // why the configuration cannot be loaded
	blind   string                   // why sessions cannot be listed
	dark    map[string]error         // which providers do not list theirs, and why
	ends    map[string]unrecordedEnd // files of ends, by session
	seq     int
	log     []string       // what happened, for stories
	events  []events.Event // as recorded
	answers map[uint64]answer
	breach  []string // of the laws
	lost    bool     // exits are not told of, only seen

	says      map[string]string // what pools' checks print; "!why" fails
	overrides map[string]int
	asked     int // checks run
	floor     shopfloor
	desk      desk
	kennel    kennel
}

func newWorld() *world {
	w := &world{
		m: newMachine(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		alive: map[string]*session.Status{}, dead: map[string]session.Status{}, fails: map[string]string{},
		stuck: map[string]bool{}, edits: map[string]bool{}, answers: map[uint64]answer{},
		floor: shopfloor{beads: map[string]beads.Bead{}, going: map[string]fxRun{}, answer: map[string]int{}, trials: newTrials()},
		desk:  newDesk(), kennel: newKennel(),
		says: map[string]string{}, overrides: map[string]int{},
	}
	w.begun, w.patrol = w.now, w.now
	return w
}

// want is an agent as the stories write it: a name, then options.
func want(spec string) agent.Want {
	name, opts, _ := strings.Cut(spec, ":")
	w := agent.Want{
		Name: name, Declared: name, Source: "city.toml:1:1",
		Policy: restart.Policy{Mode: restart.Always, MinUptime: 10 * time.Second, MaxRestarts: 3, Window: time.Hour, Backoff: time.Second, MaxBackoff: 30 * time.Second},
		Spec: session.Spec{
			Name: "gc-app-" + name, Agent: name, City: "/app", Command: "run",
			Fingerprint: session.NewFingerprint(map[string]string{"command": "run"}),
		},
	}
	for _, o := range strings.Split(opts, ",") {
		key, value, _ := strings.Cut(o, "=")
		switch key {
		case "suspended":
			w.Suspended = "by agent"
		case "command":
			w.Spec.Command = value
			w.Spec.Fingerprint = session.NewFingerprint(map[string]string{"command": value})
		case "restart":
			w.Policy.Mode = restart.Mode(value)
		case "max":
			fmt.Sscan(value, &w.Policy.MaxRestarts)
		case "problem":
			w.Problem = "command not found"
		case "idle":
			w.IdleTimeout, _ = time.ParseDuration(value)
		case "needs":
			w.DependsOn = strings.Split(value, "+")
		case "strategy":
			w.Strategy = restart.Strategy(value)
		case "stuck":
			w.StuckAfter, _ = time.ParseDuration(value)
		case "rig":
			w.Rig = value
		case "by":
			w.Provider, w.Spec.Provider = value, value
		}
	}
	return w
}

// declare makes a configuration of these agents and has it loaded.
func (w *world) declare(specs ...string) {
	w.write(specs...)
	if w.m.conf == nil {
		w.step(inConfig{revision: w.current.revision, conf: w.current})
		return
	}
	w.step(inPoke{})
}

// write makes a configuration of these agents that nobody tells of.
func (w *world) write(specs ...string) {
	w.confs++
	c := &conf{name: "app", dir: "/app", nowork: w.floor.defs == nil && w.floor.hands == nil, revision: fmt.Sprintf("r%011d", w.confs), patrol: 30 * time.Second, grace: 5 * time.Second, window: time.Hour, onDisk: w.onDisk}
	for _, s := range specs {
		a := want(s)
		w.edits[a.Name] = a.Suspended != ""
		c.declare(a, s)
	}
	c.overrides = w.overrides
	w.kennels(c)
	sort.Slice(c.wants, func(i, j int) bool { return c.wants[i].Name < c.wants[j].Name })
	w.current, w.broken = c, ""
}

// step feeds one input and takes what it leads to, until only what is stuck is in flight.
func (w *world) step(in input) {
	w.feed(in)
	for {
		f, ok := w.nextDue()
		if !ok {
			w.mind()
			return
		}
		if result := w.carryOut(f); result != nil && !w.withheld(f, result) {
			w.feed(result)
		}
	}
}

func (w *world) nextDue() (effect, bool) {
	for i, f := range w.pending {
		if w.stuck[f.key()] {
			continue
		}
		w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
		return f, true
	}
	return nil, false
}

func (w *world) feed(in input) {
	removes, asked := w.removed(in)
	w.sending(in)
	out := w.m.step(w.now, in)
	if removes && !asked && w.m.conf.revision == in.(inConfig).revision {
		w.breach = append(w.breach, "L6: most of the running agents were removed, and nobody had confirmed it")
	}
	for _, f := range out {
		switch f := f.(type) {
		case fxRecord:
			w.record(f.event)
			for _, a := range f.answers {
				w.answers[a.id] = a
			}
		case fxEmit:
			w.record(f.event)
			w.answers[f.id] = answer{id: f.id}
		case fxAnswer:
			w.answers[f.id] = f.answer
			w.note("answer %d: %s", f.id, f.answer)
		case fxCancel:
			w.note("cancel %s", f.agent)
			delete(w.stuck, "agent:"+f.agent)
		default:
			w.check(f)
			w.pending = append(w.pending, f)
			w.tellEffect(f)
		}
	}
}

// removed reports whether an input would remove more than half of the running agents from what is in force, and
// whether somebody has asked for that: counted here in the simplest way there is.
func (w *world) removed(in input) (removes, asked bool) {
	c, ok := in.(inConfig)
	if !ok || c.conf == nil || w.m.conf == nil || c.revision == w.m.conf.revision {
		return false, false
	}
	gone, all := 0, 0
	for _, a := range w.m.order {
		if a.alive && !a.unwanted() {
			all++
			gone++
		}
		for _, want := range c.conf.wants {
			if a.alive && !a.unwanted() && want.Name == a.name {
				gone--
			}
		}
	}
	for _, wt := range w.m.asking {
		_, confirms := w.m.confirms[wt.id]
		asked = asked || confirms
	}
	return 2*gone > all, asked
}

func (a answer) String() string {
	if a.err != nil {
		return string(a.err.Code) + ": " + a.err.Message
	}
	return a.receipt.Message
}

func (w *world) record(e events.Event) {
	if id := endedSession(&e); id != "" && w.lives()[id] > 0 {
		w.breach = append(w.breach, "the end of "+id+" is recorded twice")
	}
	e.TS = w.now
	w.events = append(w.events, e)
	w.owe(e)
	w.posted(e)
	w.endTold(e)
	w.note("event %s %s: %s", e.Type, e.Subject, e.Message)
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%8s  ", w.now.Sub(w.begun).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (w *world) tellEffect(f effect) {
	switch f := f.(type) {
	case fxStart:
		w.note("start %s", f.want.Name)
	case fxStop:
		w.note("stop %s, grace %s", f.agent, f.grace)
	case fxKill:
		w.note("kill %s", f.agent)
	case fxMeasure:
		w.note("measure")
	case fxRemember:
		w.note("remember %s", w.histories(f.memory))
	case fxResume:
		w.note("resume %s", f.want.Name)
	case fxEdit:
		w.note("write suspended = %t for %q", f.on, f.agent+f.rig)
	case fxCheck:
		w.asked++
	case fxMark:
		w.note("mark %s: %s", f.agent, drainText(f.drain))
	case fxScale:
		w.note("write the override of %s", f.pool)
	}
}

// histories says what a file of crash histories holds.
func (w *world) histories(file []byte) string {
	if file == nil {
		return "nothing, there is no file"
	}
	var all map[string]memo
	if err := json.Unmarshal(file, &all); err != nil {
		w.breach = append(w.breach, "the file of crash histories: "+err.Error())
	}
	out := []string{fmt.Sprint(len(all), " agents")}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line := fmt.Sprintf("%s %d crashes", name, len(all[name].Crashes))
		if r := all[name]; r.State != "" {
			line += fmt.Sprintf(" %s until %s", r.State, r.Until.Sub(w.begun).Round(100*time.Millisecond))
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

// check holds every effect against the laws.
func (w *world) check(f effect) {
	for _, g := range w.pending {
		if f.key() == g.key() {
			w.breach = append(w.breach, "L1: two effects in flight for "+f.key())
		}
	}
	for _, late := range w.floor.trials.slow {
		if f.key() == late.key {
			w.breach = append(w.breach, "L1: two effects in flight for "+f.key())
		}
	}
	w.hold(f)
	s, ok := f.(fxStart)
	if !ok {
		return
	}
	a := w.m.agents[s.want.Name]
	if a.want.Suspended != "" || a.surplus() || a.drain != nil || w.now.Before(a.notBefore) || w.m.ending != alive {
		w.breach = append(w.breach, fmt.Sprintf("L2: %s was started while it must not run", a.name))
	}
	for _, need := range a.want.DependsOn {
		if _, up := w.m.standing(need); !up {
			w.breach = append(w.breach, fmt.Sprintf("L2: %s was started before %s", a.name, need))
		}
	}
	if live := w.alive[a.name]; live != nil {
		w.breach = append(w.breach, fmt.Sprintf("L11: %s was started beside %s", a.name, live.ID))
	}
}

// carryOut is reality's answer to an effect.
func (w *world) carryOut(f effect) input {
	if in, ok := w.workEffect(f); ok {
		return in
	}
	if in, ok := w.tend(f); ok {
		return in
	}
	switch f := f.(type) {
	case fxStart:
		w.keepEnds(f.ends)
		return w.start(f.want)
	case fxResume:
		w.alive[f.want.Name].Ready = true
		return inStarted{agent: f.want.Name, status: *w.alive[f.want.Name]}
	case fxStop:
		delete(w.alive, f.agent)
		return inStopped{agent: f.agent}
	case fxVet:
		in := inVetted{provider: f.provider}
		if why := w.fails["by "+f.provider]; why != "" {
			in.err = errors.New(why)
		}
		return in
	case fxKill:
		delete(w.stuck, "agent:"+f.agent)
	case fxCapture:
		return inCaptured{agent: f.agent, id: f.id, tail: "last words", file: ".gc/crashes/x.ansi"}
	case fxAck:
		delete(w.dead, f.id)
		delete(w.ends, f.id)
	case fxType:
		return inTyped{agent: f.agent}
	case fxSend:
		return w.send(f)
	case fxCheck:
		return w.poolCheck(f.pool)
	case fxMark:
		return w.mark(f)
	case fxScale:
		return w.scale(f)
	case fxList:
		return w.list(f)
	case fxLoad:
		return w.load(f)
	case fxEdit:
		return w.edit(f)
	case fxMeasure:
		return w.measure()
	case fxRemember:
		if why := w.fails["remember"]; why != "" {
			return inRemembered{errors.New(why)}
		}
		w.memory = f.memory
		return inRemembered{}
	}
	return nil
}

func (w *world) measure() input {
	if why := w.fails["measure"]; why != "" {
		return inMeasured{err: errors.New(why)}
	}
	in := inMeasured{usage: map[string]session.Usage{}, at: w.now}
	for name, s := range w.alive {
		if u, ok := w.uses[name]; ok {
			in.usage[s.Name] = u
		}
	}
	return in
}

func (w *world) start(want *agent.Want) input {
	if why := w.fails["by "+want.Spec.Provider]; why != "" {
		return inStarted{agent: want.Name, err: session.Missing(errors.New(why))}
	}
	if why := w.fails["missing "+want.Name]; why != "" {
		return inStarted{agent: want.Name, err: session.Missing(errors.New(why))}
	}
	if why := w.fails[want.Name]; why != "" {
		return inStarted{agent: want.Name, err: errors.New(why)}
	}
	w.seq++
	delete(w.desk.drafts, want.Name) // what was typed went with the last life
	s := &session.Status{
		Name: want.Spec.Name, Agent: want.Name, City: "/app", ID: fmt.Sprintf("s%d", w.seq), Alive: true, Ready: true,
		PID: 1000 + w.seq, Started: w.now, Activity: w.now, Fingerprint: want.Spec.Fingerprint,
		Provider: want.Spec.Provider,
	}
	w.alive[want.Name] = s
	return inStarted{agent: want.Name, status: *s}
}

func (w *world) list(f fxList) input {
	in := w.look(f.turn)
	if f.inherit {
		in.past = w.inherit(f.first)
	}
	return in
}

func (w *world) look(turn uint64) inObserved {
	if w.blind != "" {
		return inObserved{turn: turn, err: errors.New(w.blind)}
	}
	var all []session.Status
	for _, s := range w.alive {
		all = append(all, *s)
	}
	for _, s := range w.dead {
		all = append(all, s)
	}
	if all = slices.DeleteFunc(all, func(s session.Status) bool { return w.dark[s.Provider] != nil }); len(w.dark) > 0 {
		return inObserved{turn: turn, sessions: all, err: &session.Partial{Unknown: w.dark}}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name+all[i].ID < all[j].Name+all[j].ID })
	return inObserved{turn: turn, sessions: all}
}

func (w *world) load(f fxLoad) input {
	revision := w.current.revision
	if w.broken != "" {
		revision = "broken"
	}
	if !f.force && (revision == f.known || revision == f.refused || !f.now && revision != f.sighted) {
		return inConfig{revision: revision}
	}
	if w.broken != "" {
		return inConfig{revision: revision, err: errors.New(w.broken)}
	}
	return inConfig{revision: w.current.revision, conf: w.current}
}

func (w *world) edit(f fxEdit) input {
	if w.edits[f.agent] == f.on && f.agent != "" { // the file says so already
		return inEdited{edit: f}
	}
	w.confs++
	c := *w.current
	c.revision = fmt.Sprintf("r%011d", w.confs)
	c.wants = append([]agent.Want(nil), c.wants...)
	switch {
	case f.rig != "":
		w.edits["rig "+f.rig] = f.on
	case f.agent == "":
		c.suspended = f.on
	default:
		w.edits[f.agent] = f.on
	}
	c.suspend(w.edits)
	w.current = &c
	return inEdited{edit: f}
}

// die ends an agent's life; the machine hears of it at once, unless exits are lost.
func (w *world) die(name string, code int, sig string) {
	s := w.alive[name]
	if s == nil {
		return
	}
	delete(w.alive, name)
	e := session.Exit{Name: s.Name, Agent: name, ID: s.ID, Code: code, Signal: sig, At: w.now, Uptime: w.now.Sub(s.Started)}
	d := *s
	d.Alive, d.PID, d.Exit = false, 0, &e
	w.dead[s.ID] = d
	if !w.lost {
		w.step(inExited{e})
	}
}

// advance lets time pass: patrols tick and timers wake as they fall due.
func (w *world) advance(d time.Duration) {
	end := w.now.Add(d)
	for {
		at, in := w.patrol, input(inTick{})
		if t := w.m.next(w.now); !t.IsZero() && t.Before(at) {
			at, in = t, inWake{}
		}
		if at.After(end) {
			w.now = end
			return
		}
		if at.After(w.now) {
			w.now = at
		}
		if _, tick := in.(inTick); tick {
			w.patrol = w.patrol.Add(30 * time.Second)
		}
		w.step(in)
	}
}

// show lists the agents as an operator sees them.
func (w *world) show() []string {
	var out []string
	s := w.m.snapshot(w.now)
	for _, a := range s.Agents {
		line := fmt.Sprintf("%s is %s: %s", a.Name, a.State, a.Reason)
		if a.Until != nil {
			line += fmt.Sprintf(" (until %s)", a.Until.Sub(w.begun).Round(100*time.Millisecond))
		}
		if a.State == "" || a.Reason == "" || a.Since.IsZero() {
			w.breach = append(w.breach, "L14: "+line)
		}
		out = append(out, line)
	}
	if h := s.Config.Held; h != nil {
		out = append(out, fmt.Sprintf("held: %s removes %s of %d running, since %s: %s",
			h.Revision, strings.Join(h.Removes, ", "), h.Running, h.Since.Sub(w.begun), strings.Join(h.Plan, "; ")))
	}
	return out
}

// command hands a command in and returns its id.
func (w *world) command(id uint64, c city.Command) { w.step(inCommand{id: id, cmd: c}) }
