package runs

import (
	"encoding/json"
	"slices"
	"time"

	"gcity/controller/effect"
)

// save requests that the automation state be saved. If the state is already saved, save starts the runs that waited
// for it.
func (rs *Runs) save() {
	if rev := rs.Schedule.Rev(); rev != rs.SavedRev && !rs.saving {
		data, err := json.Marshal(rs.Schedule.Memory())
		if err != nil {
			rs.out.Note(&rs.StateNotSaved, err.Error())
			return
		}
		rs.saving = true
		rs.out.Do(effect.SaveAutomations{Rev: rev, Memory: data})
	}
	rs.Queued = slices.DeleteFunc(rs.Queued, func(f effect.Run) bool {
		if f.Memory > rs.SavedRev && (rs.saving || rs.StateNotSaved == "") {
			return false
		}
		rs.out.Do(f)
		return true
	})
}

// Saved handles the result of saving the state. After a failure, the problem is shown, and the waiting runs start
// anyway.
func (rs *Runs) Saved(now time.Time, in effect.AutomationsSaved) {
	rs.saving = false
	if in.Err != nil {
		rs.out.Note(&rs.StateNotSaved, "the automation state cannot be saved: "+in.Err.Error())
	} else {
		rs.SavedRev = in.Rev
		rs.out.Note(&rs.StateNotSaved, "")
		rs.save()
		return
	}
	for _, f := range rs.Queued {
		rs.out.Do(f)
	}
	rs.Queued = nil
}
