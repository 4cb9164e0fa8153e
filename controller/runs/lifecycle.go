package runs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// Scans is the state of the scans of the automation folders.
type Scans struct {
	Scanning, rescan bool
	scanWaiters      []scanWaiter
}

// scanWaiter is a command that waits for a scan that starts after the command.
type scanWaiter struct {
	id   uint64
	next bool // the scan in flight started before the command
	do   func(now time.Time)
}

// Scan requests a scan of the automation folders.
func (rs *Runs) Scan() {
	if !rs.scans() {
		return
	}
	if rs.Scanning {
		rs.rescan = true
		return
	}
	rs.Scanning, rs.rescan = true, false
	c := rs.city.Configuration()
	rs.out.Do(effect.Scan{Source: c.Source, Layers: c.Layers, Rigs: c.Rigs, Options: c.Automations})
}

func (rs *Runs) scans() bool {
	c := rs.city.Configuration()
	return c != nil && !c.NoWork && rs.judges() && !rs.city.OneShot() && !rs.city.FolderMoved()
}

// afterScan scans the automation folders and then calls do, so that do finds all files that were saved before.
func (rs *Runs) afterScan(now time.Time, id uint64, do func(now time.Time)) {
	if !rs.scans() {
		do(now)
		return
	}
	rs.scanWaiters = append(rs.scanWaiters, scanWaiter{id: id, next: rs.Scanning, do: do})
	rs.Scan()
}

// ReplyAfterScan replies to a reload when the automations have been read too.
func (rs *Runs) ReplyAfterScan(now time.Time, id uint64, message string) {
	before := rs.catalog.Revision
	rs.afterScan(now, id, func(time.Time) {
		if !rs.city.Running() {
			rs.out.Reject(id, city.Unavailable, "the city is being stopped")
			return
		}
		if before != "" && rs.catalog.Revision != before {
			message = strings.TrimPrefix(message, "nothing changed: ") +
				"; the automations have changed"
		}
		rs.out.Reply(id, "%s", message)
	})
}

// Scanned handles the result of a scan. Before any run starts, open records of the previous controller must be closed.
func (rs *Runs) Scanned(now time.Time, in effect.Scanned) {
	rs.Scanning = false
	if rs.rescan {
		rs.Scan()
	}
	if !in.Away {
		rs.take(now, in)
	}
	var waiting []scanWaiter
	waiting, rs.scanWaiters = rs.scanWaiters, nil
	for _, w := range waiting {
		if w.next && rs.Scanning {
			w.next = false
			rs.scanWaiters = append(rs.scanWaiters, w)
			continue
		}
		w.do(now)
	}
}

func (rs *Runs) take(now time.Time, in effect.Scanned) {
	rs.out.Note(&rs.FoldersNotRead, in.Trouble)
	if rs.known && rs.catalog.Revision == in.Catalog.Revision {
		return
	}
	rs.catalog, rs.known, rs.logSeq, rs.out.Changed = in.Catalog, true, in.Newest, true
	rs.Sweep()
	rs.load(now)
}

func (rs *Runs) load(now time.Time) {
	if !rs.RecordsRead || !rs.known {
		return
	}
	rs.Schedule.Load(rs.catalog, rs.logSeq, now)
	forgotten := func(name string, _ *city.Run) bool { return !rs.Schedule.Remembers(name) }
	maps.DeleteFunc(rs.Last, forgotten)
	maps.DeleteFunc(rs.failed, forgotten)
	rs.subscribe()
	rs.fireEarly(now)
	rs.Advance(now)
}

func (rs *Runs) Sweep() {
	if !rs.RecordsRead && !rs.sweeping {
		rs.sweeping = true
		var of []string
		for _, name := range slices.Sorted(maps.Keys(rs.Inherited)) {
			if d := rs.Inherited[name]; !d.Last.IsZero() && d.Gone.IsZero() {
				of = append(of, name)
			}
		}
		rs.out.Do(effect.SweepRuns{Of: of})
	}
}

// RunsSwept handles the records of earlier runs. Runs with an open record count as interrupted.
func (rs *Runs) RunsSwept(now time.Time, in effect.RunsSwept) {
	rs.sweeping = false
	rs.recordInherited(&in)
	if in.Err != nil { // the next patrol tries again
		rs.out.Lose(&rs.RecordsNotRead, "work cannot be read", in.Err)
		rs.fireEarly(now)
		return
	}
	rs.out.Note(&rs.RecordsNotRead, "")
	if in.Unclosable != "" {
		rs.out.Note(&rs.Unclosable, "some records of ended runs cannot be closed "+
			"(`gcity bead show ID` shows a record): "+in.Unclosable)
	}
	rs.RecordsRead, rs.recorded, rs.out.Changed = true, nil, true
	for _, r := range slices.Backward(in.Runs) {
		if r.Outcome == city.RunVoid {
			continue
		}
		if rs.known && r.Seq > rs.logSeq { // the record refers to a log that was replaced
			r.Seq = 0
		}
		rs.Inherited[r.Automation] = rs.Inherited[r.Automation].Note(r.Opened,
			r.Outcome == string(automation.Interrupted), r.Seq, r.Retry)
		if before := rs.Last[r.Automation]; before == nil || before.Opened.Before(r.Opened) {
			rs.Last[r.Automation] = &r
		}
		if r.Outcome != string(automation.OK) {
			rs.failed[r.Automation] = &r
		}
	}
	for name, r := range rs.Last {
		switch m := rs.Inherited[name]; {
		case r.Ended == nil:
		case r.Outcome == string(automation.OK):
			rs.Inherited[name] = m.Succeeded(*r.Ended)
		case r.Outcome == string(automation.Failed):
			rs.Inherited[name] = m.FailedRun(*r.Ended, r.Canceled)
		}
	}
	rs.Schedule.Recall(rs.Inherited)
	rs.Inherited = nil
	rs.load(now)
}

// Advance evaluates all automations and starts the runs that are due.
func (rs *Runs) Advance(now time.Time) {
	if !rs.known || !rs.RecordsRead || !rs.judges() || rs.city.OneShot() ||
		rs.city.FolderMoved() {
		return
	}
	closed := rs.city.StoreProblem()
	if rs.city.Observed() {
		closed = unattended
	}
	actions := rs.Schedule.Advance(now, automation.World{Suspended: rs.Suspended,
		Patrol: rs.city.Configuration().Patrol, Closed: closed, Ending: rs.IsClosing})
	for _, p := range actions.Skipped {
		rs.out.Record(events.Event{Type: events.AutomationSkipped,
			Subject: p.Scoped, Message: p.Reason,
			Payload: depthOf(p.Depth)})
	}
	for _, d := range actions.Check {
		rs.out.Do(effect.CheckCondition{In: rs.city.Configuration().Source, Of: d})
	}
	for _, r := range actions.Open {
		rs.Current[r.Definition.Scoped()] = &city.Run{}
		rs.out.Do(effect.OpenRun{Run: r})
	}
	rs.rejectUnfired()
	if actions.TextChanged || len(actions.Check)+len(actions.Open)+len(actions.Skipped) > 0 {
		rs.out.Changed = true
	}
	rs.save()
}

const unattended = "no controller is running"

func (rs *Runs) judges() bool { return rs.city.Running() || rs.city.Observed() }

// Suspended returns the reason why a rig's automations do not fire, or "" if they do.
func (rs *Runs) Suspended(rig string) string {
	for i := range rs.city.Configuration().Rigs {
		if r := &rs.city.Configuration().Rigs[i]; r.Name == rig && r.Suspended {
			return "with rig " + rig
		}
	}
	if rs.city.Configuration().Suspended {
		return "with the city"
	}
	return ""
}

// Opened handles the result of creating a run's record. The run starts after the state is saved (L4).
func (rs *Runs) Opened(now time.Time, in effect.RunOpened) {
	name := in.Run.Definition.Scoped()
	rs.out.Changed = true
	if in.Err != nil {
		delete(rs.Current, name)
		rs.Schedule.Unopened(name, in.Err.Error(), now)
		rs.unclosedCheck = now.Add(UnclosedWait)
		rs.out.Lose(&rs.RecordNotCreated,
			"run records cannot be created, so automations do not run",
			in.Err)
		for _, id := range rs.FireWaiters[name] {
			rs.out.Reject(id, city.Unavailable,
				"automation %s cannot be run, because its record cannot be "+
					"created: %v",
				name, in.Err)
		}
		delete(rs.FireWaiters, name)
		return
	}
	rs.out.Note(&rs.RecordNotCreated, "")
	run := city.RunOf(in.Bead)
	if rs.Schedule.Opened(name, now) {
		rs.discard(now, run, in.Run.Definition.Formula != "")
		return
	}
	run.Depth = in.Run.Depth
	rs.Current[name], rs.Last[name] = &run, &run
	var replies []effect.Reply
	for _, id := range rs.FireWaiters[name] {
		replies = append(replies, effect.Reply{ID: id,
			Receipt: city.Receipt{Message: fmt.Sprintf("started automation %s, run %s", name,
				run.ID),
				Bead: &in.Bead}})
	}
	delete(rs.FireWaiters, name)
	rs.record(effect.CloseRun{Run: run, Kind: events.AutomationFired, Msg: run.Reason}, replies...)
	if !rs.city.Running() {
		rs.endUnstarted(name)
		return
	}
	rs.Queued = append(rs.Queued, effect.Run{In: rs.city.Configuration().Source, Run: in.Run,
		Bead:   in.Bead.ID,
		Memory: rs.Schedule.Rev(), Failed: rs.failed[in.Run.Follows]})
	rs.save()
	rs.Advance(now)
}

// discard closes the record of a run that must not start, because the client stopped waiting while the record was being
// created. No event is recorded.
func (rs *Runs) discard(now time.Time, run city.Run, isFormula bool) {
	delete(rs.Current, run.Automation)
	run.Ended, run.Outcome = &now, city.RunVoid
	run.Error = "the request was canceled before the run started"
	rs.closeRecord(effect.CloseRun{Run: run, Formula: isFormula})
	rs.save()
	rs.Advance(now)
}

// Ended handles the end of a run. Closing the run's record is retried until it succeeds.
func (rs *Runs) Ended(now time.Time, in effect.RunEnded) {
	run := rs.Current[in.Scoped]
	if run == nil || run.ID != in.Bead {
		return
	}
	delete(rs.Current, in.Scoped)
	ending, done := *run, *run
	ending.Outcome = string(in.Outcome)
	rs.Last[in.Scoped] = &ending
	done.Ended, done.Outcome, done.Code, done.Error, done.Output, done.Made = &now,
		string(in.Outcome), in.Code, in.Problem, in.Output, in.Created
	done.MadeTitle, done.TimedOut, done.Canceled = in.Title, in.TimedOut, in.Canceled
	rs.out.Changed = true
	kind, msg := endOf(&done)
	if in.Outcome != automation.OK {
		rs.failed[in.Scoped] = &done
	}
	if in.Canceled {
		rs.Schedule.Canceled(in.Scoped, now)
	} else {
		rs.Schedule.Ended(in.Scoped, in.Outcome, now)
	}
	rs.replyToCancel(&done, in.Canceled)
	if in.Created != "" {
		about := map[string]any{"status": beads.StatusOpen, "depth": run.Depth + 1}
		if in.Rig != "" {
			about["rig"] = in.Rig
		}
		rs.out.Record(events.Event{Type: events.BeadCreated,
			Subject: in.Created, Message: in.Title, Payload: step.Payload(about)})
	}
	rs.closeRecord(effect.CloseRun{Run: done, Formula: in.Formula, Kind: kind, Msg: msg,
		Again: rs.retryOf(in.Scoped)})
	rs.save()
	rs.city.CountWork()
	rs.Advance(now)
}

func (rs *Runs) record(f effect.CloseRun, replies ...effect.Reply) {
	r, msg := f.Run, f.Msg
	about := map[string]any{"run": r.ID, "depth": r.Depth + 1}
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
		msg += fmt.Sprintf("; retry %d of %d follows", f.Again.Try, f.Again.Of)
	}
	rs.out.Record(events.Event{Type: f.Kind,
		Actor: r.By, Subject: r.Automation, Message: msg,
		Payload: step.Payload(about)}, replies...)
}

// forgotShown is the minimum time for which lost state is reported.
const forgotShown = time.Hour

// Patrol scans the automation folders.
func (rs *Runs) Patrol(now time.Time) {
	if rs.firstPatrol.IsZero() {
		rs.firstPatrol = now
	}
	// the state has been saved again, and users have had time to see the problem
	if rs.SavedRev > 0 && now.Sub(rs.firstPatrol) > forgotShown {
		rs.out.Note(&rs.StateNotRead, "")
		rs.out.Note(&rs.Unclosable, "")
	}
	rs.Scan()
}

// Retry repeats requests that have failed.
func (rs *Runs) Retry(now time.Time) {
	if rs.known {
		rs.Sweep()
	}
	rs.resubscribe()
	rs.retryClose()
	rs.CheckUnclosedRuns(now)
}
