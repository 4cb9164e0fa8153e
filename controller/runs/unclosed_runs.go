package runs

import (
	"slices"
	"time"

	"gcity/controller/effect"
)

// A store that did not respond in time may still have created a record after its run was given up. Such a record
// would stay open until the next controller starts. Therefore open records are checked again later.
const (
	UnclosedWait = 2 * time.Minute
	unclosedAge  = time.Minute // a younger record may belong to a run that is being opened
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
			return // the record of this run may already exist, but its ID is not known yet
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
