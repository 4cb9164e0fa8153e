package offline

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/controller"
	"gcity/controller/describe"
	"gcity/controller/perform"
	"gcity/events"
)

// pastRuns is how many of an automation's run records are read to determine its state.
const pastRuns = 20

// openStores opens the stores of the city and its usable rigs. It does not read them yet.
func (b *City) openStores() error {
	var all []workstore.Place
	switch {
	case b.config != nil:
		all = workstore.Places(b.config)
	case b.known != nil:
		all = slices.DeleteFunc(workstore.PlacesOf(b.Dir, b.known.Snapshot(b.Dir)),
			workstore.Place.Gone)
	}
	for _, p := range all {
		if b.config != nil {
			if r := b.config.Rig(p.Rig); r != nil && r.Problem != "" {
				continue
			}
		}
		s, err := workstore.OpenTrusted(p)
		if err != nil {
			return err
		}
		b.stores = append(b.stores, &depot.Store{Store: s, Place: p, City: b.Dir})
	}
	return nil
}

// checkStores returns an error if the stores are unknown, because the configuration is invalid and not cached.
func (b *City) checkStores() error {
	if b.invalid == nil || b.known != nil {
		return nil
	}
	return folder.NeedsFile(b.invalid, folder.UnknownWork)
}

// Beads implements city.Control on all stores, as a controller does.
func (b *City) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := b.checkStores(); err != nil {
		return nil, err
	}
	r := b.runner(nil)
	defer r.Cancel()
	return r.Stores.Beads(ctx, q)
}

// runner returns the runner that a controller would use for the city's stores. s is the city's state. It may be nil if
// only the stores are needed.
func (b *City) runner(s *city.Snapshot) *perform.Runner {
	if s == nil {
		s = &city.Snapshot{}
		if b.config != nil {
			s.Name = b.config.Workspace.Name
		}
		for _, d := range b.stores {
			if d.Rig != "" {
				s.Rigs = append(s.Rigs, city.Rig{Name: d.Rig, Prefix: d.Prefix})
			}
		}
	}
	// a rig without a usable folder has no store to search
	s.Rigs = slices.DeleteFunc(s.Rigs, func(r city.Rig) bool {
		return !slices.ContainsFunc(b.stores, func(d *depot.Store) bool { return d.Rig == r.Name })
	})
	return controller.NewRunner(b.options(), b.config, func() *city.Snapshot { return s })
}

// RunOutput implements city.Control with the output in the records. A run with an open record was interrupted, so
// its output is lost.
func (b *City) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		r, err := city.GetRun(ctx, b, run)
		yield(city.Piece{Text: r.Output}, err)
	}
}

// automations finds the city's automations and evaluates them from the records of their runs. It does not run the check
// commands of condition gates.
func (b *City) automations(ctx context.Context) (out []city.Automation, warnings,
	troubles []string) {
	ctx, cancel := context.WithTimeout(ctx, folder.ReadTimeout)
	defer cancel()
	found, troubles := b.scan()
	for _, w := range found.Warnings {
		warnings = append(warnings, strings.ReplaceAll(w.String(), b.Dir+"/", ""))
	}
	for _, broken := range found.Broken {
		out = append(out, describe.Broken(b.Dir, broken))
	}
	for _, d := range found.Automations {
		item, _, err := b.judge(ctx, d, automation.CheckFacts{})
		if err != nil {
			item.Reason = "cannot read its records: " + err.Error()
		}
		item.Reason += "; no controller is running"
		out = append(out, item)
	}
	slices.SortFunc(out, func(x, y city.Automation) int { return strings.Compare(x.Name, y.Name) })
	return out, warnings, troubles
}

// scan finds the configuration's automations, and reads their saved states.
func (b *City) scan() (automation.Catalog, []string) {
	var troubles []string
	var err error
	if b.automationStates, err = folder.AutomationsOf(b.Dir); err != nil {
		troubles = append(troubles, err.Error())
	}
	found, trouble := folder.ScanFor(&b.scanner, b.config, b.now())
	return found, append(troubles, trouble...)
}

// judge returns the state of one automation, given the result of its check, and whether its check should run.
//
// The controller's saved state takes precedence over the records, because old records are deleted.
func (b *City) judge(ctx context.Context, d automation.Definition,
	check automation.CheckFacts) (city.Automation, automation.Verdict, error) {
	item := describe.Automation(b.Dir, d)
	records, err := b.stores[0].List(ctx, RunsOf(d.Scoped(), pastRuns))
	if err != nil {
		return item, automation.Verdict{}, err
	}
	f := automation.Facts{Suspended: d.BlockedWhile(folder.SuspendedFor(b.config, d.Rig)),
		Check: check, Patrol: b.config.Daemon.PatrolInterval}
	b.recall(d, records, &item, &f)
	m := b.automationStates[d.Scoped()]
	f.Born, item.Failures = m.Born, max(item.Failures, m.Failures)
	if m.Last.After(f.Last) {
		f.Last = m.Last
	}
	if d.Gate == automation.Event && d.Off == "" {
		if f.Events, err = b.waiting(ctx, d, m.Cursor, records); err != nil {
			return item, automation.Verdict{}, err
		}
	}
	v := automation.Judge(d, f, b.now())
	item.Reason = v.Reason
	if !v.Next.IsZero() {
		item.Next = &v.Next
	}
	switch {
	case d.Off != "" || f.Suspended != "" && d.Gate != automation.Manual:
		item.State = city.AutomationOff
	case v.Due:
		item.State = city.AutomationDue
	case f.Tries > 0:
		item.State = city.AutomationBackoff
	}
	return item, v, nil
}

// recall converts the records of runs, newest first, to facts. A run that is still open was interrupted, because
// its controller has exited.
func (b *City) recall(d automation.Definition, records []beads.Bead, item *city.Automation,
	f *automation.Facts) {
	for i, r := range records {
		run := city.RunOf(r)
		f.Recent = append([]time.Time{run.Opened}, f.Recent...)
		if item.Failures == i && run.Outcome == "failed" {
			item.Failures++
		}
		if i > 0 {
			continue
		}
		item.Last, f.Last = &run, run.Opened
		saved, known := b.automationStates[d.Scoped()]
		switch {
		// only the saved state shows whether the run was stopped by hand
		case known && !saved.Open && !saved.Last.Before(run.Opened):
			f.Tries, f.FailedAt = saved.Tries, saved.Ended
		case run.Outcome == "failed" && run.Ended != nil && run.Retry < d.Retry:
			f.Tries, f.FailedAt = run.Retry+1, *run.Ended
		}
	}
}

// waiting returns the number of events that no run has handled. If the automation has never run, existing events
// are not counted.
func (b *City) waiting(ctx context.Context, d automation.Definition, cursor uint64,
	records []beads.Bead) (automation.EventFacts, error) {
	f := automation.EventFacts{Cursor: cursor}
	for _, r := range records {
		f.Cursor = max(f.Cursor, city.RunOf(r).Seq)
	}
	if f.Cursor == 0 {
		newest, err := b.History(ctx, events.Query{Limit: 1})
		for _, e := range newest {
			f.Cursor = e.Seq
		}
		return f, err
	}
	page, err := b.History(ctx, events.Query{Types: []string{d.On}, After: f.Cursor, Forward: true,
		Limit: events.MaxLimit})
	for _, e := range page {
		f.Newest = max(f.Newest, e.Seq)
	}
	f.Count = len(page)
	return f, err
}

// RunsOf returns the query for the newest runs of an automation.
func RunsOf(scoped string, limit int) beads.Query {
	return beads.Query{Labels: []string{city.RunLabel + scoped}, Type: workstore.TypeRun,
		Limit: limit}
}
