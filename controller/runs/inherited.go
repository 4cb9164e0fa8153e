package runs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// recordInherited writes the run events that the previous controller could not write. It derives them from the run
// records. The runs in in.Interrupted had an open record.
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
			begun.Ended, begun.Outcome, begun.Code, begun.Made, begun.TimedOut = nil, "", nil, "",
				false
			rs.record(effect.CloseRun{Run: begun, Kind: events.AutomationFired, Msg: run.Reason})
		}
		if rs.endMissing(&run, in.Logged, closed[run.ID]) {
			kind, msg := endOf(&run, run.Ended.Sub(run.Opened))
			rs.record(effect.CloseRun{Run: run, Kind: kind, Msg: msg})
		}
	}
}

// endMissing reports whether the end of a run is missing from the log. closed is true if the run's record was still
// open.
func (rs *Runs) endMissing(run *city.Run, t *effect.LoggedRuns, closed bool) bool {
	switch {
	case run.Ended == nil:
		return false
	case t == nil: // without the log, an event is recorded only for runs with an open record
		return closed
	}
	return !t.Ended[run.ID] && !run.Ended.Before(t.Since)
}

// endOf returns the type and message of the event for a run's end, derived from the run's record.
func endOf(run *city.Run, took time.Duration) (kind, msg string) {
	took = took.Round(time.Millisecond)
	switch {
	case run.Error == effect.Abandoned:
		return events.AutomationFailed, "interrupted: " + run.Error
	case run.Outcome != string(automation.OK):
		return events.AutomationFailed, cmp.Or(run.Error,
			fmt.Sprintf("%s after %s", run.Outcome, took))
	case run.Made != "":
		return events.AutomationCompleted, fmt.Sprintf("created %s in %s", run.Made, took)
	}
	return events.AutomationCompleted, "ok in " + took.String()
}
