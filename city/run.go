package city

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/internal/suggest"
)

// GetRun returns the run with this ID. Errors are *Error, with code NotFound if the bead is not a run.
func GetRun(ctx context.Context, c Control, id string) (Run, error) {
	b, err := GetBead(ctx, c, id)
	if err != nil {
		return Run{}, err
	}
	if b.Type != RunType {
		return Run{}, Missing(suggest.NoSuch(suggest.Run, id).Then(fmt.Sprintf(
			"that bead has type %s; `gcity bead show %s` prints it", b.Type, id)))
	}
	return RunOf(b), nil
}

// Ending reports whether a run has finished and its record is not closed yet.
func (r *Run) Ending() bool { return r.Ended == nil && r.Outcome != "" }

// CheckBy returns an *Error with code Invalid if by is not a valid name for an author. "" is valid.
func CheckBy(by string) *Error {
	_, err := beads.Prepare(beads.Bead{Title: "by", Assignee: by}, time.Unix(0, 0))
	if wrong, ok := errors.AsType[*beads.Invalid](err); ok {
		return Errorf(Invalid, "the author (`by`, which gc sets "+
			"from GC_AGENT) %s", wrong.Reason)
	}
	return nil
}

// RunOf converts a run's bead.
func RunOf(b beads.Bead) Run {
	r := Run{
		ID: b.ID, Reason: b.Metadata[RunReason], By: b.Metadata[RunBy], Opened: b.CreatedAt,
		Ended:   b.ClosedAt,
		Outcome: b.Metadata[RunOutcome], Error: b.Metadata[RunError], Output: b.Metadata[RunOutput],
		Made: b.Metadata[RunMade], MadeTitle: b.Metadata[RunTitle],
		TimedOut: b.Metadata[RunTimedOut] == "true", Canceled: b.Metadata[RunCanceled] == "true",
	}
	for _, l := range b.Labels {
		if name, ok := strings.CutPrefix(l, RunLabel); ok {
			r.Automation = name
		}
		if seq, ok := strings.CutPrefix(l, "seq:"); ok {
			if n, err := strconv.ParseUint(seq, 10, 64); err == nil {
				r.Seq = n
			}
		}
	}
	number := func(key string) int {
		n, err := strconv.Atoi(b.Metadata[key])
		if err != nil {
			return 0 // missing, or written by another program
		}
		return n
	}
	r.Retry, r.Events, r.Depth = number(RunRetry), number(RunEvents), number(RunDepth)
	if code, err := strconv.Atoi(b.Metadata[RunCode]); err == nil {
		r.Code = &code
	}
	return r
}
