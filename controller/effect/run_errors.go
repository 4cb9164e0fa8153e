package effect

import (
	"errors"
	"time"

	"gcity/session"
)

// CaptureLimit is the timeout of saving a dead session's output.
const CaptureLimit = 2 * time.Second

// CanceledError is the error of a run that a user has canceled.
type CanceledError struct{ By string }

func (h *CanceledError) Error() string { return "ended by " + h.By }

func IsCanceled(err error) bool {
	_, ok := errors.AsType[*CanceledError](err)
	return ok
}

// Abandoned is the error text of a run that was still active when its controller ended.
const Abandoned = "the controller ended during the run"

// Unanswered returns the providers that did not answer a list, with their errors. partly is false if err is not a
// session.PartialError.
func Unanswered(err error) (unknown map[string]error, partly bool) {
	if p, ok := errors.AsType[*session.PartialError](err); ok {
		return p.Unknown, true
	}
	return nil, false
}

func IsLate(err error) bool {
	_, late := errors.AsType[*session.LateError](err)
	return late
}
