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

// Closed takes the result of closing a record.
func (rs *Runs) Closed(now time.Time, in effect.RunClosed) {
	f, ok := rs.OpenRecords[in.Bead]
	if !ok {
		return
	}
	// no try will change that
	forgone := errors.Is(in.Err, beads.ErrNotFound) || effect.Unclosable(in.Err)
	if f.Kind != "" { // told once its end is on record, or cannot be for now
		if forgone {
			f.Msg += fmt.Sprintf("; its record %s cannot be closed, and is given up: %v", f.Run.ID,
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
	defer rs.Turn(now) // the next run may have waited for this
	if in.Err == nil || forgone {
		delete(rs.OpenRecords, in.Bead)
		if rs.retryClose(); len(rs.OpenRecords) == 0 {
			rs.out.Note(&rs.Unclosed, "")
		}
		return
	}
	f.Failed = true
	rs.OpenRecords[in.Bead] = f
	rs.out.Lose(&rs.Unclosed, "the record of a run cannot be closed", in.Err)
}

// IsClosing reports whether the first try to close the record of an automation's last run goes on. A run that
// began before would leave two open records, if the controller died now: of the first one nobody could say that it
// had ended well.
func (rs *Runs) IsClosing(scoped string) bool {
	for _, f := range rs.OpenRecords {
		if f.Kind != "" && f.Run.Automation == scoped {
			return true
		}
	}
	return false
}

// retryClose tries one more of the records that could not be closed. A patrol tries one; when that succeeds, the
// next follows.
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

// retryOf says whether the run that has just ended is tried again, and when.
func (rs *Runs) retryOf(scoped string) *effect.Retry {
	try, of, at, ok := rs.Schedule.Again(scoped)
	if !ok {
		return nil
	}
	return &effect.Retry{Try: try, Of: of, At: at}
}
