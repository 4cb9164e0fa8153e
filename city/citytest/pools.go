package citytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
)

const (
	byAgent = "by agent"

	// drainTimeout is the time limit of a drain for agents outside pools.
	drainTimeout = 5 * time.Minute
)

func byRig(r *city.Rig) string { return "by rig " + r.Name }

func rig(s *city.Snapshot, name string) *city.Rig {
	for i := range s.Rigs {
		if s.Rigs[i].Name == name {
			return &s.Rigs[i]
		}
	}
	return nil
}

// member returns the name of a pool's i-th member, from 1.
func member(p *city.Pool, i int) string {
	if p.Max == 1 {
		return p.Name
	}
	return p.Name + "-" + strconv.Itoa(i)
}

// surplus reports whether an agent is a member that its pool does not want.
func surplus(s *city.Snapshot, a *city.Agent) bool {
	p, ok := s.Pool(a.Pool)
	if !ok {
		return false
	}
	for i := 1; i <= p.Desired; i++ {
		if member(p, i) == a.Name {
			return false
		}
	}
	return true
}

// scale sets a pool's size, or lets its check decide again, and adjusts the members: missing ones start, surplus
// ones drain.
func (f *Fake) scale(c city.Scale) (city.Receipt, error) {
	p, ok := f.snap.Pool(c.Pool)
	switch {
	case !ok:
		return city.Receipt{}, refuse(city.NotFound, "pool %q not found", c.Pool)
	case !c.Auto && (c.Size < p.Min || c.Size > p.Max):
		return city.Receipt{}, refuse(city.Invalid, "the pool %s cannot have %d members: %s "+
			"allows %d to %d", p.Name, c.Size, p.Source, p.Min, p.Max)
	}
	return f.prove(c, func(s *city.Snapshot) {
		p, _ := s.Pool(c.Pool)
		was := p.Desired
		if c.Auto {
			p.Override, p.Desired, p.Reason = nil, min(max(p.Check.Value, p.Min), p.Max),
				fmt.Sprintf("check said %d", p.Check.Value)
		} else {
			p.Override, p.Desired, p.Reason = &c.Size, c.Size, "override by operator"
		}
		if p.Desired != was {
			p.Since = time.Now()
		}
		f.follow(s, p)
	}), nil
}

// follow adjusts the number of a pool's members.
func (f *Fake) follow(s *city.Snapshot, p *city.Pool) {
	for i := 1; i <= p.Max; i++ {
		name := member(p, i)
		a, ok := s.Agent(name)
		switch {
		case i > p.Desired && ok && a.Running:
			drain(a, p, "pool")
		case i > p.Desired && ok:
			f.leave(s, name)
		case i > p.Desired || p.Suspended:
		case !ok:
			f.join(s, city.Agent{Name: name, Pool: p.Name, Rig: p.Rig, Description: p.Description,
				Source: p.Source})
		case a.State == city.Suspended:
			f.start(a)
		case a.Drain != nil && a.Drain.By == "pool":
			undrain(a)
		}
	}
	f.count(s, p.Name, p.Rig)
}

// join adds a new agent at its place in the order.
func (f *Fake) join(s *city.Snapshot, a city.Agent) {
	if f.screens[a.Name] == nil {
		f.screens[a.Name] = newScreen()
	}
	f.start(&a)
	at, _ := slices.BinarySearchFunc(s.Agents, a.Name, func(a city.Agent, name string) int {
		return strings.Compare(a.Name, name)
	})
	s.Agents = slices.Insert(s.Agents, at, a)
}

// suspendPool executes the commands that suspend or resume all members of a pool.
func (f *Fake) suspendPool(c city.Command) city.Receipt {
	return f.prove(c, func(s *city.Snapshot) {
		p, _ := s.Pool(c.Target())
		p.Suspended, p.SuspendedReason = c.Verb() != "resume", ""
		if p.Suspended {
			p.SuspendedReason = byAgent
		} else if r := rig(s, p.Rig); r != nil && r.Suspended {
			p.Suspended, p.SuspendedReason = true, byRig(r)
		}
		f.obey(s, p)
	})
}

// obey starts or stops the members of a pool, depending on its flag.
func (f *Fake) obey(s *city.Snapshot, p *city.Pool) {
	for i := range s.Agents {
		if a := &s.Agents[i]; p.Suspended && a.Pool == p.Name {
			f.stop(a, city.Suspended, p.SuspendedReason)
		}
	}
	f.follow(s, p)
}

// suspendRig changes a rig's flag. An agent with a flag of its own keeps that reason, which is more specific.
func (f *Fake) suspendRig(c city.Command, name string, on bool) (city.Receipt, error) {
	if rig(f.snap, name) == nil {
		return city.Receipt{}, refuse(city.NotFound, "rig %q not found", name)
	}
	return f.prove(c, func(s *city.Snapshot) {
		r := rig(s, name)
		r.Suspended = on
		for i := range s.Agents {
			a := &s.Agents[i]
			_, pooled := s.Pool(a.Pool)
			switch {
			case pooled || a.Rig != name:
			case on && a.Reason != byAgent:
				f.stop(a, city.Suspended, byRig(r))
			case !on && a.State == city.Suspended && a.Reason == byRig(r):
				f.start(a)
			}
		}
		for i := range s.Pools {
			if p := &s.Pools[i]; p.Rig == name && p.SuspendedReason != byAgent {
				p.Suspended, p.SuspendedReason = on, ""
				if on {
					p.SuspendedReason = byRig(r)
				}
				f.obey(s, p)
			}
		}
		f.count(s, "", name)
	}), nil
}

// doDrain executes the commands about drains.
func (f *Fake) doDrain(c city.Command, a *city.Agent) (city.Receipt, error) {
	_, ack := c.(city.DrainAck)
	_, undo := c.(city.Undrain)
	switch {
	case undo && a.State == city.Exited: // after a final drain
	case !a.Running:
		return city.Receipt{}, refuse(city.Conflict, "%s has no session to drain: it is %s", a.Name,
			a.State)
	case ack && a.Drain == nil:
		return city.Receipt{}, refuse(city.Conflict, "%s was not asked to finish", a.Name)
	case undo && surplus(f.snap, a):
		return city.Receipt{}, refuse(city.Conflict, "%s is one more than its pool wants: scale "+
			"the pool %s", a.Name, a.Pool)
	}
	pool, in := a.Pool, a.Rig
	return f.prove(c, func(s *city.Snapshot) {
		a, _ := s.Agent(c.Target())
		p, _ := s.Pool(pool)
		switch {
		case ack && a.Drain.Final:
			f.stop(a, city.Exited, "drained, not restarted")
		case ack:
			f.again(s, a)
		case undo && !a.Running:
			f.start(a)
		case undo:
			undrain(a)
		default:
			drain(a, p, "operator")
			if d, _ := c.(city.Drain); d.Final {
				a.Drain.Final = true
			}
		}
		f.count(s, pool, in)
	}), nil
}

// drain asks an agent to finish unless it is draining already. p is its pool, or nil.
func drain(a *city.Agent, p *city.Pool, by string) {
	if a.Drain != nil {
		return
	}
	now, timeout := time.Now(), drainTimeout
	if p != nil {
		timeout = p.Timeout
	}
	a.Drain = &city.DrainInfo{Since: now, By: by}
	a.State, a.Reason, a.Since, a.Next = city.Draining, "drained by "+by, now,
		&city.Next{What: "stopped when it reports that it has finished"}
	if timeout > 0 {
		deadline := now.Add(timeout)
		a.Drain.Deadline, a.Until = &deadline, &deadline
		a.Next = &city.Next{At: &deadline, What: "killed if it does not answer"}
	}
}

func undrain(a *city.Agent) {
	if a.Drain != nil {
		a.State, a.Reason, a.Since = city.Running, "undrained", time.Now()
		a.Drain, a.Until, a.Next = nil, nil, nil
	}
}

// count updates the numbers of a pool and a rig. Numbers that no command changes keep their values.
func (f *Fake) count(s *city.Snapshot, pool, in string) {
	if p, ok := s.Pool(pool); ok {
		p.Size, p.Draining = 0, nil
		for _, a := range s.Agents {
			switch {
			case a.Pool != pool || !a.Running:
			case a.Drain != nil:
				p.Draining = append(p.Draining, a.Name)
			default:
				p.Size++
			}
		}
	}
	if r := rig(s, in); r != nil {
		r.Agents, r.Running = 0, 0
		for _, a := range s.Agents {
			if a.Rig == in {
				r.Agents++
			}
			if a.Rig == in && a.Running {
				r.Running++
			}
		}
	}
}
