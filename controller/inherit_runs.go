package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// tellsOf returns what some events, the newest first, say of runs.
func tellsOf(newest []events.Event) *effect.LoggedRuns {
	t := &effect.LoggedRuns{Fired: map[string]bool{}, Ended: map[string]bool{}}
	for i := range newest {
		e := &newest[i]
		of := t.Ended
		switch t.Since = e.TS; e.Type {
		case events.AutomationFired:
			of = t.Fired
		case events.AutomationCompleted, events.AutomationFailed:
		default:
			continue
		}
		var about struct{ Run string }
		if json.Unmarshal(e.Payload, &about) == nil {
			of[about.Run] = true
		}
	}
	return t
}

// toldRuns reads what the log says of runs, in a tail of bounded size.
func (r *runner) toldRuns(ctx context.Context) (*effect.LoggedRuns, error) {
	newest, err := r.c.o.Log.Find(ctx, events.Query{Limit: NewestEvents})
	if err != nil {
		return nil, fmt.Errorf("cannot tell which runs are in the event log: %w", err)
	}
	return tellsOf(newest), nil
}

// inheritRuns records what a predecessor did not of the runs whose records are known, the newest first. closed are
// those whose records were open.
func (m *machine) inheritRuns(in *effect.RunsSwept) {
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
		if t := in.Told; t != nil && !t.Fired[run.ID] && !run.Opened.Before(t.Since) {
			begun := run
			begun.Ended, begun.Outcome, begun.Code, begun.Made, begun.TimedOut = nil, "", nil, "",
				false
			m.tellRun(effect.CloseRun{Run: begun, Kind: events.AutomationFired, Msg: run.Reason})
		}
		if m.lacksEnd(&run, in.Told, closed[run.ID]) {
			kind, msg := endOf(&run, run.Ended.Sub(run.Opened))
			m.tellRun(effect.CloseRun{Run: run, Kind: kind, Msg: msg})
		}
	}
}

// lacksEnd reports whether the end of a run is not in the log. closed: its record was open until now.
func (m *machine) lacksEnd(run *city.Run, t *effect.LoggedRuns, closed bool) bool {
	switch {
	case run.Ended == nil:
		return false
	case t == nil: // the log cannot be read
		return closed
	}
	return !t.Ended[run.ID] && !run.Ended.Before(t.Since)
}

// abandoned is the error of a run whose controller ended before it did.
const abandoned = "its controller ended before it did"

// endOf returns the event of a run's end, by its record.
func endOf(run *city.Run, took time.Duration) (kind, msg string) {
	took = took.Round(time.Millisecond)
	switch {
	case run.Error == abandoned:
		return events.AutomationFailed, "interrupted: " + run.Error
	case run.Outcome != string(automation.OK):
		return events.AutomationFailed, cmp.Or(run.Error,
			fmt.Sprintf("%s after %s", run.Outcome, took))
	case run.Made != "":
		return events.AutomationCompleted, fmt.Sprintf("made %s in %s", run.Made, took)
	}
	return events.AutomationCompleted, "ok in " + took.String()
}
