package machine

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
	"gcity/controller/effect"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// world is a machine with simulated sessions, effects and log.
type world struct {
	m       *Machine
	now     time.Time
	begun   time.Time
	patrol  time.Time       // time of the next tick
	pending []effect.Effect // effects in flight, oldest first
	alive   map[string]*session.Status
	dead    map[string]session.Status // exits that are not acknowledged yet, by session ID
	fails   map[string]string         // errors of starts, by agent
	stuck   map[string]bool           // keys of effects that stay in flight
	asking  map[string]string         // what an agent's question is about
	edits   map[string]bool           // suspended flags in the file
	confs   int
	current *effect.Configuration
	uses    map[string]session.Usage
	onDisk  bool                            // the next configuration has crash_history = "disk"
	memory  []byte                          // the saved crash histories
	broken  string                          // reason why the configuration cannot be loaded
	refused string                          // like broken, but the reason is not part of the revision
	away    string                          // reason why the city's folder is not at its path
	blind   string                          // reason why sessions cannot be listed
	dark    map[string]error                // reasons why providers cannot list their sessions, by provider
	ends    map[string]effect.UnrecordedEnd // saved ends by session
	seq     int
	log     []string // the events of the story, in the format of stories
	events  []events.Event
	replies map[uint64]effect.Reply
	breach  []string // violations of the laws
	lost    bool     // exits are not reported, so only lists show them
	full    bool     // the log cannot be written
	queued  []events.Event

	says      map[string]string // output of each pool's check; "!why" means a failure
	overrides map[string]int
	asked     int // number of checks that were run
	floor     automationWorld
	delivery  textDelivery
	watchdogs watchdogWorld
}

func newWorld() *world {
	w := &world{
		m: newMachine(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		alive: map[string]*session.Status{}, dead: map[string]session.Status{},
		fails: map[string]string{},
		stuck: map[string]bool{}, asking: map[string]string{}, edits: map[string]bool{}, replies: map[uint64]effect.Reply{},
		floor: automationWorld{beads: map[string]beads.Bead{}, going: map[string]effect.Run{},
			answer: map[string]int{}, trials: newTrials()},
		delivery: newTextDelivery(), watchdogs: newWatchdogWorld(),
		says: map[string]string{}, overrides: map[string]int{},
	}
	w.begun, w.patrol = w.now, w.now
	return w
}

func want(spec string) agent.Want {
	name, opts, _ := strings.Cut(spec, ":")
	w := agent.Want{
		Name: name, Declared: name, Source: "city.toml:1:1",
		Policy: restart.Policy{Mode: restart.Always, MinUptime: 10 * time.Second, MaxRestarts: 3,
			Window: time.Hour, Backoff: time.Second, MaxBackoff: 30 * time.Second},
		Spec: session.Spec{
			Name: "gc-app-" + name, Agent: name, City: "/app", Command: "run",
			Fingerprint: session.NewFingerprint(map[string]string{"command": "run"}),
		},
	}
	for _, o := range strings.Split(opts, ",") {
		key, value, _ := strings.Cut(o, "=")
		switch key {
		case "suspended":
			w.Suspended = agent.Suspension{Level: agent.AgentLevel, Where: "in city.toml"}
		case "command":
			w.Spec.Command = value
			w.Spec.Fingerprint = session.NewFingerprint(map[string]string{"command": value})
		case "restart":
			w.Policy.Mode = restart.Mode(value)
		case "ready":
			w.Spec.Ready.Prefix = value
		case "minup":
			w.Policy.MinUptime, _ = time.ParseDuration(value)
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
		case "line":
			w.Source = "city.toml:" + value + ":1"
		case "by":
			w.Provider, w.Spec.Provider = value, value
		}
	}
	return w
}

func (w *world) declare(specs ...string) {
	w.write(specs...)
	if w.m.conf == nil {
		w.Step(effect.Loaded{Revision: w.current.Revision, Conf: w.current})
		return
	}
	w.Step(effect.ConfigChanged{})
}

func (w *world) write(specs ...string) {
	w.confs++
	c := &effect.Configuration{Name: "app", Dir: "/app", NoWork: w.floor.defs == nil &&
		w.floor.hands == nil, Revision: fmt.Sprintf("r%011d", w.confs), Patrol: 30 * time.Second,
		Grace: 5 * time.Second, Window: time.Hour, OnDisk: w.onDisk}
	for _, s := range specs {
		a := want(s)
		w.edits[a.Name] = a.Suspended.On()
		declareIn(c, a, s)
	}
	c.Overrides = w.overrides
	w.kennels(c)
	sort.Slice(c.Wants, func(i, j int) bool { return c.Wants[i].Name < c.Wants[j].Name })
	w.current, w.broken = c, ""
}

// Step passes an input to the machine and executes the effects that are not stuck.
func (w *world) Step(in effect.Input) {
	w.feed(in)
	for {
		f, ok := w.nextDue()
		if !ok {
			w.mind()
			if t := w.m.Next(w.now); !t.IsZero() && !t.After(w.now) {
				w.breach = append(w.breach, fmt.Sprintf("the next step was due %s ago, after %T",
					w.now.Sub(t), in))
			}
			return
		}
		if result := w.carryOut(f); result != nil && !w.withheld(f, result) {
			w.feed(result)
		}
	}
}

func (w *world) nextDue() (effect.Effect, bool) {
	for i, f := range w.pending {
		if w.stuck[keyOf(f)] {
			continue
		}
		w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
		return f, true
	}
	return nil, false
}

func (w *world) feed(in effect.Input) {
	removes, asked := w.removed(in)
	w.sending(in)
	out := w.m.Step(w.now, in)
	if removes && !asked && w.m.conf.Revision == in.(effect.Loaded).Revision {
		w.breach = append(w.breach, "L6: most running agents were removed without a confirmation")
	}
	if w.full && slices.ContainsFunc(out, isRecord) {
		out = w.m.EventsAppended(slices.Clone(out), events.ErrQueued)
	}
	for _, f := range out {
		switch f := f.(type) {
		case effect.Record:
			if w.full {
				w.queued = append(w.queued, f.Event)
			} else {
				w.record(f.Event)
			}
			for _, a := range f.Replies {
				w.replies[a.ID] = a
			}
		case effect.Emit:
			w.record(f.Event)
			w.replies[f.ID] = effect.Reply{ID: f.ID}
		case effect.SendReply:
			w.replies[f.ID] = f.Reply
			w.note("answer %d: %s", f.ID, answerText(f.Reply))
		case effect.Cancel:
			w.note("cancel %s", f.Agent)
			delete(w.stuck, "agent:"+f.Agent)
		default:
			w.check(f)
			w.pending = append(w.pending, f)
			w.tellEffect(f)
		}
	}
}

func isRecord(f effect.Effect) bool { _, ok := f.(effect.Record); return ok }

func (w *world) logWorks() {
	for _, e := range w.queued {
		w.record(e)
	}
	w.full, w.queued = false, nil
	w.Step(effect.LogHealth{Written: true})
}

func (w *world) removed(in effect.Input) (removes, asked bool) {
	c, ok := in.(effect.Loaded)
	if !ok || c.Conf == nil || w.m.conf == nil || c.Revision == w.m.conf.Revision {
		return false, false
	}
	gone, all := 0, 0
	for _, a := range w.m.order {
		if a.phase.Alive() && !a.unwanted() {
			all++
			gone++
		}
		for _, want := range c.Conf.Wants {
			if a.phase.Alive() && !a.unwanted() && want.Name == a.name {
				gone--
			}
		}
	}
	for _, wt := range w.m.loader.asking {
		_, confirms := w.m.loader.confirms[wt.id]
		asked = asked || confirms
	}
	return 2*gone > all, asked
}

func answerText(a effect.Reply) string {
	if a.Err != nil {
		return string(a.Err.Code) + ": " + a.Err.Message
	}
	return a.Receipt.Message
}

func (w *world) record(e events.Event) {
	if id := effect.EndedSession(&e); id != "" && w.lives()[id] > 0 {
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
	w.log = append(w.log, fmt.Sprintf("%8s  ", w.now.Sub(w.begun).Round(time.Millisecond))+
		fmt.Sprintf(format, args...))
}

func (w *world) tellEffect(f effect.Effect) {
	switch f := f.(type) {
	case effect.Start:
		w.note("start %s", f.Want.Name)
	case effect.Stop:
		w.note("stop %s, grace %s%s", f.Agent, f.Grace, map[bool]string{true: ", by force"}[f.Force])
	case effect.Kill:
		w.note("kill %s%s", f.Agent, map[bool]string{true: ", by force"}[f.Force])
	case effect.Measure:
		w.note("measure")
	case effect.SaveHistories:
		// skip changes that concern only agents stopped by their configuration
		if len(w.histories(w.memory))+len(w.histories(f.Memory)) > 0 {
			w.note("remember %s", w.remembered(f.Memory))
		}
	case effect.Resume:
		w.note("resume %s", f.Want.Name)
	case effect.Edit:
		w.note("write suspended = %t for %q", f.On, f.Agent+f.Rig)
	case effect.CheckPool:
		w.asked++
	case effect.ReadScreen:
		if s := w.alive[f.Agent]; f.Unless == 0 || s == nil || s.Output != f.Unless {
			w.note("read the screen of %s", f.Agent)
		}
	case effect.MarkDrain:
		w.note("mark %s: %s", f.Agent, drainText(f.Drain))
	case effect.Scale:
		w.note("write the override of %s", f.Pool)
	}
}

func (w *world) histories(file []byte) (all map[string]effect.SavedAgent) {
	if file == nil {
		return nil
	}
	if err := json.Unmarshal(file, &all); err != nil {
		w.breach = append(w.breach, "the file of crash histories: "+err.Error())
	}
	maps.DeleteFunc(all, func(_ string, a effect.SavedAgent) bool {
		return (a.Stopped != nil || a.Member.Pool != "") && len(a.Crashes)+a.Streak == 0 && a.State == ""
	})
	return all
}

func (w *world) remembered(file []byte) string {
	if file == nil {
		return "nothing, there is no file"
	}
	all := w.histories(file)
	out := []string{fmt.Sprint(len(all), " agents")}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line := fmt.Sprintf("%s %d crashes", name, len(all[name].Crashes))
		if r := all[name]; r.State != "" {
			line += fmt.Sprintf(" %s until %s", r.State,
				r.Until.Sub(w.begun).Round(100*time.Millisecond))
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

func (w *world) check(f effect.Effect) {
	for _, g := range w.pending {
		if keyOf(f) == keyOf(g) {
			w.breach = append(w.breach, "L1: two effects in flight for "+keyOf(f))
		}
	}
	for _, late := range w.floor.trials.slow {
		if keyOf(f) == late.key {
			w.breach = append(w.breach, "L1: two effects in flight for "+keyOf(f))
		}
	}
	w.hold(f)
	s, ok := f.(effect.Start)
	if !ok {
		return
	}
	a := w.m.agents[s.Want.Name]
	if a.want.Suspended.On() || a.surplus() || a.drain.current != nil ||
		w.now.Before(a.restart.until) ||
		w.m.ending != running {
		w.breach = append(w.breach, fmt.Sprintf("L2: %s was started while it must not run", a.name))
	}
	for _, need := range a.want.DependsOn {
		if _, up := w.m.deps.status(need); !up {
			w.breach = append(w.breach, fmt.Sprintf("L2: %s was started before %s", a.name, need))
		}
	}
	if live := w.alive[a.name]; live != nil {
		w.breach = append(w.breach, fmt.Sprintf("L11: %s was started although its session %s is alive", a.name, live.ID))
	}
}

func (w *world) carryOut(f effect.Effect) effect.Input {
	if in, ok := w.workEffect(f); ok {
		return in
	}
	if in, ok := w.tend(f); ok {
		return in
	}
	switch f := f.(type) {
	case effect.Start:
		w.keepEnds(f.Ends)
		return w.start(f.Want)
	case effect.Resume:
		w.alive[f.Want.Name].Ready = true
		return effect.Started{Agent: f.Want.Name, Status: *w.alive[f.Want.Name]}
	case effect.Stop:
		if why := w.fails["stop "+f.Agent]; why != "" {
			return effect.Stopped{Agent: f.Agent, Err: errors.New(why)}
		}
		delete(w.alive, f.Agent)
		return effect.Stopped{Agent: f.Agent}
	case effect.CheckProvider:
		in := effect.ProviderChecked{Provider: f.Provider}
		if why := w.fails["by "+f.Provider]; why != "" {
			in.Err = errors.New(why)
		}
		return in
	case effect.CheckStart:
		in := effect.StartChecked{Agent: f.Want.Name}
		if why := w.fails["missing "+f.Want.Name]; why != "" {
			in.Err = errors.New(why)
		}
		return in
	case effect.Kill:
		delete(w.stuck, "agent:"+f.Agent)
	case effect.Capture:
		return effect.Captured{Agent: f.Agent, ID: f.ID, Tail: "last words",
			File: ".gc/crashes/x.ansi"}
	case effect.Acknowledge:
		delete(w.dead, f.ID)
		delete(w.ends, f.ID)
	case effect.Type:
		return effect.Typed{Agent: f.Agent}
	case effect.Send:
		return w.send(f)
	case effect.ReadScreen:
		in := effect.ScreenRead{Agent: f.Agent, Life: f.Life}
		if s := w.alive[f.Agent]; f.Unless != 0 && s != nil {
			if in.Printed = s.Output; in.Printed == f.Unless {
				in.Unchanged = true
				return in
			}
		}
		if about, asks := w.asking[f.Agent]; asks {
			in.Question = &session.Dialog{Name: about}
		}
		return in
	case effect.CheckPool:
		return w.poolCheck(f.Pool)
	case effect.MarkDrain:
		return w.mark(f)
	case effect.Scale:
		return w.scale(f)
	case effect.List:
		return w.list(f)
	case effect.Load:
		return w.load(f)
	case effect.Edit:
		return w.edit(f)
	case effect.Measure:
		return w.measure()
	case effect.SaveHistories:
		if why := w.fails["remember"]; why != "" {
			return effect.HistoriesSaved{Err: errors.New(why)}
		}
		w.memory = f.Memory
		return effect.HistoriesSaved{}
	}
	return nil
}

func (w *world) measure() effect.Input {
	if why := w.fails["measure"]; why != "" {
		return effect.Measured{Err: errors.New(why)}
	}
	in := effect.Measured{Usage: map[string]session.Usage{}, At: w.now}
	for name, s := range w.alive {
		if u, ok := w.uses[name]; ok {
			in.Usage[s.Name] = u
		}
	}
	return in
}

func (w *world) start(want *agent.Want) effect.Input {
	if why := w.fails["by "+want.Spec.Provider]; why != "" {
		return effect.Started{Agent: want.Name, Err: session.Missing(errors.New(why))}
	}
	if why := w.fails["missing "+want.Name]; why != "" {
		return effect.Started{Agent: want.Name, Err: session.Missing(errors.New(why))}
	}
	if why := w.fails["exhausted "+want.Name]; why != "" {
		return effect.Started{Agent: want.Name, Err: fmt.Errorf("%w: %s", session.ErrExhausted, why)}
	}
	if why := w.fails[want.Name]; why != "" {
		return effect.Started{Agent: want.Name, Err: errors.New(why)}
	}
	w.seq++
	delete(w.delivery.drafts, want.Name) // the draft ended with the previous session
	delete(w.asking, want.Name)
	s := &session.Status{
		Name: want.Spec.Name, Agent: want.Name, City: "/app", ID: fmt.Sprintf("s%d", w.seq),
		Alive: true, Ready: true,
		PID: 1000 + w.seq, Started: w.now, Activity: w.now, Fingerprint: want.Spec.Fingerprint,
		Provider: want.Spec.Provider,
	}
	w.alive[want.Name] = s
	return effect.Started{Agent: want.Name, Status: *s}
}

func (w *world) list(f effect.List) effect.Input {
	in := w.look(f.Step)
	if f.Inherit {
		in.Past = w.inherit(f.First)
	}
	return in
}

func (w *world) look(turn uint64) effect.Listed {
	if w.blind != "" {
		return effect.Listed{Step: turn, Err: errors.New(w.blind)}
	}
	var all []session.Status
	for _, s := range w.alive {
		all = append(all, *s)
	}
	for _, s := range w.dead {
		all = append(all, s)
	}
	if all = slices.DeleteFunc(all, func(s session.Status) bool {
		return w.dark[s.Provider] != nil
	}); len(w.dark) > 0 {
		return effect.Listed{Step: turn, Sessions: all, Err: &session.PartialError{Unknown: w.dark}}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name+all[i].ID < all[j].Name+all[j].ID })
	return effect.Listed{Step: turn, Sessions: all}
}

func (w *world) load(f effect.Load) effect.Input {
	if w.away != "" {
		return effect.Loaded{Away: errors.New(w.away)}
	}
	revision := w.current.Revision
	if w.broken != "" {
		revision = "broken"
	}
	if !f.Force && (revision == f.Known || revision == f.HeldRevision ||
		!f.Now && revision != f.SeenAtPatrol) {
		return effect.Loaded{Revision: revision}
	}
	if w.broken != "" {
		return effect.Loaded{Revision: revision, Err: errors.New(w.broken)}
	}
	if w.refused != "" {
		return effect.Loaded{Revision: revision, Err: errors.New(w.refused)}
	}
	return effect.Loaded{Revision: w.current.Revision, Conf: w.current}
}

func (w *world) edit(f effect.Edit) effect.Input {
	if w.edits[f.Agent] == f.On && f.Agent != "" { // the file already has this value
		return effect.Edited{Edit: f}
	}
	w.confs++
	c := *w.current
	c.Revision = fmt.Sprintf("r%011d", w.confs)
	c.Wants = append([]agent.Want(nil), c.Wants...)
	switch {
	case f.Rig != "":
		w.edits["rig "+f.Rig] = f.On
	case f.Agent == "":
		c.Suspended = f.On
	default:
		w.edits[f.Agent] = f.On
	}
	suspendIn(&c, w.edits)
	w.current = &c
	return effect.Edited{Edit: f}
}

func (w *world) die(name string, code int, sig string) {
	w.exit(name, session.Exit{Code: code, Signal: sig})
}

func (w *world) exit(name string, e session.Exit) {
	s := w.alive[name]
	if s == nil {
		return
	}
	delete(w.alive, name)
	e.Name, e.Agent, e.ID, e.At, e.Uptime = s.Name, name, s.ID, w.now, w.now.Sub(s.Started)
	d := *s
	d.Alive, d.PID, d.Exit = false, 0, &e
	w.dead[s.ID] = d
	if !w.lost {
		w.Step(effect.Exited{Exit: e})
	}
}

func (w *world) advance(d time.Duration) {
	end := w.now.Add(d)
	for {
		at, in := w.patrol, effect.Input(effect.Tick{})
		if t := w.m.Next(w.now); !t.IsZero() && t.Before(at) {
			at, in = t, effect.Wake{}
		}
		if at.After(end) || len(w.breach) > 0 {
			w.now = end
			return
		}
		if at.After(w.now) {
			w.now = at
		}
		if _, tick := in.(effect.Tick); tick {
			w.patrol = w.patrol.Add(30 * time.Second)
		}
		w.Step(in)
	}
}

func (w *world) show() []string {
	var out []string
	s := w.m.Snapshot(w.now)
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
			h.Revision, strings.Join(h.Removes, ", "), h.Running, h.Since.Sub(w.begun),
			strings.Join(h.Plan, "; ")))
	}
	return out
}

func (w *world) command(id uint64, c city.Command) { w.Step(effect.Command{ID: id, Cmd: c}) }
