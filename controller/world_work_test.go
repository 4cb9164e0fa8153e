package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// shopfloor is a world's automations and what becomes of their runs: records, and runs that end when a story says so.
type shopfloor struct {
	defs   []automation.Definition
	beads  map[string]beads.Bead
	made   int
	going  map[string]fxRun // begun, by scoped name
	after  uint64           // events that were handed in
	types  []string
	answer map[string]int // of conditions
	memory []byte         // on the disk
	refuse string         // why records cannot be made
}

// automate declares an automation: its name, then lines of its file, as key=value.
func (w *world) automate(words []string) error {
	var toml strings.Builder
	toml.WriteString("[automation]\nexec = \"true\"\n")
	for _, kv := range words[1:] {
		key, value, _ := strings.Cut(kv, "=")
		if _, err := strconv.Atoi(value); err != nil {
			value = strconv.Quote(strings.ReplaceAll(value, "_", " "))
		}
		fmt.Fprintf(&toml, "%s = %s\n", key, value)
	}
	d, err := automation.Parse("/app/automations/"+words[0]+"/automation.toml", []byte(toml.String()), time.UTC)
	if err != nil {
		return err
	}
	f := &w.floor
	f.defs = slices.DeleteFunc(f.defs, func(e automation.Definition) bool { return e.Name == d.Name })
	f.defs = append(f.defs, d)
	slices.SortFunc(f.defs, func(a, b automation.Definition) int { return strings.Compare(a.Name, b.Name) })
	if w.m.conf != nil {
		w.step(inRescan{})
	}
	return nil
}

// workEffect is reality's answer to an effect about work; not ok for any other.
func (w *world) workEffect(f effect) (in input, ok bool) {
	fl := &w.floor
	switch f := f.(type) {
	case fxScan:
		return inScanned{catalog: automation.Catalog{Automations: slices.Clone(fl.defs), Revision: fmt.Sprint(fl.defs)}, newest: uint64(len(w.events))}, true
	case fxSweep:
		return w.sweep(), true
	case fxFollow:
		fl.after, fl.types = f.after, f.types
		return nil, true
	case fxCondition:
		return inCondition{scoped: f.of.Scoped(), code: fl.answer[f.of.Scoped()]}, true
	case fxOpen:
		if fl.refuse != "" {
			return inOpened{run: f.run, err: fmt.Errorf("%s", fl.refuse)}, true
		}
		fl.made++
		b := beads.Bead{ID: fmt.Sprintf("app-%d", fl.made), Status: beads.StatusInProgress, CreatedAt: w.now, Labels: []string{city.RunLabel + f.run.Definition.Scoped()},
			Metadata: map[string]string{city.RunReason: f.run.Reason, city.RunBy: f.run.By}}
		fl.beads[b.ID] = b
		return inOpened{run: f.run, bead: b}, true
	case fxRun:
		w.note("run %s as %s: %s, %d events", f.run.Definition.Scoped(), f.bead, f.run.Reason, f.run.Count)
		if _, twice := fl.going[f.run.Definition.Scoped()]; twice {
			w.breach = append(w.breach, "two runs of "+f.run.Definition.Scoped())
		}
		if b := fl.beads[f.bead]; b.Status != beads.StatusInProgress || fl.memory == nil {
			w.breach = append(w.breach, "L4: a run began that is not on record")
		}
		fl.going[f.run.Definition.Scoped()] = f
		return nil, true
	case fxEndRuns:
		return nil, true
	case fxShut:
		b := fl.beads[f.run.ID]
		b.Status, b.ClosedAt = beads.StatusClosed, &w.now
		b.Metadata[city.RunOutcome] = f.run.Outcome
		fl.beads[f.run.ID] = b
		w.note("%s is closed: %s", f.run.ID, f.run.Outcome)
		return inShut{bead: f.run.ID}, true
	case fxMemorise:
		fl.memory = f.memory
		return inMemorised{rev: f.rev}, true
	case fxCount:
		return inCounted{unchanged: true}, true
	case fxPurge:
		return inPurged{}, true
	}
	return nil, false
}

func (w *world) sweep() inSwept {
	var in inSwept
	fl := &w.floor
	for i := 1; i <= fl.made; i++ {
		b := fl.beads[fmt.Sprintf("app-%d", i)]
		if b.Status == beads.StatusInProgress {
			b.Status, b.ClosedAt = beads.StatusClosed, &w.now
			b.Metadata[city.RunOutcome] = string(automation.Interrupted)
			fl.beads[b.ID] = b
			in.interrupted = append(in.interrupted, city.RunOf(b))
		}
		in.runs = append(in.runs, city.RunOf(b))
	}
	return in
}

// finish ends a run that goes.
func (w *world) finish(name string, code int) {
	f, ok := w.floor.going[name]
	if !ok {
		return
	}
	delete(w.floor.going, name)
	in := inRan{scoped: name, bead: f.bead, outcome: automation.OK, code: &code, took: w.now.Sub(w.floor.beads[f.bead].CreatedAt)}
	if code != 0 {
		in.outcome, in.problem = automation.Failed, fmt.Sprintf("exit %d", code)
	}
	w.step(in)
}

// emit writes an event as an agent would, and hands it to whom it may concern.
func (w *world) emit(kind string) {
	w.step(inCommand{id: uint64(len(w.log) + 1), cmd: city.Emit{Event: events.Event{Type: kind, Actor: "a"}}})
	w.hand()
}

// hand gives automations the events that they wait for.
func (w *world) hand() {
	for i := int(w.floor.after); i < len(w.events); i++ {
		e := w.events[i]
		e.Seq = uint64(i + 1)
		if q := (events.Query{Types: w.floor.types}); len(w.floor.types) > 0 && q.Match(&e) {
			w.step(inHappened{events: []events.Event{e}})
		}
		w.floor.after = max(w.floor.after, uint64(i+1))
	}
}

// showAutomations lists the automations as an operator sees them.
func (w *world) showAutomations() []string {
	var out []string
	for _, a := range w.m.snapshot(w.now).Automations {
		line := fmt.Sprintf("%s is %s: %s", a.Name, a.State, a.Reason)
		if a.Next != nil {
			line += fmt.Sprintf(" (next %s)", a.Next.Sub(w.begun).Round(time.Second))
		}
		if a.Last != nil {
			line += fmt.Sprintf("; last %s", a.Last.Outcome)
		}
		out = append(out, line)
	}
	return out
}
