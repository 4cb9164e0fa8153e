package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller"
	"gcity/events"
	"gcity/internal/beside"
)

// glance bounds how long one look at a city waits for its stores.
const glance = 3 * time.Second

// pastRuns is how many runs of an automation are looked at to tell how it stands.
const pastRuns = 20

// openStores opens the work of the city and of those of its rigs that can be worked in. Nothing is read yet.
func (b *aside) openStores() error {
	var all []place
	switch {
	case b.config != nil:
		all = places(b.config)
	case b.known != nil:
		all = slices.DeleteFunc(placesOf(b.dir, b.known.snapshot(b.dir)), place.gone)
	}
	for _, p := range all {
		if b.config != nil {
			if r := b.config.Rig(p.rig); r != nil && r.Problem != "" {
				continue
			}
		}
		s, err := openTrusted(p)
		if err != nil {
			return err
		}
		b.stores = append(b.stores, &depot{store: s, place: p, city: b.dir})
	}
	return nil
}

// gone says whether the folder of a rig, of which something is known from before, is not there now. One that does not
// answer is.
func (p place) gone() bool {
	lost, ok := beside.New[bool](1).At(context.Background(), p.dir, time.Now(), glance,
		func() bool {
			_, err := os.Stat(p.dir)
			return errors.Is(err, fs.ErrNotExist)
		})
	return p.rig != "" && ok && lost
}

// workless says why there is no work to be had: the file is refused, and who keeps it is not known.
func (b *aside) workless() error {
	if b.refused == nil || b.known != nil {
		return nil
	}
	return needsFile(b.refused, unknownWork)
}

// Beads implements city.Control on all stores, as a controller does.
func (b *aside) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := b.workless(); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, workProblem(err)
	}
	var all []beads.Bead
	for _, d := range b.stores {
		found, err := d.List(ctx, q)
		if err != nil {
			return nil, workProblem(fmt.Errorf("the work of %s cannot be read: %w", d.title(), err))
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(x, y beads.Bead) int { return y.CreatedAt.Compare(x.CreatedAt) })
	if most := q.Most(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

// RunOutput implements city.Control: what the records keep. A run whose record is open was cut off, and kept nothing.
func (b *aside) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		r, err := city.GetRun(ctx, b, run)
		yield(city.Piece{Text: r.Output}, err)
	}
}

// work counts what is to be done in all stores, in that of each rig, and of pools without a check what is theirs.
// Records of runs are no work.
func (b *aside) work(ctx context.Context) (w city.Work, rigs map[string]*city.RigWork,
	letters city.MailTally, troubles []string) {
	rigs, letters = map[string]*city.RigWork{}, city.MailTally{}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	for _, d := range b.stores {
		before := w
		count := func(q beads.Query, to *int) error {
			n, err := d.Count(ctx, q)
			*to += n
			return err
		}
		err := count(beads.Query{Status: []beads.Status{beads.StatusOpen}, NotType: city.NotWork()},
			&w.Open)
		if err == nil {
			err = count(beads.Query{Status: []beads.Status{beads.StatusInProgress},
				NotType: city.NotWork()}, &w.InProgress)
		}
		if err == nil && d.rig != "" {
			rigs[d.rig] = &city.RigWork{Open: w.Open - before.Open,
				InProgress: w.InProgress - before.InProgress}
		}
		for _, p := range poolPlan(b.config, b.dir) {
			n := 0
			if err != nil || p.Check != "" {
				continue
			}
			err = count(beads.Query{
				Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress},
				Labels: []string{city.PoolLabel + p.Name}, NotType: []string{typeRun},
			}, &n)
			if n > 0 {
				if w.Pools == nil {
					w.Pools = map[string]int{}
				}
				w.Pools[p.Name] += n
			}
		}
		if err == nil {
			var own city.MailTally
			own, err = city.TallyMail(ctx, d.store)
			letters.Merge(own)
		}
		if err != nil {
			troubles = append(troubles, fmt.Sprintf("the work of %s cannot be counted: %v",
				d.title(), err))
		}
	}
	return w, rigs, letters, troubles
}

// automations judges what a scan finds by what the records of runs say. Nobody runs the checks of conditions.
func (b *aside) automations(ctx context.Context) (out []city.Automation, warnings,
	troubles []string) {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	found, troubles := b.scan()
	for _, w := range found.Warnings {
		warnings = append(warnings, strings.ReplaceAll(w.String(), b.dir+"/", ""))
	}
	for _, broken := range found.Broken {
		out = append(out, controller.DescribeBroken(b.dir, broken))
	}
	for _, d := range found.Automations {
		item, _, err := b.judge(ctx, d, automation.CheckFacts{})
		if err != nil {
			item.Reason = "its records cannot be read: " + err.Error()
		}
		item.Reason += "; no controller runs"
		out = append(out, item)
	}
	slices.SortFunc(out, func(x, y city.Automation) int { return strings.Compare(x.Name, y.Name) })
	return out, warnings, troubles
}

// scan finds the automations of the configuration.
func (b *aside) scan() (automation.Catalog, []string) {
	var troubles []string
	var err error
	if b.deeds, err = deedsOf(b.dir); err != nil {
		troubles = append(troubles, err.Error())
	}
	found, trouble := scanFor(&b.scanner, b.config, b.now())
	return found, append(troubles, trouble...)
}

// scanFor finds the automations of a configuration. The formulas that come with the program are only asked for where
// something is amiss without them: to look at a city leaves no trace in it.
func scanFor(s *automation.Scanner, c *config.City, now time.Time) (automation.Catalog, []string) {
	var troubles []string
	o := c.AutomationOptions()
	o.Patience = glance / 3 // the records have to be read, too
	found := s.Scan(c.Layers(), o, now)
	if len(found.Broken) > 0 {
		if layers, err := layersOf(c); err == nil {
			found = s.Scan(layers, o, now)
		} else {
			troubles = append(troubles, err.Error())
		}
	}
	for _, p := range found.Problems {
		troubles = append(troubles, p.String())
	}
	return found, troubles
}

// automationTroubles is what is wrong with, or odd about, the automations of a configuration: broken ones first.
func automationTroubles(c *config.City, now time.Time) []string {
	found, troubles := scanFor(&automation.Scanner{}, c, now)
	for _, b := range found.Broken {
		for line := range strings.SplitSeq(controller.DescribeBroken(c.Path, b).Reason, "\n") {
			troubles = append(troubles, "automation "+b.Scoped()+" is broken: "+line)
		}
	}
	for _, d := range found.Automations {
		for _, w := range controller.Describe(c.Path, d).Warnings {
			troubles = append(troubles, "automation "+d.Scoped()+": "+w)
		}
	}
	for _, w := range found.Warnings {
		troubles = append(troubles, w.String())
	}
	for i := range troubles {
		troubles[i] = strings.ReplaceAll(troubles[i], c.Path+"/", "")
	}
	return troubles
}

// judge tells how one automation stands, given what its check said, and whether its check is to be asked.
//
// The controller's memory goes before the records, which may have been purged.
func (b *aside) judge(ctx context.Context, d automation.Definition,
	check automation.CheckFacts) (city.Automation, automation.Verdict, error) {
	item := controller.Describe(b.dir, d)
	records, err := b.stores[0].List(ctx, runsOf(d.Scoped(), pastRuns))
	if err != nil {
		return item, automation.Verdict{}, err
	}
	f := automation.Facts{Suspended: d.Rests(suspendedFor(b.config, d.Rig)), Check: check,
		Patrol: b.config.Daemon.PatrolInterval}
	b.recall(d, records, &item, &f)
	m := b.deeds[d.Scoped()]
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

// recall makes facts of the records of runs, the newest first. A run that is open was cut off: whoever ran it is gone.
func (b *aside) recall(d automation.Definition, records []beads.Bead, item *city.Automation,
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
		deed, known := b.deeds[d.Scoped()]
		switch {
		// it knows whether somebody has ended the run
		case known && !deed.Open && !deed.Last.Before(run.Opened):
			f.Tries, f.FailedAt = deed.Tries, deed.Ended
		case run.Outcome == "failed" && run.Ended != nil && run.Retry < d.Retry:
			f.Tries, f.FailedAt = run.Retry+1, *run.Ended
		}
	}
}

// waiting counts the events that no run has dealt with. One that has never run begins with those that come.
func (b *aside) waiting(ctx context.Context, d automation.Definition, cursor uint64,
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

// suspendedFor says why nothing of a rig, or of the city, fires by itself.
func suspendedFor(c *config.City, rig string) string {
	if r := c.Rig(rig); r != nil && r.Suspended {
		return "with rig " + rig
	}
	if c.Workspace.Suspended {
		return "with the city"
	}
	return ""
}

// runsOf asks for the newest runs of an automation.
func runsOf(scoped string, limit int) beads.Query {
	return beads.Query{Labels: []string{city.RunLabel + scoped}, Type: typeRun, Limit: limit}
}
