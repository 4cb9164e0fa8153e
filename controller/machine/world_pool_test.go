package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/controller/effect"
	"gcity/pool"
	"gcity/session"
)

func declareIn(c *effect.Configuration, a agent.Want, spec string) {
	if a.Rig != "" && !slices.ContainsFunc(c.Rigs, func(r agent.Rig) bool {
		return r.Name == a.Rig
	}) {
		c.Rigs = append(c.Rigs, agent.Rig{Name: a.Rig, Path: "/" + a.Rig})
	}
	_, opts, _ := strings.Cut(spec, ":")
	p := agent.Pool{Spec: pool.Spec{Name: a.Name, Max: -1}, Check: "count",
		CheckTimeout: time.Second, DrainTimeout: time.Minute, Source: a.Source,
		Suspended: a.Suspended, Rig: a.Rig}
	for o := range strings.SplitSeq(opts, ",") {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "pool":
			fmt.Sscanf(value, "%d-%d", &p.Min, &p.Max)
		case "drain":
			p.DrainTimeout, _ = time.ParseDuration(value)
		case "nocheck":
			p.Check = ""
		case "othercheck":
			p.Check = "count differently"
		}
	}
	if p.Max < 0 {
		c.Wants = append(c.Wants, a)
		return
	}
	c.Pools = append(c.Pools, p)
	slices.SortFunc(c.Pools, func(a, b agent.Pool) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i <= p.Max; i++ {
		w := a
		w.Name, w.Pool, w.Index = p.Member(i), p.Name, i
		w.Spec.Name, w.Spec.Agent = "gc-app-"+w.Name, w.Name
		c.Wants = append(c.Wants, w)
	}
}

func suspendIn(c *effect.Configuration, flags map[string]bool) {
	c.Pools, c.Rigs = slices.Clone(c.Pools), slices.Clone(c.Rigs)
	why := func(name, rig string) agent.Suspension {
		switch {
		case flags[name]:
			return agent.Suspension{Level: agent.AgentLevel, Where: "in city.toml"}
		case flags["rig "+rig]:
			return agent.Suspension{Level: agent.RigLevel, Where: "with rig " + rig}
		case c.Suspended:
			return agent.Suspension{Level: agent.CityLevel, Where: "with the city"}
		}
		return agent.Suspension{}
	}
	for i := range c.Wants {
		c.Wants[i].Suspended = why(c.Wants[i].Declared, c.Wants[i].Rig)
	}
	for i := range c.Pools {
		c.Pools[i].Suspended = why(c.Pools[i].Name, c.Pools[i].Rig)
	}
	for i := range c.Rigs {
		c.Rigs[i].Suspended = flags["rig "+c.Rigs[i].Name]
	}
}

func (w *world) poolCheck(p *agent.Pool) effect.Input {
	in := effect.PoolChecked{Pool: p.Name, Check: p.Check, Took: time.Millisecond}
	says := w.says[p.Name]
	if why, failed := strings.CutPrefix(says, "!"); failed {
		in.Err, in.Kind, in.Output = errors.New(why), "exit", "trouble"
		return in
	}
	if in.Value, in.Err = pool.Parse([]byte(says)); in.Err != nil {
		in.Kind = "output"
	}
	return in
}

func (w *world) mark(f effect.MarkDrain) effect.Input {
	s := w.alive[f.Agent]
	if s == nil || s.ID != f.ID {
		return effect.DrainMarked{Agent: f.Agent, Session: f.ID, Err: session.ErrNotFound}
	}
	if w.fails["mark "+f.Agent] != "" {
		return effect.DrainMarked{Agent: f.Agent, Session: f.ID, Err: session.ErrUnsupported}
	}
	if why := w.fails["marking "+f.Agent]; why != "" {
		return effect.DrainMarked{Agent: f.Agent, Session: f.ID, Err: errors.New(why)}
	}
	s.Drain = f.Drain
	return effect.DrainMarked{Agent: f.Agent, Session: f.ID, Drain: f.Drain}
}

func (w *world) scale(f effect.Scale) effect.Input {
	delete(w.overrides, f.Pool)
	if f.Size != nil {
		w.overrides[f.Pool] = *f.Size
	}
	return effect.Scaled{Scale: f}
}

func drainText(d session.Drain) string {
	if d.Since.IsZero() {
		return "not draining"
	}
	return "draining by " + d.By
}

func (w *world) showPools() []string {
	var out []string
	for _, p := range w.m.Snapshot(w.now).Pools {
		line := fmt.Sprintf("pool %s has %d of %d (%d-%d): %s", p.Name, p.Size, p.Desired, p.Min,
			p.Max, p.Reason)
		if len(p.Draining) > 0 {
			line += "; draining " + strings.Join(p.Draining, ", ")
		}
		if p.Override != nil {
			line += fmt.Sprintf("; override %d", *p.Override)
		}
		if p.Check.Problem != "" {
			line += "; check: " + p.Check.Problem
		}
		if p.Suspended {
			line += "; suspended " + p.SuspendedReason
		}
		out = append(out, line)
	}
	return out
}
