package pools

import (
	"time"

	"gcity/city"
	"gcity/controller/rollout"
)

// Restart begins to restart a pool's members.
func (ps *Pools) Restart(now time.Time, id uint64, c city.RestartPool) {
	p, ok := ps.find(id, c.Pool)
	if !ok {
		return
	}
	why := ""
	var names, skipped []string
	for _, w := range p.Members {
		if m, wanted := ps.city.Member(w.Name); wanted {
			names = append(names, w.Name)
		} else if m.State != "" {
			skipped = append(skipped, w.Name)
		}
	}
	busy := ps.Rollouts.Progress(p.Name())
	switch {
	case busy != "":
		why = "is already " + busy
	case p.Want.Suspended.On():
		why = "is " + p.Want.Suspended.String() + "; run `" +
			p.Want.Suspended.ResumeCommand(p.Name()) + "` first"
	case len(names) == 0:
		why = "has no members to restart (" + p.why + ")"
	}
	if why != "" {
		ps.out.Reject(id, city.Conflict, "pool %s %s", p.Name(), why)
		return
	}
	ps.out.Decided(now, &p.decisions, "restart", "by "+ps.out.Caller().Name())
	ps.Rollouts.Begin(now, rollout.Request{ID: id, Pool: p.Name(), Members: names,
		Skipped: skipped, Rolling: c.Rolling})
}

// CheckNow runs a pool's check because a user requested it.
func (ps *Pools) CheckNow(now time.Time, id uint64, name string) {
	p, ok := ps.find(id, name)
	if !ok {
		return
	}
	why := ""
	switch {
	case p.Want.Check == "":
		why = "has no check; its size depends on its open work"
	case p.Want.Max == 0:
		why = "is off (max = 0), so its check is not run"
	case p.Want.Suspended.On():
		why = "is " + p.Want.Suspended.String() + ", so its check is not run; run `" +
			p.Want.Suspended.ResumeCommand(p.Name()) + "` first"
	}
	if why != "" {
		ps.out.Reject(id, city.Conflict, "pool %s %s", p.Name(), why)
		return
	}
	p.checkWaiters = append(p.checkWaiters, id)
	ps.check(now, p)
}

func (ps *Pools) drop(p *Pool) {
	ps.Rollouts.Drop(p.Name())
	ps.rejectCheck(p, "is no longer declared")
	p.countStep = 0 // its members must not wait for a choice that is never made
}

func (ps *Pools) rejectCheck(p *Pool, why string) {
	for _, id := range p.checkWaiters {
		ps.out.Reject(id, city.Conflict, "pool %s %s", p.Name(), why)
	}
	p.checkWaiters = nil
}

func (ps *Pools) replyToCheck(p *Pool) {
	ids := p.checkWaiters
	p.checkWaiters = nil
	for _, id := range ids {
		if p.last.Problem != "" {
			ps.out.Reject(id, city.Unavailable, "the check of pool %s failed: %s; "+
				"the size stays %d", p.Name(), p.last.Problem, p.Desired)
			continue
		}
		ps.out.Reply(id, "pool %s wants %d: %s", p.Name(), p.Desired, p.why)
	}
}
