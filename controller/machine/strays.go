package machine

import (
	"slices"
	"time"

	"gcity/controller/effect"
)

// A store that did not answer in time may have made the record all the same, and after its run was given up.
// Nobody would close it before the next controller: so the records are looked through once more, some time after.
const (
	strayWait = 2 * time.Minute
	strayAge  = time.Minute // a younger record may be that of a run which is just being opened
)

// seekStrays orders that look, once it is time for it.
func (m *Machine) seekStrays(now time.Time) {
	w := &m.work
	if w.strays.IsZero() || now.Before(w.strays) || !w.swept || m.ending != alive || m.settling ||
		m.storeProblem("") != "" {
		return
	}
	known := make([]string, 0, len(w.goes)+len(w.unshut))
	for _, run := range w.goes {
		if run.ID == "" {
			return // whose record that will be is not known yet
		}
		known = append(known, run.ID)
	}
	for id := range w.unshut {
		known = append(known, id)
	}
	slices.Sort(known)
	w.strays = time.Time{}
	m.do(effect.CloseUnclosedRuns{Known: known, Before: now.Add(-strayAge)})
}

// strayed takes the result.
func (m *Machine) strayed(now time.Time, in effect.UnclosedRunsClosed) {
	if in.Err == nil {
		m.note(&m.work.lost, "")
	} else if m.work.strays.IsZero() {
		m.work.strays = now.Add(strayWait)
	}
}
