package machine

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/rollout"
)

// rollCity implements the view of the city that controller/rollout uses.
type rollCity struct{ m *Machine }

func (c rollCity) Running() bool { return c.m.ending == alive }

func (c rollCity) Member(name string) (rollout.Member, bool) {
	a := c.m.agents[name]
	if a == nil || a.unwanted() {
		return rollout.Member{}, false
	}
	m := rollout.Member{State: a.state, Reason: a.reason, Busy: a.phase.InFlight(),
		Starts: a.phase.Starting(), Due: a.act.intent.kind == causeRestart}
	if a.phase.Alive() {
		m.Life = a.sess.life.ID
	}
	return m, true
}

func (c rollCity) Restart(now time.Time, name string) (why string) {
	a := c.m.agents[name]
	if why := c.m.commands.noRestart(a); why != "" {
		return why
	}
	c.m.commands.startAgain(now, a)
	return ""
}

// restartPool begins a restart of a pool's members.
func (ps *poolSizes) restartPool(now time.Time, id uint64, c city.RestartPool) {
	p, ok := ps.findPool(id, c.Pool)
	if !ok {
		return
	}
	why := ""
	var names []string
	for _, w := range p.members {
		if a := ps.m.agents[w.Name]; a != nil && a.want != nil && !a.surplus() {
			names = append(names, a.name)
		}
	}
	busy := ps.rollouts.Progress(p.name())
	switch {
	case busy != "":
		why = "is already " + busy
	case p.want.Suspended != "":
		why = "is suspended " + p.want.Suspended + ": resume it first"
	case len(names) == 0:
		why = "has no members to restart: " + p.why
	}
	if why != "" {
		ps.m.step.Refuse(id, city.Conflict, "pool "+p.name()+" "+why)
		return
	}
	ps.m.decidedOn(now, &p.decisions, "restart", "by operator")
	ps.rollouts.Begin(now, id, p.name(), names, c.Rolling)
}

// checkNow runs a pool's check on request of a user.
func (ps *poolSizes) checkNow(now time.Time, id uint64, name string) {
	p, ok := ps.findPool(id, name)
	if !ok {
		return
	}
	why := ""
	switch {
	case p.want.Check == "":
		why = "has no check: its size follows from the work that is open for it"
	case p.want.Max == 0:
		why = "is off (max = 0), so its check does not run"
	case p.want.Suspended != "":
		why = "is suspended " + p.want.Suspended + ", so its check does not run; resume it first"
	}
	if why != "" {
		ps.m.step.Refuse(id, city.Conflict, "pool "+p.name()+" "+why)
		return
	}
	p.asking = append(p.asking, id)
	ps.check(now, p)
}

// dropPool refuses the commands that wait for a pool that is no longer declared.
func (ps *poolSizes) dropPool(p *poolRecord) {
	ps.rollouts.Drop(p.name())
	ps.refuseCheck(p, "is no longer declared")
}

// refuseCheck refuses the commands that wait for a check that will not return.
func (ps *poolSizes) refuseCheck(p *poolRecord, why string) {
	for _, id := range p.asking {
		ps.m.step.Refuse(id, city.Conflict, "pool "+p.name()+" "+why)
	}
	p.asking = nil
}

// answerCheck answers the commands that wait for a pool's check, with its result.
func (ps *poolSizes) answerCheck(p *poolRecord) {
	ids := p.asking
	p.asking = nil
	for _, id := range ids {
		if p.last.Problem != "" {
			ps.m.step.Refuse(id, city.Unavailable, fmt.Sprintf("the check of pool %s failed: %s; "+
				"the size stays %d", p.name(), p.last.Problem, p.desired))
			continue
		}
		ps.m.step.Reply(id, fmt.Sprintf("pool %s wants %d: %s", p.name(), p.desired, p.why))
	}
}
