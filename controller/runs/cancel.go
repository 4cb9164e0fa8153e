package runs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/suggest"
)

// Cancel cancels an automation's active run. The reply to the command is sent when the run has ended.
func (rs *Runs) Cancel(now time.Time, id uint64, c city.EndRun) {
	name := c.Automation
	if err := city.CheckBy(c.By); err != nil {
		rs.out.Reject(id, err.Code, err.Message)
		return
	}
	run, by := rs.Current[name], cmp.Or(c.By, effect.ActorOperator)
	switch {
	case run == nil && !rs.exists(name):
		rs.out.Reject(id, city.NotFound,
			suggest.NotFound(suggest.Automation, name, rs.names()).Error())
		return
	case run == nil && rs.Schedule.Awaits(name):
		rs.out.Reject(id, city.Conflict, "automation "+name+" is not running: a run is due and "+
			"is waiting to start")
		return
	case run == nil:
		rs.out.Reject(id, city.Conflict, "automation "+name+" is not running: there is nothing "+
			"to cancel")
		return
	case run.ID == "":
		rs.out.Reject(id, city.Conflict, "the run of "+name+" is starting: try again "+
			"in a moment")
		return
	}
	rs.cancelWaiters[run.ID] = append(rs.cancelWaiters[run.ID], id)
	bead := run.ID
	if i := slices.IndexFunc(rs.Queued, func(f effect.Run) bool { return f.Bead == bead }); i >= 0 {
		f := rs.Queued[i]
		rs.Queued = slices.Delete(rs.Queued, i, i+1)
		rs.Ended(now, effect.RunEnded{Scoped: name, Bead: bead, Outcome: automation.Failed,
			Problem: (&effect.CanceledError{By: by}).Error() + " before it started",
			Formula: f.Run.Definition.Formula != "", Canceled: true})
		return
	}
	rs.out.Do(effect.CancelRun{Bead: bead, By: by})
}

// replyToCancel replies to the commands that wait for the end of a run.
func (rs *Runs) replyToCancel(run *city.Run, canceled bool) {
	text := fmt.Sprintf("stopped run %s of %s", run.ID, run.Automation)
	if !canceled { // it ended on its own in the meantime
		text = fmt.Sprintf("run %s of %s has ended: %s", run.ID, run.Automation,
			cmp.Or(run.Error, run.Outcome))
	}
	for _, id := range rs.cancelWaiters[run.ID] {
		rs.out.Reply(id, text)
	}
	delete(rs.cancelWaiters, run.ID)
}

// exists reports whether an automation with this name exists or has saved state.
func (rs *Runs) exists(name string) bool {
	return rs.Schedule.Remembers(name) || slices.Contains(rs.names(), name)
}

func (rs *Runs) names() []string {
	var names []string
	for _, d := range rs.catalog.Automations {
		names = append(names, d.Scoped())
	}
	for _, b := range rs.catalog.Broken {
		names = append(names, b.Scoped())
	}
	return names
}
