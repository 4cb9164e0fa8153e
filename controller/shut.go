package controller

import (
	"errors"
	"fmt"
	"time"

	"gcity/beads"
)

func (m *machine) shut(f fxShut) {
	m.work.unshut[f.run.ID] = f
	m.do(f)
}

// shutRun takes the result of closing a record.
func (m *machine) shutRun(now time.Time, in inShut) {
	f, ok := m.work.unshut[in.bead]
	if !ok {
		return
	}
	forgone := errors.Is(in.err, beads.ErrNotFound) || unclosable(in.err) // no try will change that
	if f.kind != "" {                                                     // told once its end is on record, or cannot be for now
		if forgone {
			f.msg += fmt.Sprintf("; its record %s cannot be closed, and is given up: %v", f.run.ID, in.err)
		}
		m.tellRun(f)
		delete(m.work.depth, f.run.ID)
		f.kind, m.changed = "", true
		if last := m.work.last[f.run.Automation]; last == nil || last.ID == f.run.ID {
			ended := f.run
			m.work.last[f.run.Automation] = &ended
		}
	}
	defer m.turnRuns(now) // the next run may have waited for this
	if in.err == nil || forgone {
		delete(m.work.unshut, in.bead)
		if m.shutAgain(); len(m.work.unshut) == 0 {
			m.note(&m.work.unclosed, "")
		}
		return
	}
	f.failed = true
	m.work.unshut[in.bead] = f
	m.lose(&m.work.unclosed, "the record of a run cannot be closed", in.err)
}

// isShutting reports whether the first try to close the record of an automation's last run goes on. A run that began before
// would leave two open records, if the controller died now: of the first one nobody could say that it had ended well.
func (m *machine) isShutting(scoped string) bool {
	for _, f := range m.work.unshut {
		if f.kind != "" && f.run.Automation == scoped {
			return true
		}
	}
	return false
}

// shutAgain tries one more of the records that could not be closed. A patrol tries one; when that succeeds, the next follows.
func (m *machine) shutAgain() {
	first := ""
	for id, f := range m.work.unshut {
		if f.failed && (first == "" || id < first) {
			first = id
		}
	}
	if f, ok := m.work.unshut[first]; ok {
		f.failed = false
		m.shut(f)
	}
}

// again is when a run that failed is tried again.
type again struct {
	Try int       `json:"try"` // of so many …
	Of  int       `json:"of"`
	At  time.Time `json:"at"`
}

// again says whether the run that has just ended is tried again, and when.
func (m *machine) again(scoped string) *again {
	try, of, at, ok := m.work.runs.Again(scoped)
	if !ok {
		return nil
	}
	return &again{Try: try, Of: of, At: at}
}
