package machine

import (
	"errors"
	"fmt"
	"time"

	"gcity/beads"
	"gcity/controller/effect"
)

func (m *Machine) shut(f effect.CloseRun) {
	m.work.unshut[f.Run.ID] = f
	m.do(f)
}

// shutRun takes the result of closing a record.
func (m *Machine) shutRun(now time.Time, in effect.RunClosed) {
	f, ok := m.work.unshut[in.Bead]
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
		m.tellRun(f)
		delete(m.work.depth, f.Run.ID)
		f.Kind, m.changed = "", true
		if last := m.work.last[f.Run.Automation]; last == nil || last.ID == f.Run.ID {
			ended := f.Run
			m.work.last[f.Run.Automation] = &ended
		}
	}
	defer m.turnRuns(now) // the next run may have waited for this
	if in.Err == nil || forgone {
		delete(m.work.unshut, in.Bead)
		if m.shutAgain(); len(m.work.unshut) == 0 {
			m.note(&m.work.unclosed, "")
		}
		return
	}
	f.Failed = true
	m.work.unshut[in.Bead] = f
	m.lose(&m.work.unclosed, "the record of a run cannot be closed", in.Err)
}

// isShutting reports whether the first try to close the record of an automation's last run goes on. A run that
// began before would leave two open records, if the controller died now: of the first one nobody could say that it
// had ended well.
func (m *Machine) isShutting(scoped string) bool {
	for _, f := range m.work.unshut {
		if f.Kind != "" && f.Run.Automation == scoped {
			return true
		}
	}
	return false
}

// shutAgain tries one more of the records that could not be closed. A patrol tries one; when that succeeds, the
// next follows.
func (m *Machine) shutAgain() {
	first := ""
	for id, f := range m.work.unshut {
		if f.Failed && (first == "" || id < first) {
			first = id
		}
	}
	if f, ok := m.work.unshut[first]; ok {
		f.Failed = false
		m.shut(f)
	}
}

// again says whether the run that has just ended is tried again, and when.
func (m *Machine) again(scoped string) *effect.Retry {
	try, of, at, ok := m.work.runs.Again(scoped)
	if !ok {
		return nil
	}
	return &effect.Retry{Try: try, Of: of, At: at}
}
