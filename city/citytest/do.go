package citytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
)

// Do implements city.Control. A command is done when it returns.
func (f *Fake) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	f.mu.Lock()
	f.commands = append(f.commands, c)
	do := f.onDo
	f.mu.Unlock()
	if do != nil {
		return do(c)
	}
	if err := ctx.Err(); err != nil {
		return city.Receipt{}, &city.Error{Code: city.Unavailable, Message: err.Error()}
	}
	c, err := city.Signed(c, city.PeerOf(ctx))
	if err == nil {
		c, err = city.Tidy(c)
	}
	if err != nil {
		return city.Receipt{}, err
	}
	switch c := c.(type) {
	case city.Fire:
		return f.fire(ctx, c)
	case city.EndRun:
		return f.halt(c)
	case city.CreateBead:
		return f.createBead(ctx, c)
	case city.UpdateBead:
		return f.updateBead(ctx, c)
	case city.SlingWork:
		return sling(ctx, f, c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok, err := doWatchdog(f, c); ok {
		return r, err
	}
	switch c := c.(type) {
	case city.Scale:
		return f.scale(c)
	case city.SuspendRig:
		return f.suspendRig(c, c.Rig, true)
	case city.ResumeRig:
		return f.suspendRig(c, c.Rig, false)
	}
	if c.Target() == "" {
		return f.doCity(c)
	}
	if _, ok := f.snap.Pool(c.Target()); ok && isFlag(c) {
		return f.suspendPool(c), nil
	}
	return f.doAgent(c)
}

// isFlag reports whether a command writes the suspended flag of a declaration.
func isFlag(c city.Command) bool {
	switch c.(type) {
	case city.Suspend, city.Resume, city.Stop:
		return true
	}
	return false
}

func (f *Fake) doCity(c city.Command) (city.Receipt, error) {
	switch c := c.(type) {
	case city.Emit:
		seq := f.record(c.Event)
		f.edit(func(*city.Snapshot) {})
		return city.Receipt{Seq: seq, Message: "written"}, nil
	case city.Suspend, city.Resume:
		return f.prove(c, func(s *city.Snapshot) { s.Suspended = c.Verb() == "suspend" }), nil
	case city.Shutdown:
		return f.prove(c, func(s *city.Snapshot) { s.ShutDown = true }), nil
	case city.Reload:
		return f.reload(c)
	}
	return f.prove(c, func(*city.Snapshot) {}), nil
}

// reload applies a held configuration if it is confirmed, and removes the agents that it does not contain.
func (f *Fake) reload(c city.Reload) (city.Receipt, error) {
	held := f.snap.Config.Held
	if held != nil && !c.Confirm {
		return city.Receipt{}, refuse(city.Conflict, "the configuration would remove %d of %d "+
			"running agents (%s); `gcity reload --confirm` lets it",
			len(held.Removes), held.Running, strings.Join(held.Removes, ", "))
	}
	return f.prove(c, func(s *city.Snapshot) {
		if held == nil {
			return
		}
		s.Config.Held, s.Config.Revision, s.Config.Loaded = nil, held.Revision, time.Now()
		for _, name := range held.Removes {
			f.leave(s, name)
		}
	}), nil
}

func (f *Fake) doAgent(c city.Command) (city.Receipt, error) {
	name := c.Target()
	a, ok := f.snap.Agent(name)
	if !ok {
		_, err := f.running(name)
		return city.Receipt{}, err
	}
	if p, ok := f.snap.Pool(a.Pool); ok && isFlag(c) {
		return city.Receipt{}, refuse(city.Conflict, "%s is a member of the pool %s: %s that", name,
			p.Name, c.Verb())
	}
	switch c := c.(type) {
	case city.Nudge:
		return f.nudge(c)
	case city.Unsend:
		return f.unsend(c)
	case city.SendKeys:
		return f.typing(c, strings.ReplaceAll(strings.Join(c.Keys, ""), "Enter", "\r"))
	case city.Drain, city.Undrain, city.DrainAck:
		return f.doDrain(c, a)
	case city.Interrupt, city.Clear:
		s, err := f.running(name)
		if err != nil {
			return city.Receipt{}, err
		}
		if c.Verb() == "clear" {
			s.life, s.out = s.life+1, nil
		}
	}
	pool, in := a.Pool, a.Rig
	return f.prove(c, func(s *city.Snapshot) {
		a, _ := s.Agent(name)
		switch c.(type) {
		case city.Stop, city.Suspend:
			f.stop(a, city.Suspended, byAgent)
		case city.Resume:
			if r := rig(s, a.Rig); r != nil && r.Suspended {
				f.stop(a, city.Suspended, byRig(r))
				break
			}
			f.start(a)
		case city.Restart, city.Kill, city.Release, city.RequestRestart:
			f.again(s, a)
		}
		f.count(s, pool, in)
	}), nil
}

// again starts an agent if it is wanted.
func (f *Fake) again(s *city.Snapshot, a *city.Agent) {
	if surplus(s, a) {
		f.leave(s, a.Name)
		return
	}
	f.start(a)
}

// leave removes an agent that is not wanted any more.
func (f *Fake) leave(s *city.Snapshot, name string) {
	s.Agents = slices.DeleteFunc(s.Agents, func(a city.Agent) bool {
		if a.Name == name {
			f.screens[name].life++
		}
		return a.Name == name
	})
}

func (f *Fake) typing(c city.Command, text string) (city.Receipt, error) {
	s, err := f.running(c.Target())
	if err != nil {
		return city.Receipt{}, err
	}
	f.typeIn(s, []byte(text))
	return f.prove(c, func(*city.Snapshot) {}), nil
}

// prove records the event of a command and publishes the change.
func (f *Fake) prove(c city.Command, change func(*city.Snapshot)) city.Receipt {
	seq := f.record(events.Event{Type: "command." + c.Verb(), Actor: "operator",
		Subject: c.Target()})
	f.edit(change)
	return city.Receipt{Seq: seq, Message: strings.TrimSpace(c.Verb() + " " + c.Target())}
}

func refuse(code city.Code, format string, args ...any) *city.Error {
	return &city.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
