package machine

import (
	"cmp"
	"fmt"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

type loader struct {
	m *Machine

	rejected     string // why the configuration on disk is not in force
	trust        string // the command with which the user can trust a rejected configuration
	loaded       time.Time
	since        uint64 // step in which the configuration was applied
	seenAtPatrol string
	held         *held
	// revision that each waiting reload has confirmed, by command ID; "" = none was held
	confirms map[uint64]string
	loading  bool
	again    bool
	asking   []waiter      // commands that wait for the load in flight
	waiting  []waiter      // commands that wait for the next load
	edits    []effect.Edit // of the key "suspended"; the first is in flight
	written  []effect.Edit // not yet in force
	groups   []effect.Edit // commands that wait until a rig or a pool is suspended or resumed
}

// a new configuration is applied completely or not at all (L6)
func (ld *loader) configured(now time.Time, in effect.Loaded) {
	ld.loading, ld.seenAtPatrol = false, in.Revision
	waiting := ld.asking
	ld.asking = nil
	err := cmp.Or(in.Err, in.Away)
	if err == nil && in.Conf != nil && ld.m.conf != nil && in.Conf.Name != ld.m.conf.Name {
		err = fmt.Errorf("workspace.name is now %q, but the name of a running city cannot "+
			"change; stop the city first, or change the name back to %q", in.Conf.Name,
			ld.m.conf.Name)
	}
	fresh := in.Conf != nil && (ld.m.conf == nil || in.Conf.Revision != ld.m.conf.Revision ||
		in.ProgramFound)
	switch {
	case in.Away != nil: // the configuration on disk may still be rejected or held
		ld.rejectLoad(waiting, city.Unavailable, in.Away)
	case err != nil:
		ld.dropHeld()
		ld.reject(err)
		ld.rejectLoad(waiting, city.Invalid, err)
	case fresh && ld.removesMost(in.Conf) && !ld.confirmed(waiting, in.Conf):
		ld.hold(now, in.Conf, waiting)
	case fresh:
		ld.dropHeld()
		msg := ld.adopt(now, in.Conf)
		ld.dropRejected()
		ld.accept(now, waiting, msg)
	case in.Conf == nil && ld.held != nil && in.Revision == ld.held.revision:
		// still waiting for confirmation
	case in.Conf == nil && (in.Revision != ld.m.conf.Revision || ld.rejected != ""):
		// the next patrol loads the revision unless the file changes again
	default:
		// the file no longer contains the held or rejected configuration
		if ld.held != nil || ld.rejected != "" {
			ld.m.step.Record(events.Event{Type: events.ConfigReloaded,
				Message: "the file again matches the configuration in " +
					"force: revision " + step.Short(ld.m.conf.Revision)})
		}
		ld.dropHeld()
		ld.dropRejected()
		ld.accept(now, waiting, "nothing changed: revision "+
			step.Short(ld.m.conf.Revision)+" is in force")
		for _, a := range ld.m.order {
			if len(a.waiters) > 0 { // it might already be in the requested state
				ld.m.decide(now, a)
			}
		}
	}
	for _, w := range waiting {
		delete(ld.confirms, w.id)
	}
	if ld.again {
		ld.load()
		return
	}
	if ld.rejected == "" && ld.held == nil && in.Away == nil {
		ld.written = nil
	}
	ld.unfulfilled(ld.heldReason(err))
}

func (ld *loader) dropRejected() {
	ld.m.step.Note(&ld.rejected, "")
	ld.trust = ""
}

func (ld *loader) rejectLoad(ws []waiter, code city.Code, err error) {
	for _, w := range ws {
		ld.m.step.RejectLoad(w.id, w.verb, code, err)
	}
}

func (ld *loader) unfulfilled(err error) {
	if len(ld.edits) > 0 {
		return
	}
	for _, a := range ld.m.order {
		if len(a.waiters) == 0 || a.want == nil {
			continue
		}
		if !a.want.Suspended.On() {
			ld.m.commands.resolve(a, "agent "+a.name+" is not suspended", "resume")
		}
		verb := step.VerbFor(!a.want.Suspended.On())
		msg := step.NotInEffect("agent "+a.name, verb, err)
		for _, w := range a.take(verb) {
			ld.m.step.RejectFlag(w.id, msg, err)
		}
	}
	ld.unfulfilledGroups(err)
}

func (ld *loader) accept(now time.Time, waiting []waiter, msg string) {
	for _, a := range ld.m.order {
		// the user may have trusted the program or installed it
		if len(waiting) > 0 && a.restart.kind == startFailed && a.restart.missing.Why != "" {
			a.restart.until = now
			ld.m.decide(now, a)
		}
	}
	for _, w := range waiting {
		switch w.verb {
		case "suspend":
			ld.m.step.Reply(w.id, "the city is suspended")
		case "resume":
			ld.m.step.Reply(w.id, "the city was resumed")
		default:
			ld.m.runs.ReplyAfterScan(now, w.id, msg)
		}
	}
}

// reject records the error once. Each patrol tries again; see request.
func (ld *loader) reject(err error) {
	if ld.rejected == err.Error() {
		return
	}
	ld.m.step.Note(&ld.rejected, err.Error())
	ld.trust = step.TrustCommand(err)
	ld.m.step.Record(events.Event{
		Type:    events.ConfigRejected,
		Message: err.Error() + "; the old configuration stays in force",
		Payload: step.Payload(map[string]any{"in_force": step.Short(ld.m.conf.Revision)}),
	})
}

// Agents keep their state if name and fingerprint are unchanged (L6).
func (ld *loader) adopt(now time.Time, c *effect.Configuration) string {
	first := ld.m.conf == nil
	var before *effect.Configuration
	before, ld.m.conf = ld.m.conf, c
	ld.loaded, ld.since, ld.m.step.Changed = now, ld.m.stepNumber, true
	ch := ld.compare(c)
	wanted := make(map[string]bool, len(c.Wants))
	if first {
		ld.m.pools.Inherit(ld.m.histories.fromFile.Agents)
	}
	ld.m.pools.Adopt(now, c)
	for i := range c.Wants {
		wanted[c.Wants[i].Name] = true
		delete(ld.m.work.former, c.Wants[i].Name)
		ld.want(now, &c.Wants[i])
	}
	for _, a := range ld.m.order {
		if a.want != nil && !wanted[a.name] {
			ld.m.declare(a, nil)
			a.forgive("")
			ld.m.work.former[a.name] = true
		}
	}
	ld.m.deps.after, ld.m.deps.named, ld.m.deps.ordered = nil, nil, false
	deepest := ld.m.deps.depth
	for i := range c.Wants {
		ld.m.deps.ordered = ld.m.deps.ordered || len(c.Wants[i].DependsOn) > 0
	}
	ld.m.deps.depth = agent.Depth(c.Wants)
	for _, a := range ld.m.order {
		// a removed agent must still stop in dependency order
		if a.want == nil && len(a.needs) > 0 {
			ld.m.deps.ordered, ld.m.deps.depth = true, max(ld.m.deps.depth, deepest)
		}
	}
	msg := ch.Summary(c.Revision)
	if before != nil && before.Revision == c.Revision {
		msg = "programs that were missing are now installed: " + msg
	}
	if first {
		ld.m.histories.restoreAll(now)
	} else {
		ld.m.step.Record(events.Event{Type: events.ConfigReloaded,
			Message: msg, Payload: ch.Payload()})
		ld.m.step.RecordFlags(before, c, ld.allEdits())
	}
	ld.m.watchdogs.Adopt(now, c)
	ld.m.pools.SizeAll(now)
	ld.m.decideAll(now)
	if !first {
		ld.m.runs.Scan()
		ld.m.work.count()
	}
	return msg
}

func (ld *loader) want(now time.Time, w *agent.Want) {
	a, known := ld.m.agents[w.Name]
	if !known {
		if w.Pool != "" { // the pool decides whether the member gets a record
			return
		}
		a = ld.m.record(now, w.Name)
	}
	a.pool, a.needs = ld.m.pools.Get(w.Pool), w.DependsOn
	if a.want != nil && (a.want.Spec.Fingerprint.Sum != w.Spec.Fingerprint.Sum ||
		a.want.Spec.Provider != w.Spec.Provider) {
		a.restart.forgive()
		if !a.phase.Alive() { // else the session keeps the reason that it was started for
			a.act.startReason = "configuration changed"
		}
	}
	a.changeTriageOf(w)
	ld.suspension(a, w)
	ld.m.declare(a, w)
}

func (ld *loader) suspension(a *record, w *agent.Want) {
	if !w.Suspended.On() && a.act.intent.kind == causeSuspend {
		a.act.intent = cause{}
	}
	if a.want == nil || a.want.Suspended == w.Suspended || a.hidden() {
		return
	}
	a.act.flaggedBy = effect.SuspendedBy(ld.allEdits(), w,
		cmp.Or(w.Suspended, a.want.Suspended).Level, w.Suspended.On())
	switch {
	case !w.Suspended.On():
		// a stop that failed might still end the session
		if a.act.stopping.kind == causeSuspend && !a.phase.Stopping() {
			a.act.stopping = cause{}
		}
		a.forgive("resumed by " + a.act.flaggedBy.Name())
		ld.m.journal.record(a, a.act.flaggedBy.AsActor(events.Event{Type: events.AgentResumed,
			Message: "was " + a.want.Suspended.String()}),
			ld.m.commands.repliesFor(a, "agent "+a.name+" was resumed", "resume")...)
	case !a.want.Suspended.On() && a.phase.Idle():
		ld.recordSuspended(a, w.Suspended)
	case !a.want.Suspended.On() && a.act.intent.kind == causeNone:
		a.act.intent = cause{kind: causeSuspend, why: w.Suspended.String()}
	case a.want.Suspended.On():
		ld.m.commands.resolve(a, fmt.Sprintf("agent %s was resumed, but is still %s", a.name,
			w.Suspended), "resume")
	}
}

// recordSuspended records the suspension of an agent that was not stopped for it.
func (ld *loader) recordSuspended(a *record, s agent.Suspension) {
	ld.m.journal.record(a, a.act.flaggedBy.AsActor(events.Event{Type: events.AgentSuspended,
		Message: s.String()}),
		ld.m.commands.repliesFor(a, fmt.Sprintf("agent %s is %s", a.name, s), "suspend")...)
}

func (ld *loader) compare(c *effect.Configuration) step.Changes {
	ch := step.Changes{Waiting: c.Waiting}
	wanted := make(map[string]bool, len(c.Wants))
	for i := range c.Wants {
		w := &c.Wants[i]
		wanted[w.Name] = true
		a, known := ld.m.agents[w.Name]
		// the change to the pool is reported instead
		if w.Pool != "" && (!known || a.hidden()) {
			continue
		}
		if !known || a.want == nil {
			ch.Added = append(ch.Added, w.Name)
			continue
		}
		if a.want.Spec.Fingerprint.Sum != w.Spec.Fingerprint.Sum ||
			a.want.Spec.Provider != w.Spec.Provider {
			ch.Changed = append(ch.Changed, w.Name)
		}
		switch {
		case a.want.Suspended.On() && !w.Suspended.On():
			ch.Resumed = append(ch.Resumed, w.Name)
		case !a.want.Suspended.On() && w.Suspended.On():
			ch.Suspended = append(ch.Suspended, w.Name)
		}
	}
	for _, a := range ld.m.order {
		if a.want != nil && a.pool == nil && !wanted[a.name] {
			ch.Removed = append(ch.Removed, a.name)
		}
	}
	ld.comparePools(c, &ch)
	return ch
}

func (ld *loader) comparePools(c *effect.Configuration, ch *step.Changes) {
	wanted := make(map[string]bool, len(c.Pools))
	for i := range c.Pools {
		w := &c.Pools[i]
		wanted[w.Name] = true
		switch p := ld.m.pools.Get(w.Name); {
		case p == nil:
			ch.Added = append(ch.Added, "pool "+w.Name)
		case p.Want.Spec != w.Spec || p.Want.Check != w.Check:
			ch.Changed = append(ch.Changed, "pool "+w.Name)
		}
	}
	for _, p := range ld.m.pools.All() {
		if !wanted[p.Name()] {
			ch.Removed = append(ch.Removed, "pool "+p.Name())
		}
	}
}
