package citytest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/events"
	"gcity/mail"
)

// prefix is the prefix of the IDs of a Fake's beads.
const prefix = "tw"

// Store returns the store of a Fake, for tests that break it. Direct changes are not counted in the snapshot.
func (f *Fake) Store() *fake.Store { return f.store }

// Beads implements city.Control.
func (f *Fake) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	found, err := f.store.List(ctx, q)
	return found, city.WorkError(err)
}

// Bead implements city.Getter.
func (f *Fake) Bead(ctx context.Context, id string) (beads.Bead, error) {
	b, err := f.store.Get(ctx, id)
	return b, city.WorkError(err)
}

// RunOutput implements city.Control. It yields the record, because runs of a Fake end at once.
func (f *Fake) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		r, err := city.GetRun(ctx, f, run)
		yield(city.Piece{Text: r.Output}, err)
	}
}

func (f *Fake) createBead(ctx context.Context, c city.CreateBead) (city.Receipt, error) {
	if c.Rig != "" && rig(f.snap, c.Rig) == nil {
		return city.Receipt{}, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("rig %q not found", c.Rig)}
	}
	b, err := f.store.Create(ctx, c.Bead)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	return f.worked(ctx, nil, b), nil
}

func (f *Fake) updateBead(ctx context.Context, c city.UpdateBead) (city.Receipt, error) {
	before, err := f.store.Get(ctx, c.ID)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	if err := c.Allowed(ctx, f.store); err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	b, err := f.store.Update(ctx, c.ID, c.Patch)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	return f.worked(ctx, &before, b), nil
}

// worked records a change of a bead.
func (f *Fake) worked(ctx context.Context, was *beads.Bead, b beads.Bead) city.Receipt {
	counted := f.countWork(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	e := city.BeadEvent(was, b, "", 0)
	e.Type = cmp.Or(e.Type, events.BeadUpdated)
	seq := f.record(e)
	f.edit(func(s *city.Snapshot) {
		counted(s)
	})
	_, verb, _ := strings.Cut(e.Type, ".")
	return city.Receipt{Seq: seq, Message: cmp.Or(city.Deed(was, b), verb+" "+b.ID), Bead: &b}
}

// countWork counts unfinished work and returns a function that stores the numbers in a snapshot. Runs are not work.
func (f *Fake) countWork(ctx context.Context) func(*city.Snapshot) {
	all, err := f.store.List(ctx, beads.Query{
		Status:  []beads.Status{beads.StatusOpen, beads.StatusInProgress},
		NotType: []string{city.RunType, city.ConvoyType}, Limit: -1,
	})
	if err != nil {
		return func(*city.Snapshot) {}
	}
	var w city.Work
	newest := map[string]beads.Bead{}
	letters := city.MailTally{}
	for _, b := range all {
		if b.Type == mail.Type {
			letters.Add(b)
			continue
		}
		if b.Status == beads.StatusOpen {
			w.Open++
		} else {
			w.InProgress++
			if b.UpdatedAt.After(newest[b.Assignee].UpdatedAt) {
				newest[b.Assignee] = b
			}
		}
		for _, l := range b.Labels {
			if pool, ok := strings.CutPrefix(l, city.PoolLabel); ok {
				if w.Pools == nil {
					w.Pools = map[string]int{}
				}
				w.Pools[pool]++
			}
		}
	}
	return func(s *city.Snapshot) {
		s.Work = w
		s.CountMail(letters)
		for i := range s.Agents {
			s.Agents[i].Task = ""
			if b, ok := newest[s.Agents[i].Name]; ok {
				s.Agents[i].Task = b.ID + " " + b.Title
			}
		}
	}
}

// end is the result of a run.
type end struct {
	code   int
	output string
}

// EndRuns sets the result of an automation's runs from now on: an exit code, with 0 for success, and an output. The
// default is 0 and no output.
func (f *Fake) EndRuns(automation string, code int, output string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends[automation] = end{code, output}
}

// Recipe sets the steps that a formula creates below its root, in the form of beads.Batcher. The default is no
// steps.
func (f *Fake) Recipe(formula string, steps ...beads.Bead) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recipes[formula] = steps
}

// fire runs an automation. Its run has ended when fire returns.
func (f *Fake) fire(ctx context.Context, c city.Fire) (city.Receipt, error) {
	if err := city.CheckBy(c.By); err != nil {
		return city.Receipt{}, err
	}
	f.mu.Lock()
	found, ok := f.snap.Automation(c.Automation)
	how := f.ends[c.Automation]
	f.mu.Unlock()
	if !ok {
		return city.Receipt{}, refuse(city.NotFound, "automation %q not found", c.Automation)
	}
	a := *found
	switch {
	case a.State == city.AutomationBroken:
		return city.Receipt{}, refuse(city.Conflict, "automation %s cannot be run: %s", a.Name,
			a.Reason)
	case a.State == city.AutomationRunning:
		return city.Receipt{}, refuse(city.Conflict, "automation %s is running; wait for its end",
			a.Name)
	}
	by := cmp.Or(c.By, "operator")
	opened, err := f.store.Create(ctx, beads.Bead{
		Title: "run of " + a.Name, Type: city.RunType, Status: beads.StatusInProgress,
		Labels:   []string{city.RunLabel + a.Name},
		Metadata: map[string]string{city.RunReason: "by hand", city.RunBy: by},
	})
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	run := city.RunOf(opened)
	seq := f.tellRun(ctx, events.AutomationFired, run, func(a *city.Automation) {
		a.State, a.Reason, a.Since, a.Last = city.AutomationRunning, "by hand", &run.Opened, &run
	})
	closed, err := f.endRun(ctx, a, opened.ID, how)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	done := city.RunOf(closed)
	kind := events.AutomationCompleted
	if how.code != 0 {
		kind = events.AutomationFailed
	}
	f.tellRun(ctx, kind, done, func(now *city.Automation) {
		now.State, now.Reason, now.Since, now.Last = a.State, a.Reason, a.Since, &done
		if now.Failures++; how.code == 0 {
			now.Failures = 0
		}
	})
	return city.Receipt{Seq: seq, Message: fmt.Sprintf("automation %s runs, as %s", a.Name,
		opened.ID), Bead: &opened}, nil
}

// halt refuses to stop a run: a Fake's runs end at once.
func (f *Fake) halt(c city.EndRun) (city.Receipt, error) {
	if err := city.CheckBy(c.By); err != nil {
		return city.Receipt{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.snap.Automation(c.Automation); !ok {
		return city.Receipt{}, refuse(city.NotFound, "automation %q not found", c.Automation)
	}
	return city.Receipt{}, refuse(city.Conflict, "automation %s is not running: there is "+
		"nothing to stop",
		c.Automation)
}

// endRun records the end of a run and creates the result of its formula, if it has one.
func (f *Fake) endRun(ctx context.Context, a city.Automation, id string, how end) (beads.Bead,
	error) {
	meta := map[string]string{city.RunOutcome: "ok", city.RunOutput: how.output}
	label := "exec"
	if how.code != 0 {
		meta[city.RunOutcome], label = "failed", "exec-failed"
	}
	patch := beads.Closing()
	if a.Formula == "" {
		meta[city.RunCode] = strconv.Itoa(how.code)
		patch.AddLabels = []string{label}
	} else if how.code == 0 {
		made, err := f.cook(ctx, a)
		if err != nil {
			return beads.Bead{}, err
		}
		meta[city.RunMade] = made
	}
	maps.DeleteFunc(meta, func(_, v string) bool { return v == "" })
	patch.SetMetadata = meta
	return f.store.Update(ctx, id, patch)
}

// cook creates the result of an automation's formula and returns the ID of the root.
func (f *Fake) cook(ctx context.Context, a city.Automation) (string, error) {
	labels := []string{city.RunLabel + a.Name}
	if a.Pool != "" {
		labels = append(labels, city.PoolLabel+a.Pool)
	}
	all := []beads.Bead{{ID: "$root", Title: a.Formula, Type: beads.TypeMolecule, Ref: a.Formula,
		Labels: labels}}
	f.mu.Lock()
	steps := f.recipes[a.Formula]
	f.mu.Unlock()
	for _, step := range steps {
		step.ParentID, step.Labels = "$root", labels
		all = append(all, step)
	}
	made, err := f.store.CreateAll(ctx, all)
	if err != nil {
		return "", err
	}
	return made[0].ID, nil
}

// tellRun records an event of a run and publishes what it changed.
func (f *Fake) tellRun(ctx context.Context, kind string, r city.Run,
	change func(*city.Automation)) uint64 {
	about := map[string]any{"run": r.ID}
	if r.Ended != nil {
		about["duration_ms"], about["outcome"] = r.Ended.Sub(r.Opened)/time.Millisecond, r.Outcome
	}
	if r.Code != nil {
		about["code"] = *r.Code
	}
	payload, err := json.Marshal(about)
	if err != nil {
		panic(err) // numbers and words
	}
	counted := f.countWork(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	seq := f.record(events.Event{Type: kind, Actor: cmp.Or(r.By, "controller"),
		Subject: r.Automation, Message: r.Outcome, Payload: payload})
	f.edit(func(s *city.Snapshot) {
		counted(s)
		if a, ok := s.Automation(r.Automation); ok {
			change(a)
		}
	})
	return seq
}
