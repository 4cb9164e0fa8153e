package machine

import (
	"errors"
	"slices"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/internal/suggest"
)

func (ld *loader) inGroup(g effect.Edit, a *record) bool {
	if g.Rig != "" {
		return a.want != nil && a.want.Rig == g.Rig
	}
	return a.pool != nil && a.pool.Name() == g.Agent
}

// suspendGroup suspends or resumes a rig or a pool. The reply follows when its flag is in force, and its agents are
// stopped if it is suspended.
func (ld *loader) suspendGroup(g effect.Edit) {
	on, still := ld.suspendedByFlag(g)
	switch {
	case g.Rig != "" && ld.m.conf.Rig(g.Rig) == nil:
		ld.m.step.Reject(g.ID, city.NotFound,
			"%v", suggest.NotFound(suggest.Rig, g.Rig, ld.m.conf.RigNames()))
	case g.On || on || ld.editing(g.Agent, g.Rig):
		ld.groups = append(ld.groups, g)
		ld.edit(g)
	case still.On():
		ld.m.step.Reject(g.ID, city.Conflict, "%s is %s; run `%s` instead", g.Group(), still,
			still.ResumeCommand(g.Agent))
	default:
		ld.m.step.Reply(g.ID, "%s is not suspended", g.Group())
	}
}

// If on is false, still is the suspension of a higher level.
func (ld *loader) suspendedByFlag(g effect.Edit) (on bool, still agent.Suspension) {
	if g.Rig != "" {
		rig := ld.m.conf.Rig(g.Rig)
		if ld.m.conf.Suspended {
			still = agent.Suspension{Level: agent.CityLevel, Where: "with the city"}
		}
		return rig != nil && rig.Suspended, still
	}
	if p := ld.m.pools.Get(g.Agent); p != nil {
		still = p.Want.Suspended
	}
	return still.Level == agent.AgentLevel, still
}

func (ld *loader) replyToGroups() {
	ld.groups = slices.DeleteFunc(ld.groups, func(g effect.Edit) bool {
		on, still := ld.suspendedByFlag(g)
		busy := func(a *record) bool { return ld.inGroup(g, a) && !a.phase.Idle() }
		pending := func(f effect.Edit) bool { return f.ID == g.ID }
		if on != g.On || slices.ContainsFunc(ld.edits, pending) ||
			on && slices.ContainsFunc(ld.m.order, busy) {
			return false
		}
		switch {
		case g.On:
			ld.m.step.Reply(g.ID, "%s is suspended; its agents are stopped", g.Group())
		case still.On():
			ld.m.step.Reply(g.ID, "%s was resumed, but is still %s", g.Group(), still)
		default:
			ld.m.step.Reply(g.ID, "%s was resumed", g.Group())
		}
		return true
	})
}

func (ld *loader) unfulfilledGroups(err error) {
	ld.groups = slices.DeleteFunc(ld.groups, func(g effect.Edit) bool {
		if on, _ := ld.suspendedByFlag(g); on == g.On {
			return false
		}
		ld.m.step.RejectFlag(g.ID, step.NotInEffect(g.Group(), step.VerbFor(g.On), err), err)
		return true
	})
}

func (ld *loader) rejectGroups(code city.Code, msg string) {
	for _, g := range ld.groups {
		ld.m.step.Reject(g.ID, code, "%s", msg)
	}
	ld.groups = nil
}

func (ld *loader) rejectGroupsOf(a *record, msg string) {
	ld.groups = slices.DeleteFunc(ld.groups, func(g effect.Edit) bool {
		if !g.On || !ld.inGroup(g, a) {
			return false
		}
		ld.m.step.Reject(g.ID, city.Unavailable, "%s", msg)
		return true
	})
}

func (ld *loader) edit(f effect.Edit) {
	f.By = ld.m.step.Caller()
	ld.edits = append(ld.edits, f)
	if len(ld.edits) == 1 {
		ld.m.step.Do(f)
	}
}

// editing reports whether an edit of the flag is not yet in force. Without a name, the flag is the city's.
func (ld *loader) editing(agent, rig string) bool {
	return slices.ContainsFunc(ld.allEdits(), func(f effect.Edit) bool {
		return f.Agent == agent && f.Rig == rig
	})
}

func (ld *loader) edited(in effect.Edited) {
	ld.edits = ld.edits[1:]
	if len(ld.edits) > 0 {
		ld.m.step.Do(ld.edits[0])
	}
	if in.Err != nil {
		msg := in.Err.Error()
		if _, refused := errors.AsType[*config.Error](in.Err); refused {
			msg = "nothing was written because the configuration on disk is invalid; fix it and " +
				"try again: " + msg
		}
		ld.m.step.RejectFlag(in.Edit.ID, msg, in.Err)
		ld.groups = slices.DeleteFunc(ld.groups,
			func(g effect.Edit) bool { return g.ID == in.Edit.ID })
		if a, ok := ld.m.agents[in.Edit.Agent]; ok {
			a.waiters = slices.DeleteFunc(a.waiters,
				func(w waiter) bool { return w.id == in.Edit.ID })
		}
		return
	}
	ld.written = append(ld.written, in.Edit)
	if in.Edit.Agent != "" || in.Edit.Rig != "" {
		ld.load()
		return
	}
	ld.load(waiter{in.Edit.ID, step.VerbFor(in.Edit.On)})
}

// allEdits returns the edits that are not yet in force.
func (ld *loader) allEdits() []effect.Edit { return slices.Concat(ld.written, ld.edits) }
