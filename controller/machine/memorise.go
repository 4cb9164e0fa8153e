package machine

import (
	"encoding/json"
	"slices"
	"time"

	"gcity/controller/effect"
)

// memorise has what is to be remembered of automations written down, and lets those runs begin of which it is.
func (m *Machine) memorise() {
	w := &m.work
	if rev := w.runs.Rev(); rev != w.saved && !w.saving {
		data, err := json.Marshal(w.runs.Memory())
		if err != nil {
			m.note(&w.unsaved, err.Error())
			return
		}
		w.saving = true
		m.do(effect.SaveAutomations{Rev: rev, Memory: data})
	}
	w.begin = slices.DeleteFunc(w.begin, func(f effect.Run) bool {
		if f.Memory > w.saved && (w.saving || w.unsaved == "") {
			return false
		}
		m.do(f)
		return true
	})
}

// memorised takes the result. What cannot be written down does not keep runs from going: degraded beats dead.
func (m *Machine) memorised(now time.Time, in effect.AutomationsSaved) {
	w := &m.work
	w.saving = false
	if in.Err != nil {
		m.note(&w.unsaved, "what automations have done cannot be remembered: "+in.Err.Error())
	} else {
		w.saved = in.Rev
		m.note(&w.unsaved, "")
		m.memorise()
		return
	}
	for _, f := range w.begin {
		m.do(f)
	}
	w.begin = nil
}
