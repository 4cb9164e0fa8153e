package runs

import (
	"slices"
	"time"

	"gcity/controller/effect"
)

// A store that did not answer in time may have made the record all the same, and after its run was given up.
// Nobody would close it before the next controller: so the records are looked through once more, some time after.
const (
	StrayWait = 2 * time.Minute
	strayAge  = time.Minute // a younger record may be that of a run which is just being opened
)

// CheckStrays orders that look, once it is time for it.
func (rs *Runs) CheckStrays(now time.Time) {
	if rs.strayCheck.IsZero() || now.Before(rs.strayCheck) || !rs.RecordsRead ||
		!rs.city.Running() || rs.city.Settling() ||
		rs.city.StoreProblem() != "" {
		return
	}
	known := make([]string, 0, len(rs.Current)+len(rs.OpenRecords))
	for _, run := range rs.Current {
		if run.ID == "" {
			return // whose record that will be is not known yet
		}
		known = append(known, run.ID)
	}
	for id := range rs.OpenRecords {
		known = append(known, id)
	}
	slices.Sort(known)
	rs.strayCheck = time.Time{}
	rs.out.Do(effect.CloseUnclosedRuns{Known: known, Before: now.Add(-strayAge)})
}

// StraysClosed takes the result.
func (rs *Runs) StraysClosed(now time.Time, in effect.UnclosedRunsClosed) {
	if in.Err == nil {
		rs.out.Note(&rs.Unopened, "")
	} else if rs.strayCheck.IsZero() {
		rs.strayCheck = now.Add(StrayWait)
	}
}
