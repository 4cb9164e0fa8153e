package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

type trials struct {
	on      bool // runs end at their timeout, and events are delivered when they happen
	minding bool
	auto    bool                    // runs succeed immediately
	late    map[string]bool         // kinds of effects with withheld results
	slow    []slowResult            // withheld results, oldest first
	inbox   []effect.EventsReceived // events that are delivered but not handled yet
	lag     bool                    // events stay in the inbox
	ghosts  map[string]automation.Run
	phantom bool // the creation of a record succeeds, but is reported as failed
	patient map[string]bool
	failed  map[string]bool
	unshut  string // reason why records cannot be closed
	forgone error  // reason why records can never be closed
	unkept  string // reason why the state cannot be saved
	unswept string // reason why records cannot be read
	ended   bool   // the city has ended all runs
	began   map[string]time.Time
	asked   map[uint64]bool // requests for manual runs that have no reply yet

	last    map[string]time.Time          // time at which the newest run of each automation was opened
	moments map[string]map[time.Time]bool // scheduled times for which a run was opened
	dealt   map[string]map[uint64]string
	owed    map[string]map[uint64]bool // events that must be handled
	absent  map[string]time.Time
	listens map[string]string // event type that each automation waits for
	back    bool              // the clock was set back, so intervals have no meaning
	writes  int               // number of effects other than reads
}

type slowResult struct {
	key string
	in  effect.Input
}

func newTrials() trials {
	return trials{
		late: map[string]bool{}, began: map[string]time.Time{}, asked: map[uint64]bool{},
		last:    map[string]time.Time{},
		moments: map[string]map[time.Time]bool{}, dealt: map[string]map[uint64]string{},
		owed:   map[string]map[uint64]bool{},
		absent: map[string]time.Time{}, ghosts: map[string]automation.Run{},
		failed: map[string]bool{}, patient: map[string]bool{}, listens: map[string]string{},
	}
}

func (w *world) breaks(format string, args ...any) {
	w.breach = append(w.breach, fmt.Sprintf(format, args...))
}

func (w *world) withheld(f effect.Effect, in effect.Input) bool {
	t := &w.floor.trials
	kind, _, _ := strings.Cut(keyOf(f), ":")
	if !t.late[kind] {
		return false
	}
	t.slow = append(t.slow, slowResult{keyOf(f), in})
	return true
}

func (w *world) release(which int) {
	t := &w.floor.trials
	if len(t.slow) == 0 {
		return
	}
	i := which % len(t.slow)
	in := t.slow[i].in
	t.slow = slices.Delete(t.slow, i, i+1)
	w.Step(in)
}

func (w *world) mind() {
	t := &w.floor.trials
	if !t.on || t.minding || w.m.conf == nil || len(w.breach) > 0 {
		return
	}
	t.minding = true
	defer func() { t.minding = false }()
	for rounds := 0; w.hand() || w.expire() || w.crowded(); rounds++ {
		if rounds > 2000 {
			w.breaks("L7: automations trigger each other without end")
			return
		}
	}
	w.account()
}

// crowded delivers the oldest withheld result if too many are withheld, because every effect has a deadline.
func (w *world) crowded() bool {
	if len(w.floor.trials.slow) < 20 {
		return false
	}
	w.release(0)
	return true
}

func (w *world) expire() bool {
	t := &w.floor.trials
	for _, name := range slices.Sorted(maps.Keys(w.floor.going)) {
		f := w.floor.going[name]
		in := effect.RunEnded{Scoped: name, Bead: f.Bead, Outcome: automation.OK,
			Formula: f.Run.Definition.Formula != ""}
		switch {
		case t.ended:
			in.Outcome, in.Problem = automation.Interrupted, "the city was stopped"
		case t.auto:
		case !w.now.Before(t.began[name].Add(f.Run.Definition.Timeout)):
			in.Outcome, in.Problem = automation.Failed, "it did not finish within its timeout"
		default:
			continue
		}
		w.endRun(name, in)
		return true
	}
	return false
}

func (w *world) endRun(name string, in effect.RunEnded) {
	delete(w.floor.going, name)
	if w.floor.trials.late["ran"] {
		w.floor.trials.slow = append(w.floor.trials.slow, slowResult{"run:" + name, in})
		return
	}
	w.Step(in)
}

func (w *world) trouble(f effect.Effect) effect.Input {
	t := &w.floor.trials
	switch f := f.(type) {
	case effect.CloseRun:
		if t.forgone != nil {
			return effect.RunClosed{Bead: f.Run.ID, Err: t.forgone}
		}
		if t.unshut != "" {
			t.failed[f.Run.ID] = true
			return effect.RunClosed{Bead: f.Run.ID, Err: errors.New(t.unshut)}
		}
	case effect.SaveAutomations:
		if t.unkept != "" {
			return effect.AutomationsSaved{Rev: f.Rev, Err: errors.New(t.unkept)}
		}
	case effect.SweepRuns:
		if t.unswept != "" {
			return effect.RunsSwept{Err: errors.New(t.unswept)}
		}
	}
	return nil
}

func (w *world) hold(f effect.Effect) {
	t := &w.floor.trials
	if !t.on {
		return
	}
	switch f := f.(type) {
	case effect.OpenRun:
		d := f.Run.Definition
		t.writes++
		if why := d.BlockedWhile(w.m.runs.Suspended(d.Rig)); f.Run.By == "" &&
			(why != "" && d.Gate != automation.Manual || d.Off != "") {
			w.breaks("L2: %s was opened automatically while it is %s%s", d.Scoped(), d.Off, why)
		}
		if w.m.ending != running {
			w.breaks("L2: %s was opened while the city was stopping", d.Scoped())
		}
		if n := len(w.m.runs.Current); n > automation.MaxActive {
			w.breaks("%d runs at once", n)
		}
	case effect.Run, effect.CloseRun, effect.SaveAutomations, effect.Subscribe, effect.SweepRuns:
		t.writes++
	}
	if _, run := f.(effect.Run); run && w.m.ending != running {
		w.breaks("a run began while the city was stopping: %s", keyOf(f))
	}
}

func (w *world) begins(f effect.Run) {
	t, name := &w.floor.trials, f.Run.Definition.Scoped()
	if !t.on {
		return
	}
	t.began[name] = w.now
	if len(w.floor.going) >= automation.MaxActive {
		w.breaks("%d runs are in progress at the same time", len(w.floor.going)+1)
	}
	var kept map[string]automation.Memory
	if err := json.Unmarshal(w.floor.memory, &kept); err != nil && w.m.runs.StateNotSaved == "" {
		w.breaks("L4: %s began, but no state is saved: %v", name, err)
	}
	if m := kept[name]; w.m.runs.StateNotSaved == "" && (!m.Open || m.Cursor < f.Run.Until) {
		w.breaks("L4: %s began, but its saved state does not contain the run: %+v", name, m)
	}
}

func (w *world) recorded(run automation.Run, bead string) {
	t, d := &w.floor.trials, run.Definition
	if !t.on {
		return
	}
	name := d.Scoped()
	gate := run.By == "" && run.Follows == "" && run.Retry == 0
	last, some := t.last[name]
	if gate && some && !t.back {
		if passed := w.now.Sub(last); d.Gate == automation.Cooldown && passed < d.Interval &&
			!strings.HasPrefix(run.Reason, "queued") {
			w.breaks("%s was opened %s after its last run, but its cooldown is %s (%s)", name,
				passed, d.Interval, run.Reason)
		}
	}
	if gate && d.Gate == automation.Cron && !t.back && !strings.HasPrefix(run.Reason, "queued") {
		if t.moments[name] == nil {
			t.moments[name] = map[time.Time]bool{}
		}
		if t.moments[name][run.Opening] {
			w.breaks("%s was opened twice for %s", name, run.Opening)
		}
		t.moments[name][run.Opening] = true
	}
	t.last[name], t.patient[bead] = w.now, d.Retry > 0
	for _, seq := range w.concern(d.On, run.After, run.Until) {
		if before := t.dealt[name][seq]; before != "" {
			b := w.floor.beads[before]
			if !t.patient[before] && d.Retry == 0 || b.Metadata[city.RunOutcome] ==
				string(automation.OK) {
				w.breaks("%s handles event %d in %s, but %s (%s) has handled it",
					name, seq, bead, before,
					b.Metadata[city.RunOutcome])
			}
		}
		if t.dealt[name] == nil {
			t.dealt[name] = map[uint64]string{}
		}
		t.dealt[name][seq] = bead
	}
}

func (w *world) concern(on string, after, until uint64) (seqs []uint64) {
	for seq := after + 1; on != "" && seq <= min(until, uint64(len(w.events))); seq++ {
		e := w.events[seq-1]
		if e.Seq = seq; (&events.Query{Types: []string{on}}).Match(&e) &&
			automation.Depth(e) < automation.MaxDepth {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

func (w *world) owe(e events.Event) {
	t := &w.floor.trials
	if !t.on || !w.m.runs.RecordsRead {
		return
	}
	e.Seq = uint64(len(w.events))
	for _, s := range w.m.runs.Schedule.Status() {
		d := s.Definition
		if d.Gate == automation.Event && (&events.Query{Types: []string{d.On}}).Match(&e) &&
			automation.Depth(e) < automation.MaxDepth {
			if t.owed[d.Scoped()] == nil {
				t.owed[d.Scoped()] = map[uint64]bool{}
			}
			if t.listens[d.Scoped()] != d.On {
				clear(t.owed[d.Scoped()])
			}
			t.listens[d.Scoped()] = d.On
			t.owed[d.Scoped()][e.Seq] = true
		}
	}
}

func (w *world) account() {
	t := &w.floor.trials
	if !w.m.runs.RecordsRead {
		return
	}
	there := map[string]string{}
	for _, s := range w.m.runs.Schedule.Status() {
		there[s.Definition.Scoped()] = s.Definition.On
	}
	for name := range t.owed {
		on, is := there[name]
		since, was := t.absent[name]
		switch {
		case !is && !was:
			t.absent[name] = w.now
		case is && (on != t.listens[name] || was && w.now.Sub(since) > time.Hour):
			delete(t.owed, name)
		}
		if is {
			delete(t.absent, name)
		}
	}
}

func (w *world) forgiven(deeds map[string]automation.Memory) {
	t := &w.floor.trials
	for name := range t.owed {
		if m, ok := deeds[name]; !ok || m.On != t.listens[name] || !m.Gone.IsZero() {
			delete(t.owed, name)
		}
	}
	// the next controller treats phantom records as interrupted runs
	for _, run := range t.ghosts {
		for _, seq := range w.concern(run.Definition.On, run.After, run.Until) {
			delete(t.owed[run.Definition.Scoped()], seq)
		}
	}
	t.slow, t.inbox, t.ended = nil, nil, false
	w.floor.types, w.floor.follow = nil, 0
	clear(t.late)
	clear(t.asked)
}

func (w *world) endTold(e events.Event) {
	t := &w.floor.trials
	if !t.on || e.Type != events.AutomationCompleted && e.Type != events.AutomationFailed ||
		e.Actor != effect.ActorController {
		return
	}
	var about struct{ Run string }
	if json.Unmarshal(e.Payload, &about) != nil || about.Run == "" {
		return
	}
	if b := w.floor.beads[about.Run]; b.Status != beads.StatusClosed && !t.failed[b.ID] {
		w.breaks("L4: the end of %s was reported before it was recorded", about.Run)
	}
}

func (w *world) sleep(d time.Duration) {
	w.now = w.now.Add(d)
	if w.patrol.Before(w.now) {
		w.patrol = w.now
	}
	w.Step(effect.Stalled{})
	w.Step(effect.Wake{})
}

func (w *world) deafen(why string) {
	w.floor.types = nil
	w.Step(effect.SubscriptionEnded{Subscription: w.floor.follow, Err: errors.New(why)})
}
