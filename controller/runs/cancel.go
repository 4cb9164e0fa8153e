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

// Cancel ends the run of an automation that goes. It is answered when nothing of it is left.
func (rs *Runs) Cancel(now time.Time, id uint64, c city.EndRun) {
	name := c.Automation
	if err := city.CheckBy(c.By); err != nil {
		rs.out.Refuse(id, err.Code, err.Message)
		return
	}
	run, by := rs.Current[name], cmp.Or(c.By, effect.ActorOperator)
	switch {
	case run == nil && !rs.exists(name):
		rs.out.Refuse(id, city.NotFound, suggest.NotFound("automation", name, rs.names()))
		return
	case run == nil && rs.Schedule.Awaits(name):
		rs.out.Refuse(id, city.Conflict, "no run of "+name+" goes: one is due, and waits "+
			"to be begun")
		return
	case run == nil:
		rs.out.Refuse(id, city.Conflict, "no run of "+name+" goes: there is nothing to end")
		return
	case run.ID == "":
		rs.out.Refuse(id, city.Conflict, "the run of "+name+" is just being begun: try again "+
			"in a moment")
		return
	}
	rs.cancelWaiters[run.ID] = append(rs.cancelWaiters[run.ID], id)
	bead := run.ID
	if i := slices.IndexFunc(rs.Queued, func(f effect.Run) bool { return f.Bead == bead }); i >= 0 {
		f := rs.Queued[i]
		rs.Queued = slices.Delete(rs.Queued, i, i+1)
		rs.Ended(now, effect.RunEnded{Scoped: name, Bead: bead, Outcome: automation.Failed,
			Problem: (&effect.Halt{Who: by}).Error() + " before it began",
			Formula: f.Run.Definition.Formula != "", Halted: true})
		return
	}
	rs.out.Do(effect.CancelRun{Bead: bead, By: by})
}

// answerCancel answers those who wanted a run ended, now that it has.
func (rs *Runs) answerCancel(run *city.Run) {
	for _, id := range rs.cancelWaiters[run.ID] {
		rs.out.Reply(id, fmt.Sprintf("the run %s of %s has ended: %s", run.ID, run.Automation,
			cmp.Or(run.Error, run.Outcome)))
	}
	delete(rs.cancelWaiters, run.ID)
}

// exists reports whether there is, or was, an automation of a name.
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
