package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/pool"
	"gcity/session"
)

// declare adds an agent, or, where its options name a pool, all of its possible members.
func (c *conf) declare(a agent.Want, spec string) {
	if a.Rig != "" && !slices.ContainsFunc(c.rigs, func(r agent.Rig) bool { return r.Name == a.Rig }) {
		c.rigs = append(c.rigs, agent.Rig{Name: a.Rig, Path: "/" + a.Rig})
	}
	_, opts, _ := strings.Cut(spec, ":")
	p := agent.Pool{Spec: pool.Spec{Name: a.Name, Max: -1}, Check: "count", CheckTimeout: time.Second, DrainTimeout: time.Minute, Source: a.Source,
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
		c.wants = append(c.wants, a)
		return
	}
	c.pools = append(c.pools, p)
	slices.SortFunc(c.pools, func(a, b agent.Pool) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i <= p.Max; i++ {
		w := a
		w.Name, w.Pool, w.Index = p.Member(i), p.Name, i
		w.Spec.Name, w.Spec.Agent = "gc-app-"+w.Name, w.Name
		c.wants = append(c.wants, w)
	}
}

// suspend fills in who is suspended by which flag.
func (c *conf) suspend(flags map[string]bool) {
	c.pools, c.rigs = slices.Clone(c.pools), slices.Clone(c.rigs)
	why := func(name, rig string) string {
		switch {
		case flags[name]:
			return "by agent"
		case flags["rig "+rig]:
			return "by rig " + rig
		case c.suspended:
			return "by city"
		}
		return ""
	}
	for i := range c.wants {
		c.wants[i].Suspended = why(c.wants[i].Declared, c.wants[i].Rig)
	}
	for i := range c.pools {
		c.pools[i].Suspended = why(c.pools[i].Name, c.pools[i].Rig)
	}
	for i := range c.rigs {
		c.rigs[i].Suspended = flags["rig "+c.rigs[i].Name]
	}
}

// poolCheck is what a pool's check prints: what the story says, and nothing otherwise.
func (w *world) poolCheck(p *agent.Pool) input {
	in := inChecked{pool: p.Name, check: p.Check, took: time.Millisecond}
	says := w.says[p.Name]
	if why, failed := strings.CutPrefix(says, "!"); failed {
		in.err, in.kind, in.output = errors.New(why), "exit", "trouble"
		return in
	}
	if in.value, in.err = pool.Parse([]byte(says)); in.err != nil {
		in.kind = "output"
	}
	return in
}

func (w *world) mark(f fxMark) input {
	s := w.alive[f.agent]
	if s == nil || s.ID != f.id {
		return inMarked{agent: f.agent, session: f.id, err: session.ErrNotFound}
	}
	s.Drain = f.drain
	return inMarked{agent: f.agent, session: f.id, drain: f.drain}
}

func (w *world) scale(f fxScale) input {
	delete(w.overrides, f.pool)
	if f.size != nil {
		w.overrides[f.pool] = *f.size
	}
	return inScaled{scale: f}
}

func drainText(d session.Drain) string {
	if d.Since.IsZero() {
		return "not draining"
	}
	return "draining by " + d.By
}

// showPools lists the pools as an operator sees them.
func (w *world) showPools() []string {
	var out []string
	for _, p := range w.m.snapshot(w.now).Pools {
		line := fmt.Sprintf("pool %s has %d of %d (%d-%d): %s", p.Name, p.Size, p.Desired, p.Min, p.Max, p.Reason)
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
