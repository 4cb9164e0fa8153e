package machine

import (
	"errors"
	"slices"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/pools"
	"gcity/controller/step"
	"gcity/internal/suggest"
)

// groupWaiter is a command that waits until all agents in the group are suspended or resumed.
type groupWaiter struct {
	id        uint64
	on        bool
	pool, rig string
}

func (g groupWaiter) String() string {
	if g.rig != "" {
		return "rig " + g.rig
	}
	return "pool " + g.pool
}

func (ld *loader) inGroup(g groupWaiter, a *record) bool {
	if g.rig != "" {
		return a.want != nil && a.want.Rig == g.rig
	}
	return a.pool != nil && a.pool.Name() == g.pool
}

func (ld *loader) suspendPool(id uint64, p *pools.Pool, on bool) {
	ld.groups = append(ld.groups, groupWaiter{id: id, on: on, pool: p.Name()})
	ld.edit(effect.Edit{Agent: p.Name(), On: on, ID: id})
}

func (ld *loader) suspendRig(id uint64, name string, on bool) {
	if ld.m.conf.Rig(name) == nil {
		ld.m.step.Reject(id, city.NotFound,
			"%v", suggest.NotFound(suggest.Rig, name, ld.m.conf.RigNames()))
		return
	}
	ld.groups = append(ld.groups, groupWaiter{id: id, on: on, rig: name})
	ld.edit(effect.Edit{Rig: name, On: on, ID: id})
}

func (ld *loader) suspendedByFlag(g groupWaiter) (on bool, still agent.Suspension) {
	if g.rig != "" {
		rig := ld.m.conf.Rig(g.rig)
		on = rig != nil && rig.Suspended
		if !on && ld.m.conf.Suspended {
			still = agent.Suspension{Level: agent.CityLevel, Where: "with the city"}
		}
		return on, still
	}
	p := ld.m.pools.Get(g.pool)
	switch {
	case p == nil, !p.Want.Suspended.On():
		return false, still
	case p.Want.Suspended.Level == agent.AgentLevel:
		return true, still
	}
	return false, p.Want.Suspended
}

func (ld *loader) replyToGroups() {
	ld.groups = slices.DeleteFunc(ld.groups, func(g groupWaiter) bool {
		on, still := ld.suspendedByFlag(g)
		if on != g.on {
			return false
		}
		members := 0
		for _, a := range ld.m.order {
			if ld.inGroup(g, a) {
				if members++; g.on && !a.phase.Idle() {
					return false
				}
			}
		}
		switch {
		case g.on:
			ld.m.step.Reply(g.id, "%s is suspended; its agents are stopped", g)
		case still.On():
			ld.m.step.Reply(g.id, "%s was resumed, but is still %s", g, still)
		default:
			ld.m.step.Reply(g.id, "%s was resumed", g)
		}
		return true
	})
}

func (ld *loader) unfulfilledGroups(err error) {
	ld.groups = slices.DeleteFunc(ld.groups, func(g groupWaiter) bool {
		if on, _ := ld.suspendedByFlag(g); on == g.on {
			return false
		}
		ld.m.step.RejectFlag(g.id, step.NotInEffect(g.String(), step.VerbFor(g.on), err), err)
		return true
	})
}

func (ld *loader) rejectGroups(code city.Code, msg string) {
	for _, g := range ld.groups {
		ld.m.step.Reject(g.id, code, "%s", msg)
	}
	ld.groups = nil
}

func (ld *loader) rejectGroupsOf(a *record, msg string) {
	ld.groups = slices.DeleteFunc(ld.groups, func(g groupWaiter) bool {
		if !g.on || !ld.inGroup(g, a) {
			return false
		}
		ld.m.step.Reject(g.id, city.Unavailable, "%s", msg)
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

func (ld *loader) editing(name string) bool {
	return slices.ContainsFunc(ld.edits, func(f effect.Edit) bool { return f.Agent == name })
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
			func(g groupWaiter) bool { return g.id == in.Edit.ID })
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
