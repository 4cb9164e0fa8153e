package runs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/span"
)

func (rs *Runs) closeRecord(f effect.CloseRun) {
	rs.OpenRecords[f.Run.ID] = f
	rs.out.Do(f)
}

// Closed handles the result of closing a run's record.
func (rs *Runs) Closed(now time.Time, in effect.RunClosed) {
	f, ok := rs.OpenRecords[in.Bead]
	if !ok {
		return
	}
	// a retry would fail too
	forgone := errors.Is(in.Err, beads.ErrNotFound) || effect.Unclosable(in.Err)
	// the run's end is recorded even if the first attempt to close the record failed
	if f.Kind != "" {
		if in.At != nil && f.Run.Ended != nil { // the event gets the same duration as the record
			f.Run.Ended = in.At
			f.Kind, f.Msg = endOf(&f.Run)
		}
		if forgone {
			f.Msg += fmt.Sprintf("; its record %s can never be closed: %v", f.Run.ID,
				in.Err)
		}
		rs.record(f)
		f.Kind, rs.out.Changed = "", true
		if last := rs.Last[f.Run.Automation]; last == nil || last.ID == f.Run.ID {
			rs.Last[f.Run.Automation] = new(f.Run)
		}
	}
	defer rs.Advance(now) // the next run might wait for this record
	if in.Err == nil || forgone {
		delete(rs.OpenRecords, in.Bead)
		if rs.retryClose(); len(rs.OpenRecords) == 0 {
			rs.out.Note(&rs.RecordNotClosed, "")
		}
		return
	}
	f.Failed = true
	rs.OpenRecords[in.Bead] = f
	rs.out.Lose(&rs.RecordNotClosed, "a run's record cannot be closed", in.Err)
}

// IsClosing reports whether the first attempt to close the latest run's record is in flight. Until it ends, no new run
// may start: a dead controller must never leave two open records.
func (rs *Runs) IsClosing(scoped string) bool {
	for _, f := range rs.OpenRecords {
		pending := f.Kind != "" || f.Run.Outcome == city.RunVoid && !f.Failed
		if pending && f.Run.Automation == scoped {
			return true
		}
	}
	return false
}

func (rs *Runs) retryClose() {
	first := ""
	for id, f := range rs.OpenRecords {
		if f.Failed && (first == "" || id < first) {
			first = id
		}
	}
	if f, ok := rs.OpenRecords[first]; ok {
		f.Failed = false
		rs.closeRecord(f)
	}
}

func (rs *Runs) retryOf(scoped string) *effect.Retry {
	try, of, at, ok := rs.Schedule.Again(scoped)
	if !ok {
		return nil
	}
	return &effect.Retry{Try: try, Of: of, At: at}
}

// A slow store might create a record after the controller has given up on the run.
const (
	UnclosedWait = 2 * time.Minute
	unclosedAge  = time.Minute // a newer record may belong to a run that is being opened
)

// CheckUnclosedRuns requests a check of open records if one is due.
func (rs *Runs) CheckUnclosedRuns(now time.Time) {
	if rs.unclosedCheck.IsZero() || now.Before(rs.unclosedCheck) || !rs.RecordsRead ||
		!rs.city.Running() || rs.city.OneShot() ||
		rs.city.StoreProblem() != "" {
		return
	}
	known := make([]string, 0, len(rs.Current)+len(rs.OpenRecords))
	for _, run := range rs.Current {
		if run.ID == "" {
			return // the record might already exist, but its ID is not known yet
		}
		known = append(known, run.ID)
	}
	for id := range rs.OpenRecords {
		known = append(known, id)
	}
	slices.Sort(known)
	rs.unclosedCheck = time.Time{}
	rs.out.Do(effect.CloseUnclosedRuns{Known: known, Before: now.Add(-unclosedAge)})
}

// UnclosedRunsClosed handles the result of checking open records.
func (rs *Runs) UnclosedRunsClosed(now time.Time, in effect.UnclosedRunsClosed) {
	if in.Err == nil {
		rs.out.Note(&rs.RecordNotCreated, "")
	} else if rs.unclosedCheck.IsZero() {
		rs.unclosedCheck = now.Add(UnclosedWait)
	}
}

func (rs *Runs) recordInherited(in *effect.RunsSwept) {
	closed := map[string]bool{}
	for i := range in.Interrupted {
		closed[in.Interrupted[i].ID] = true
	}
	runs := slices.Clone(in.Interrupted)
	for _, run := range slices.Backward(in.Runs) {
		if !closed[run.ID] {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b city.Run) int { return a.Opened.Compare(b.Opened) })
	for _, run := range runs {
		if run.Outcome == city.RunVoid {
			continue
		}
		if t := in.Logged; t != nil && !t.Fired[run.ID] && !run.Opened.Before(t.Since) {
			begun := run
			begun.Ended, begun.Outcome, begun.Code, begun.TimedOut = nil, "", nil, false
			begun.Made, begun.MadeTitle = "", ""
			rs.recordOnce(effect.CloseRun{Run: begun, Kind: events.AutomationFired,
				Msg: run.Reason})
		}
		if rs.endMissing(&run, in.Logged, closed[run.ID]) {
			kind, msg := endOf(&run)
			rs.recordOnce(effect.CloseRun{Run: run, Kind: kind, Msg: msg})
		}
	}
}

// An earlier attempt might have recorded the event. The log might not contain it yet.
func (rs *Runs) recordOnce(f effect.CloseRun) {
	of := "end " + f.Run.ID
	if f.Kind == events.AutomationFired {
		of = "start " + f.Run.ID
	}
	if rs.recorded[of] {
		return
	}
	if rs.recorded == nil {
		rs.recorded = map[string]bool{}
	}
	rs.recorded[of] = true
	rs.record(f)
}

func (rs *Runs) endMissing(run *city.Run, t *effect.LoggedRuns, wasOpen bool) bool {
	switch {
	case run.Ended == nil:
		return false
	case t == nil: // without the log, only runs with an open record get an event
		return wasOpen
	}
	// the record can be closed later than the time of the event, but no event is older than the run
	return !t.Ended[run.ID] && (wasOpen || !run.Opened.Before(t.Since))
}

func endOf(run *city.Run) (kind, msg string) {
	// negative if the store's clock was set back
	took := span.Took(run.Ended.Sub(run.Opened))
	switch {
	case run.Error == effect.Abandoned:
		return events.AutomationFailed, "interrupted: " + run.Error
	case run.Outcome != string(automation.OK):
		return events.AutomationFailed, cmp.Or(run.Error,
			fmt.Sprintf("%s after %s", run.Outcome, took))
	case run.Made != "":
		return events.AutomationCompleted, fmt.Sprintf("created %s in %s", run.Made, took)
	}
	return events.AutomationCompleted, "ok in " + took
}
