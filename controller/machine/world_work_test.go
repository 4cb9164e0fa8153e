package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/toml"
)

type automationWorld struct {
	defs   []automation.Definition
	beads  map[string]beads.Bead
	made   int
	going  map[string]effect.Run // runs in progress, by scoped name
	after  uint64                // sequence number of the latest delivered event
	types  []string
	follow uint64
	answer map[string]int // exit codes of conditions' checks
	memory []byte         // the saved state
	refuse string         // reason why records cannot be created
	store  guard.Breaker  // circuit breaker of the city's store
	dead   string         // reason why the city's store fails
	rev    uint64
	broken []automation.Broken
	trials trials
	hands  map[string]string // the bead that each agent works on; nil = work is not counted
	gates  map[string]string // gates that work waits for, by assignee
}

// automate declares an automation. The words are its name, rig=… and layer=…, and the lines of its file.
func (w *world) automate(words []string) error {
	d, err := define(words)
	if err != nil {
		return err
	}
	w.found(d.Scoped(), &d, nil)
	return nil
}

func define(words []string) (automation.Definition, error) {
	var toml strings.Builder
	toml.WriteString("[automation]\n")
	if !slices.ContainsFunc(words, func(kv string) bool {
		return strings.HasPrefix(kv, "formula=")
	}) {
		toml.WriteString("exec = \"true\"\n")
	}
	rig, root := "", "/app"
	for _, kv := range words[1:] {
		key, value, _ := strings.Cut(kv, "=")
		switch key {
		case "rig":
			rig = value
			continue
		case "layer":
			root = "/" + value
			continue
		}
		if _, err := strconv.Atoi(value); err != nil && value != "true" && value != "false" {
			value = strconv.Quote(strings.ReplaceAll(value, "_", " "))
		}
		fmt.Fprintf(&toml, "%s = %s\n", key, value)
	}
	d, err := automation.Parse(root+"/automations/"+words[0]+"/automation.toml",
		[]byte(toml.String()), time.UTC)
	d.Rig = rig
	d.Hash += rig + root
	return d, err
}

func (w *world) found(scoped string, d *automation.Definition, b *automation.Broken) {
	f := &w.floor
	f.defs = slices.DeleteFunc(f.defs, func(e automation.Definition) bool {
		return e.Scoped() == scoped
	})
	f.broken = slices.DeleteFunc(f.broken, func(e automation.Broken) bool {
		return e.Scoped() == scoped
	})
	if d != nil {
		f.defs = append(f.defs, *d)
	}
	if b != nil {
		f.broken = append(f.broken, *b)
	}
	slices.SortFunc(f.defs, func(a, b automation.Definition) int {
		return strings.Compare(a.Scoped(), b.Scoped())
	})
	slices.SortFunc(f.broken, func(a, b automation.Broken) int {
		return strings.Compare(a.Scoped(), b.Scoped())
	})
	if w.m.conf != nil {
		w.Step(effect.FoldersChanged{})
	}
}

func (f *automationWorld) revision() string {
	var all []string
	for i := range f.defs {
		all = append(all, f.defs[i].Scoped(), f.defs[i].Hash)
	}
	for i := range f.broken {
		all = append(all, "!", f.broken[i].Scoped())
	}
	return strings.Join(all, " ")
}

func unusable(scoped string) *automation.Broken {
	name, rig, _ := strings.Cut(scoped, ":rig:")
	file := "/app/automations/" + name + "/automation.toml"
	return &automation.Broken{Name: name, Rig: rig, Source: file, Problems: toml.Problems{
		toml.At(toml.Place{File: file, Line: 2, Column: 1}, "automation.gate", "is missing"),
	}}
}

func (w *world) workEffect(f effect.Effect) (in effect.Input, ok bool) {
	fl := &w.floor
	if in := w.trouble(f); in != nil {
		return in, true
	}
	switch f := f.(type) {
	case effect.Scan:
		c := automation.Catalog{Automations: slices.Clone(fl.defs), Broken: slices.Clone(fl.broken),
			Revision: fl.revision()}
		return effect.Scanned{Catalog: c, Newest: uint64(len(w.events))}, true
	case effect.SweepRuns:
		return w.sweep(), true
	case effect.Subscribe:
		fl.after, fl.types, fl.follow = f.After, f.Types, f.ID
		return nil, true
	case effect.CheckCondition:
		return effect.ConditionChecked{Scoped: f.Of.Scoped(), Check: f.Of.Check,
			Code: fl.answer[f.Of.Scoped()]}, true
	case effect.OpenRun:
		if w.m.runs.IsClosing(f.Run.Definition.Scoped()) {
			w.breach = append(w.breach, "L4: a run of "+f.Run.Definition.Scoped()+
				" was opened before the end of its previous run was recorded")
		}
		if of := f.Run.Follows; w.m.runs.IsClosing(of) {
			w.breach = append(w.breach, "L4: an on_failure run was opened before the end of "+of+
				" was recorded")
		}
		if fl.refuse != "" && !fl.trials.phantom {
			return effect.RunOpened{Run: f.Run, Err: fmt.Errorf("%s", fl.refuse)}, true
		}
		fl.made++
		b := beads.Bead{ID: fmt.Sprintf("app-%d", fl.made), Status: beads.StatusInProgress,
			CreatedAt: w.now, Labels: []string{city.RunLabel + f.Run.Definition.Scoped()},
			Metadata: map[string]string{city.RunReason: f.Run.Reason, city.RunBy: f.Run.By,
				city.RunRetry: strconv.Itoa(f.Run.Retry), city.RunDepth: strconv.Itoa(f.Run.Depth)}}
		if f.Run.Count > 0 {
			b.Labels = append(b.Labels, fmt.Sprintf("seq:%d", f.Run.Until))
		}
		fl.beads[b.ID] = b
		if fl.refuse != "" {
			fl.trials.ghosts[b.ID] = f.Run
			return effect.RunOpened{Run: f.Run, Err: errors.New(fl.refuse)}, true
		}
		w.recorded(f.Run, b.ID)
		return effect.RunOpened{Run: f.Run, Bead: b}, true
	case effect.Run:
		w.begins(f)
		w.note("run %s as %s: %s, %d events", f.Run.Definition.Scoped(), f.Bead, f.Run.Reason,
			f.Run.Count)
		if by := f.Failed; by != nil {
			w.note("… after %s of %s: %s", by.ID, by.Automation, by.Error)
		}
		if _, twice := fl.going[f.Run.Definition.Scoped()]; twice {
			w.breach = append(w.breach, "two runs of "+f.Run.Definition.Scoped())
		}
		if b := fl.beads[f.Bead]; b.Status != beads.StatusInProgress || fl.memory == nil {
			w.breach = append(w.breach, "L4: a run began without a record")
		}
		fl.going[f.Run.Definition.Scoped()] = f
		return nil, true
	case effect.CloseUnclosedRuns:
		return effect.UnclosedRunsClosed{}, true
	case effect.CancelRun:
		w.note("end run %s by %s", f.Bead, f.By)
		for name, run := range fl.going {
			if run.Bead == f.Bead {
				delete(fl.going, name)
				return effect.RunEnded{Scoped: name, Bead: f.Bead, Outcome: automation.Failed,
					Problem: "ended by " + f.By, Canceled: true}, true
			}
		}
		return nil, true
	case effect.CancelRuns:
		fl.trials.ended = true
		return nil, true
	case effect.CloseRun:
		b := fl.beads[f.Run.ID]
		at := w.now
		b.Status, b.ClosedAt = beads.StatusClosed, &at
		b.Metadata[city.RunOutcome] = f.Run.Outcome
		if f.Run.Canceled {
			b.Metadata[city.RunCanceled] = "true"
		}
		fl.beads[f.Run.ID] = b
		w.note("%s is closed: %s", f.Run.ID, f.Run.Outcome)
		return effect.RunClosed{Bead: f.Run.ID}, true
	case effect.SaveAutomations:
		fl.memory = f.Memory
		return effect.AutomationsSaved{Rev: f.Rev}, true
	case effect.CountWork:
		if fl.hands != nil {
			in := effect.WorkCounted{Tasks: maps.Clone(fl.hands), Gated: maps.Clone(fl.gates),
				Held: map[string]effect.Holding{}}
			in.Mail = city.MailTally{}
			for who, n := range w.watchdogs.letter {
				in.Mail[who] = city.MailCount{Unread: n, Total: n}
			}
			for who, id := range fl.hands {
				in.Held[who] = effect.Holding{IDs: []string{id}, N: 1}
			}
			// simulates a store that has never answered, while other stores have answered
			if why := w.fails["count"]; why != "" {
				in.Unknown, in.Err = true, errors.New(why)
			}
			return in, true
		}
		return effect.WorkCounted{Unchanged: true}, true
	case effect.ReturnWork:
		return w.returnWork(f), true
	case effect.ProbeStores:
		w.note("probe")
		if _, probe := fl.store.Enter(w.now); probe {
			w.called(probe)
		}
		return effect.StoresProbed{}, true
	case effect.Purge:
		return effect.Purged{}, true
	}
	return nil, false
}

func (w *world) called(probe bool) {
	fl := &w.floor
	v := guard.StoreWorks
	if fl.dead != "" {
		v = guard.StoreFailed
	}
	if !fl.store.Ended(w.now, probe, v, errors.New(fl.dead)) {
		return
	}
	fl.rev++
	now := guard.Report{Rev: fl.rev}
	if t := guard.TroubleIn(w.now, "", new(guard.Breaker), &fl.store); t.Text != "" {
		now.Stores = []guard.Trouble{t}
	}
	w.feed(effect.StoresReported{Report: now})
}

func (w *world) sweep() effect.RunsSwept {
	newest := slices.Clone(w.events)
	slices.Reverse(newest)
	in := effect.RunsSwept{Logged: effect.RunsIn(newest)}
	fl := &w.floor
	for i := 1; i <= fl.made; i++ {
		b := fl.beads[fmt.Sprintf("app-%d", i)]
		if b.Status == beads.StatusInProgress {
			at := w.now
			b.Status, b.ClosedAt = beads.StatusClosed, &at
			b.Metadata[city.RunOutcome], b.Metadata[city.RunError] = string(automation.Interrupted),
				effect.Abandoned
			fl.beads[b.ID] = b
			in.Interrupted = append(in.Interrupted, city.RunOf(b))
		}
		in.Runs = append(in.Runs, city.RunOf(b))
	}
	slices.Reverse(in.Runs)
	return in
}

func (w *world) finish(name string, code int) {
	f, ok := w.floor.going[name]
	if !ok {
		return
	}
	in := effect.RunEnded{Scoped: name, Bead: f.Bead, Outcome: automation.OK, Code: &code}
	if code != 0 {
		in.Outcome, in.Problem = automation.Failed, fmt.Sprintf("exit %d", code)
	}
	w.endRun(name, in)
}

func (w *world) emit(kind string) {
	w.Step(effect.Command{ID: uint64(len(w.log) + 1),
		Cmd: city.Emit{Event: events.Event{Type: kind, Actor: "a"}}})
	w.hand()
}

func (w *world) hand() (some bool) {
	fl := &w.floor
	for i := int(fl.after); i < len(w.events); i++ {
		e := w.events[i]
		e.Seq = uint64(i + 1)
		fl.after = max(fl.after, e.Seq)
		if q := (events.Query{Types: fl.types}); len(fl.types) > 0 && q.Match(&e) {
			fl.trials.inbox = append(fl.trials.inbox,
				effect.EventsReceived{Subscription: fl.follow, Events: []events.Event{e}})
		}
	}
	for len(fl.trials.inbox) > 0 && !fl.trials.lag {
		in := fl.trials.inbox[0]
		fl.trials.inbox, some = fl.trials.inbox[1:], true
		w.Step(in)
	}
	return some
}

func (w *world) showAutomations() []string {
	var out []string
	for _, a := range w.m.Snapshot(w.now).Automations {
		line := fmt.Sprintf("%s is %s: %s", a.Name, a.State, a.Reason)
		if a.Next != nil {
			line += fmt.Sprintf(" (next %s)", a.Next.Sub(w.begun).Round(time.Second))
		}
		if a.Last != nil {
			line += fmt.Sprintf("; last %s", a.Last.Outcome)
		}
		if a.LastUnknown {
			line += "; last unknown"
		}
		out = append(out, line)
	}
	return out
}

func (w *world) returnWork(f effect.ReturnWork) effect.WorkReturned {
	var in effect.WorkReturned
	if why := w.fails["return"]; why != "" {
		in.Err = errors.New(why)
		return in
	}
	for _, l := range f.Of {
		what := "work"
		if l.MailOnly {
			what = "mail"
		}
		w.note("give the %s of %s back to pool %s", what, l.Agent, l.Pool)
		if w.alive[l.Agent] != nil {
			w.breach = append(w.breach, "the work of "+l.Agent+" was returned while the agent was running")
		}
		if id := w.floor.hands[l.Agent]; id != "" {
			delete(w.floor.hands, l.Agent)
			in.Done = append(in.Done, effect.Returned{Leaver: l, Bead: id,
				Event: events.Event{Type: events.BeadUpdated, Actor: effect.ActorController,
					Subject: id, Message: "some work"}})
		}
	}
	return in
}
