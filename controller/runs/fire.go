package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/suggest"
)

type earlyFire struct {
	id   uint64
	fire city.Fire
}

func (rs *Runs) fireEarly(now time.Time) {
	all := rs.earlyFires
	rs.earlyFires = nil
	for _, e := range all {
		rs.fire(now, e.id, e.fire)
	}
}

// Fire runs an automation because a user or agent requested it. It reads the automation's file first.
func (rs *Runs) Fire(now time.Time, id uint64, c city.Fire) {
	if err := city.CheckBy(c.By); err != nil {
		rs.out.Reject(id, err.Code, "%s", err.Message)
		return
	}
	rs.afterScan(now, id, func(now time.Time) { rs.fire(now, id, c) })
}

func (rs *Runs) fire(now time.Time, id uint64, c city.Fire) {
	if (!rs.known || !rs.RecordsRead) && rs.RecordsNotRead == "" && rs.city.StoreProblem() == "" &&
		rs.city.Running() &&
		rs.city.Configuration() != nil && !rs.city.Configuration().NoWork {
		rs.earlyFires = append(rs.earlyFires, earlyFire{id, c})
		return
	}
	if i := slices.IndexFunc(rs.catalog.Broken, func(b automation.Broken) bool {
		return b.Scoped() == c.Automation
	}); i >= 0 {
		rs.out.Reject(id, city.Conflict, "automation %s cannot be run: %s",
			c.Automation,
			rs.catalog.Broken[i].Problems.Error())
		return
	}
	if !rs.known && (rs.city.Configuration() == nil || !rs.city.Configuration().NoWork) {
		rs.out.Reject(id, city.Unavailable, "automations cannot be run yet, because their "+
			"folders are still being read")
		return
	}
	if code, why := rs.whyNotFired(c.Automation); why != "" {
		rs.out.Reject(id, code, "%s", why)
		return
	}
	running, queued := rs.Current[c.Automation] != nil, rs.Schedule.Queued(c.Automation)
	if err := rs.Schedule.Fire(c.Automation, cmp.Or(c.By, effect.ActorOperator), now); err != nil {
		rs.out.Reject(id, city.Conflict, "automation %s was not started: %v", c.Automation, err)
		return
	}
	rs.save()
	rs.out.Changed = true // shown as due or queued
	switch {
	case queued:
		rs.out.Reply(id, "automation %s is running, and its next run is already queued; this "+
			"request does not queue another one", c.Automation)
		return
	case running:
		rs.out.Reply(id, "automation %s is running; its next run is queued and will start when "+
			"the current one has ended", c.Automation)
		return
	}
	rs.FireWaiters[c.Automation] = append(rs.FireWaiters[c.Automation], id)
	rs.Advance(now)
}

func (rs *Runs) whyNotFired(name string) (code city.Code, why string) {
	names := make([]string, 0, len(rs.catalog.Automations))
	for _, d := range rs.catalog.Automations {
		names = append(names, d.Scoped())
	}
	if !slices.Contains(names, name) {
		return city.NotFound, suggest.NotFound(suggest.Automation, name, names).Error()
	}
	if !rs.city.Running() {
		return city.Unavailable, "automation " + name + " cannot be run: the city is being stopped"
	}
	if !rs.RecordsRead {
		return city.Unavailable, "automations cannot be run yet: " +
			cmp.Or(rs.city.StoreProblem(), rs.whyUnknown())
	}
	if closed := rs.city.StoreProblem(); closed != "" {
		return city.Unavailable, "automation " + name + " cannot be run, because no record can " +
			"be created for the run: " + closed
	}
	return "", ""
}

// Abandon cancels a request to fire after its client has stopped waiting.
func (rs *Runs) Abandon(now time.Time, id uint64) {
	rs.scanWaiters = slices.DeleteFunc(rs.scanWaiters, func(w scanWaiter) bool {
		return w.id == id
	})
	rs.earlyFires = slices.DeleteFunc(rs.earlyFires, func(e earlyFire) bool { return e.id == id })
	for _, name := range slices.Sorted(maps.Keys(rs.FireWaiters)) {
		rest := slices.DeleteFunc(rs.FireWaiters[name], func(other uint64) bool {
			return other == id
		})
		if rs.FireWaiters[name] = rest; len(rest) > 0 {
			continue
		}
		delete(rs.FireWaiters, name)
		if rs.Schedule.Withdraw(name) {
			rs.out.Changed = true
			rs.Advance(now)
		}
	}
}

func (rs *Runs) rejectUnfired() {
	if len(rs.FireWaiters) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rs.FireWaiters)) {
		if rs.Schedule.Awaits(name) {
			continue
		}
		for _, id := range rs.FireWaiters[name] {
			rs.out.Reject(id, city.Conflict, "automation %s was not started: it was disabled or "+
				"removed in the meantime", name)
		}
		delete(rs.FireWaiters, name)
	}
}

// Stop cancels all active runs, and drops the runs that have not started.
func (rs *Runs) Stop() {
	for _, w := range rs.scanWaiters {
		w.do(time.Time{})
	}
	rs.scanWaiters = nil
	rs.fireEarly(time.Time{})
	for _, name := range slices.Sorted(maps.Keys(rs.FireWaiters)) {
		for _, id := range rs.FireWaiters[name] {
			rs.out.Reject(id, city.Unavailable, "automation %s was not started: the city is being "+
				"stopped", name)
		}
	}
	clear(rs.FireWaiters)
	for _, f := range rs.Queued { // these have a record but have not started
		rs.endUnstarted(f.Run.Definition.Scoped())
	}
	rs.Queued = nil
	if len(rs.Current) > 0 {
		rs.out.Do(effect.CancelRuns{})
	}
}

func (rs *Runs) endUnstarted(name string) {
	if run := rs.Current[name]; run != nil {
		done := *run
		done.Outcome, done.Error = string(automation.Interrupted),
			"the city was stopped before the run started"
		rs.closeRecord(effect.CloseRun{Run: done, Kind: events.AutomationFailed, Msg: done.Error})
		delete(rs.Current, name)
	}
}

func depthOf(depth int) json.RawMessage {
	if depth <= 1 {
		return nil
	}
	return step.Payload(map[string]any{"depth": depth})
}

// Cancel cancels an automation's active run. The reply is sent when the run has ended.
func (rs *Runs) Cancel(now time.Time, id uint64, c city.EndRun) {
	name := c.Automation
	if err := city.CheckBy(c.By); err != nil {
		rs.out.Reject(id, err.Code, "%s", err.Message)
		return
	}
	run, by := rs.Current[name], cmp.Or(c.By, effect.ActorOperator)
	switch {
	case run == nil && !rs.exists(name):
		rs.out.Reject(id, city.NotFound,
			"%v", suggest.NotFound(suggest.Automation, name, rs.names()))
		return
	case run == nil && rs.Schedule.Awaits(name):
		rs.out.Reject(id, city.Conflict, "automation %s is not running: a run is due and is "+
			"waiting to start", name)
		return
	case run == nil:
		rs.out.Reject(id, city.Conflict, "automation %s is not running", name)
		return
	case run.ID == "":
		rs.out.Reject(id, city.Conflict, "the run of %s is starting: try again in a moment", name)
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

func (rs *Runs) replyToCancel(run *city.Run, canceled bool) {
	text := fmt.Sprintf("stopped run %s of %s", run.ID, run.Automation)
	if !canceled {
		text = fmt.Sprintf("run %s of %s has ended: %s", run.ID, run.Automation,
			cmp.Or(run.Error, run.Outcome))
	}
	for _, id := range rs.cancelWaiters[run.ID] {
		rs.out.Reply(id, "%s", text)
	}
	delete(rs.cancelWaiters, run.ID)
}

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
