package offline

import (
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
)

// flagged is what a suspended flag belongs to, and whose sessions end with it.
type flagged struct {
	target   config.Target
	name     string // for a person
	Of       func(agent string) bool
	off, on  string // types of the events
	declared bool   // an event has it as its subject
}

// suspend writes the flag of an agent, a pool or the city ("").
func (b *Aside) suspend(ctx context.Context, name string, off bool) (city.Receipt, error) {
	var wants []agent.Want
	if b.config != nil { // else the edit says what is wrong with the file
		wants = folder.Plan(b.config, b.Dir)
	}
	f, err := whose(name, wants)
	if err != nil {
		return city.Receipt{}, err
	}
	return b.flag(ctx, f, off)
}

// whose finds the flag of an agent, a pool or the city.
func whose(name string, wants []agent.Want) (flagged, error) {
	if name == "" {
		return flagged{name: "the city", Of: everyone, off: events.CitySuspended,
			on: events.CityResumed}, nil
	}
	f := flagged{
		target: config.Target{Agent: name}, name: name,
		Of:  func(agent string) bool { return agent == name },
		off: events.AgentSuspended, on: events.AgentResumed, declared: true,
	}
	var mine []string
	for _, w := range wants {
		if w.Name == name && w.Pool != "" && w.Pool != name {
			return f, &city.Error{Code: city.Conflict, Message: fmt.Sprintf(
				"%s is one of the pool %s and cannot be suspended by itself: suspend the pool, "+
					"or `gcity pool scale %s N`", name, w.Pool, w.Pool)}
		}
		if w.Pool == name {
			mine = append(mine, w.Name)
		}
	}
	if len(mine) > 0 {
		f.Of = func(agent string) bool { return slices.Contains(mine, agent) }
	}
	return f, nil
}

// OfRig is the flag of a rig.
func OfRig(rig string) flagged {
	return flagged{
		target: config.Target{Rig: rig}, name: "rig " + rig,
		Of:  func(agent string) bool { return strings.HasPrefix(agent, rig+"/") },
		off: events.RigSuspended, on: events.RigResumed, declared: true,
	}
}

// flag writes a flag, and where it says suspended ends what runs in spite of it, as a controller would.
func (b *Aside) flag(ctx context.Context, f flagged, off bool) (city.Receipt, error) {
	if err := folder.SetSuspended(b.Dir, f.target, off); err != nil {
		return city.Receipt{}, err
	}
	e := events.Event{Type: f.on}
	if f.declared {
		e.Subject = f.target.Agent + f.target.Rig // one of them is empty
	}
	if !off {
		return b.record(e, "resumed "+f.name+"; no controller runs, so nothing is started now")
	}
	e.Type = f.off
	ended, err := b.End(ctx, f.Of)
	if err != nil {
		return city.Receipt{}, err
	}
	what := "suspended " + f.name
	if ended > 0 {
		what += fmt.Sprintf(" and ended %s", describe.Count(ended, "session"))
	}
	return b.record(e, what)
}

func (b *Aside) record(e events.Event, what string) (city.Receipt, error) {
	e.Message = what
	if e.Actor == "" {
		e.Actor = "operator"
	}
	seq, err := folder.AppendEvent(b.Dir, e)
	if err != nil {
		return city.Receipt{}, fmt.Errorf("%s, but the event could not be written: %w", what, err)
	}
	return city.Receipt{Seq: seq, Message: what}, nil
}

// recordOf is record where what was done goes on from the subject's name.
func (b *Aside) recordOf(e events.Event, what string) (city.Receipt, error) {
	r, err := b.record(e, what)
	r.Message = e.Subject + " " + what
	return r, err
}

// scale writes down the size that one of the planned pools is to have, within its bounds, for the next controller.
func (b *Aside) scale(c city.Scale, planned []agent.Pool) (city.Receipt, error) {
	i := slices.IndexFunc(planned, func(p agent.Pool) bool { return p.Name == c.Pool })
	if i < 0 {
		return city.Receipt{}, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("there is no pool %q", c.Pool)}
	}
	p := planned[i]
	e := events.Event{Type: events.PoolScaled, Subject: p.Name}
	if c.Auto {
		if err := edit.SetOverride(b.Dir, p.Name, nil); err != nil {
			return city.Receipt{}, err
		}
		return b.recordOf(e, "is given back to its check; it counts when the city runs")
	}
	if c.Size != p.Size(c.Size) {
		return city.Receipt{}, &city.Error{Code: city.Invalid,
			Message: outOfBounds(p.Name, c.Size, p.Min, p.Max, p.Source)}
	}
	if err := edit.SetOverride(b.Dir, p.Name, &c.Size); err != nil {
		return city.Receipt{}, err
	}
	return b.recordOf(e, fmt.Sprintf("is set to %d by hand; it counts when the city runs, until "+
		"`gcity pool scale %s auto`", c.Size, p.Name))
}

// outOfBounds says why a pool cannot have a size.
func outOfBounds(name string, size, least, most int, source string) string {
	bounds := fmt.Sprintf("its bounds are %d to %d", least, most)
	if most == 0 {
		bounds = "it is off, since its max is 0"
	}
	return fmt.Sprintf("cannot scale %s to %d: %s (%s)", name, size, bounds, source)
}
