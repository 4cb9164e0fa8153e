package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/config/edit"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/suggest"
)

// suspendable is an agent, pool, rig or city that can be suspended. Includes selects the agents that stop with it.
type suspendable struct {
	target   config.Target
	name     string
	Includes func(agent string) bool
	off, on  string
	declared bool
}

func (b *City) suspend(ctx context.Context, name string, off bool) (city.Receipt, error) {
	var wants []agent.Want
	if b.config != nil {
		wants = folder.Plan(b.config, b.Dir)
	}
	f, err := findSuspendable(name, wants)
	if err != nil {
		return city.Receipt{}, err
	}
	return b.setSuspended(ctx, f, off)
}

func findSuspendable(name string, wants []agent.Want) (suspendable, error) {
	if name == "" {
		return suspendable{name: "the city", Includes: everyone, off: events.CitySuspended,
			on: events.CityResumed}, nil
	}
	f := suspendable{
		target: config.Target{Agent: name}, name: "agent " + name,
		Includes: func(agent string) bool { return agent == name },
		off:      events.AgentSuspended, on: events.AgentResumed, declared: true,
	}
	var mine []string
	for _, w := range wants {
		if w.Name == name && w.Pool != "" && w.Pool != name {
			return f, city.Errorf(city.Conflict, "%s is a member of pool %s and cannot be "+
				"suspended alone: suspend the pool, or run `gcity pool scale %s N`", name, w.Pool,
				w.Pool)
		}
		if w.Pool == name {
			mine = append(mine, w.Name)
		}
	}
	if len(mine) > 0 {
		f.name = "pool " + name
		f.Includes = func(agent string) bool { return slices.Contains(mine, agent) }
	}
	return f, nil
}

// SuspendableRig returns the suspendable for a rig.
func SuspendableRig(rig string) suspendable {
	return suspendable{
		target: config.Target{Rig: rig}, name: "rig " + rig,
		Includes: func(agent string) bool { return strings.HasPrefix(agent, rig+"/") },
		off:      events.RigSuspended, on: events.RigResumed, declared: true,
	}
}

func (b *City) setSuspended(ctx context.Context, f suspendable, off bool) (city.Receipt, error) {
	before := b.flagOf(f)
	if err := edit.SetSuspended(folder.SourceOf(b.Dir), f.target, off); err != nil {
		return city.Receipt{}, err
	}
	if !off && !before {
		return b.notSuspended(f)
	}
	e := events.Event{Type: f.on}
	if f.declared {
		e.Subject = f.target.Agent + f.target.Rig
	}
	set := b.suspensionOf(f)
	switch {
	case !off && set.On():
		return b.record(ctx, e, fmt.Sprintf("%s was resumed, but is still %s", f.name, set))
	case !off:
		return b.record(ctx, e,
			f.name+" was resumed; no controller is running, so no agent was started")
	}
	e.Type = f.off
	ended, err := b.End(ctx, f.Includes)
	if err != nil {
		return city.Receipt{}, err
	}
	what := f.name + " is suspended"
	if set.Level == agent.AgentLevel {
		what += " " + set.Where
	}
	switch {
	case ended > 0:
		what += fmt.Sprintf("; stopped %s", describe.Count(ended, "session"))
	case before:
		return city.Receipt{Message: what}, nil
	}
	return b.record(ctx, e, what)
}

// notSuspended is the reply to a needless resume. It returns an error if a higher level suspends f.
func (b *City) notSuspended(f suspendable) (city.Receipt, error) {
	if set := b.suspensionOf(f); set.On() {
		return city.Receipt{}, city.Errorf(city.Conflict, "%s is %s; run `%s` instead", f.name, set,
			set.ResumeCommand(f.target.Agent))
	}
	return city.Receipt{Message: f.name + " is not suspended"}, nil
}

// flagOf reports whether the configuration sets the key `suspended` of f itself.
func (b *City) flagOf(f suspendable) bool {
	c, err := folder.LoadCity(b.Dir)
	if err != nil {
		return false
	}
	flag, err := c.SuspendedFlag(f.target)
	return err == nil && flag.On
}

// suspensionOf returns the suspension in force for f. For a rig, it considers only a suspension of the city.
func (b *City) suspensionOf(f suspendable) agent.Suspension {
	c, err := folder.LoadCity(b.Dir)
	if err != nil {
		return agent.Suspension{}
	}
	if f.target.Rig != "" && c.Workspace.Suspended {
		return agent.Suspension{Level: agent.CityLevel, Where: "with the city"}
	}
	for _, w := range folder.Plan(c, b.Dir) {
		if f.target.Agent != "" && f.Includes(w.Name) {
			return w.Suspended
		}
	}
	return agent.Suspension{}
}

func (b *City) record(ctx context.Context, e events.Event, what string) (city.Receipt, error) {
	e.Actor, e.Message = cmp.Or(e.Actor, city.PeerOf(ctx).Name()), what
	seq, err := folder.AppendEvent(b.Dir, e)
	if err != nil {
		return city.Receipt{}, fmt.Errorf("%s, but the event cannot be written: %w", what, err)
	}
	return city.Receipt{Seq: seq, Message: what}, nil
}

func (b *City) recordOf(ctx context.Context, e events.Event, what string) (city.Receipt,
	error) {
	r, err := b.record(ctx, e, what)
	r.Message = e.Subject + " " + what
	return r, err
}

func (b *City) scale(ctx context.Context, c city.Scale, planned []agent.Pool) (city.Receipt,
	error) {
	i := slices.IndexFunc(planned, func(p agent.Pool) bool { return p.Name == c.Pool })
	if i < 0 {
		return city.Receipt{}, city.Missing(suggest.NoSuch(suggest.Pool, c.Pool))
	}
	p := planned[i]
	e := events.Event{Type: events.PoolScaled, Subject: p.Name}
	if c.Auto {
		if set, err := edit.Overrides(b.Dir); err == nil {
			if _, found := set[p.Name]; !found {
				return city.Receipt{Message: "no size is set for pool " + p.Name}, nil
			}
		}
		if err := edit.SetOverride(b.Dir, p.Name, nil); err != nil {
			return city.Receipt{}, err
		}
		return b.recordOf(ctx, e, "will have an automatic size again from the city's next start")
	}
	if why := p.OutOfBounds(c.Size); why != "" {
		return city.Receipt{}, &city.Error{Code: city.Invalid, Message: why}
	}
	if err := edit.SetOverride(b.Dir, p.Name, &c.Size); err != nil {
		return city.Receipt{}, err
	}
	return b.recordOf(ctx, e, fmt.Sprintf("will have size %d from the city's next start until you "+
		"run `gcity pool scale %s auto`", c.Size, p.Name))
}
