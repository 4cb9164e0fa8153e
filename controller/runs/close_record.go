package runs

import (
	"errors"
	"fmt"
	"time"

	"gcity/beads"
	"gcity/controller/effect"
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
	// the run's end is recorded after the first attempt, even if the attempt failed
	if f.Kind != "" {
		if forgone {
			f.Msg += fmt.Sprintf("; its record %s can never be closed: %v", f.Run.ID,
				in.Err)
		}
		rs.record(f)
		delete(rs.Depths, f.Run.ID)
		f.Kind, rs.out.Changed = "", true
		if last := rs.Last[f.Run.Automation]; last == nil || last.ID == f.Run.ID {
			ended := f.Run
			rs.Last[f.Run.Automation] = &ended
		}
	}
	defer rs.Advance(now) // the next run may be waiting for this record
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

// IsClosing reports whether the first attempt to close the record of an automation's last run is in flight. The next
// run waits for the attempt. Otherwise, a controller that dies could leave two open records, and its successor could
// not determine whether the first run succeeded.
func (rs *Runs) IsClosing(scoped string) bool {
	for _, f := range rs.OpenRecords {
		if f.Kind != "" && f.Run.Automation == scoped {
			return true
		}
	}
	return false
}

// retryClose retries closing the record of an ended run. Each patrol tries one record. If that succeeds, the next
// record follows immediately.
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

// retryOf returns the next retry of the run that has just ended, or nil if it is not retried.
func (rs *Runs) retryOf(scoped string) *effect.Retry {
	try, of, at, ok := rs.Schedule.Again(scoped)
	if !ok {
		return nil
	}
	return &effect.Retry{Try: try, Of: of, At: at}
}
