package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/config"
	"gcity/session"
)

// Plan returns the agents that should exist in a city, sorted by name. They include all possible pool members.
func Plan(c *config.City, h Host) []Want {
	n := 0
	for i := range c.Agents {
		n += c.Agents[i].Spec().Max
	}
	wants := make([]Want, 0, n)
	base := inherited(h)
	for i := range c.Agents {
		wants = members(wants, c, &c.Agents[i], base)
	}
	return sortByName(wants)
}

// sortByName sorts pointers, because wants are large.
func sortByName(wants []Want) []Want {
	order := make([]*Want, len(wants))
	for i := range wants {
		order[i] = &wants[i]
	}
	slices.SortFunc(order, func(a, b *Want) int { return strings.Compare(a.Name, b.Name) })
	out := make([]Want, len(wants))
	for i, w := range order {
		out[i] = *w
	}
	return out
}

// Pools returns the pools that should exist, sorted by name.
func Pools(c *config.City, h Host) []Pool {
	var pools []Pool
	base := inherited(h)
	for i := range c.Agents {
		if c.Agents[i].Pool != nil {
			pools = append(pools, poolOf(c, &c.Agents[i], base))
		}
	}
	slices.SortFunc(pools, func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) })
	return pools
}

// Rigs returns a city's rigs, sorted by name.
func Rigs(c *config.City) []Rig {
	var rigs []Rig
	for _, r := range c.Rigs {
		rigs = append(rigs, Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix,
			Suspended: r.Suspended, Problem: r.Problem, Source: r.Origin.String()})
	}
	slices.SortFunc(rigs, func(a, b Rig) int { return cmp.Compare(a.Name, b.Name) })
	return rigs
}

// Spawn returns the Spec for a start with the given session ID.
func (w Want) Spawn(id string) session.Spec {
	s := w.Spec
	s.ID = id
	s.Env = append(slices.Clip(s.Env), "GC_SESSION_ID="+id) // clipped, so that append makes a copy
	return s
}

func members(wants []Want, c *config.City, a *config.Agent, base environ) []Want {
	p, missing := base.program(c, a)
	spec, w, hash := a.Spec(), common(c, a, &p), ""
	for i := range spec.Max {
		m := c.Member(a, i+1)
		e, problems := c.Expand(&m)
		if i == 0 {
			w.Spec.Env = base.forAgent(c, &m, p.Env, e.Dir)
		} else {
			w.Spec.Env = forMember(w.Spec.Env, &m, e.Dir)
		}
		if i == 0 || m.ScriptHash != hash {
			hash = m.ScriptHash
			w.Spec.Fingerprint = fingerprint(&m, &p)
		}
		if a.Pool != nil {
			w.Pool, w.Index = spec.Name, i+1
		}
		w.Name, w.MakeDir, w.Problem = m.Qualified(), e.MakeDir,
			problem(c, &m, missing.why, problems)
		if w.MissingPrograms = (MissingPrograms{}); w.Problem != "" && w.Problem == missing.why {
			w.MissingPrograms = missing.MissingPrograms
		}
		w.Spec.Name, w.Spec.Agent, w.Spec.Dir = m.SessionName, w.Name, e.Dir
		w.Spec.PreStart, w.Spec.Setup, w.Spec.SetupScript = e.PreStart, e.SessionSetup, e.Script
		w.Prompt = addInstructions(c, a, &m, w.Prompt, &w.Spec)
		wants = append(wants, w)
	}
	return wants
}

func common(c *config.City, a *config.Agent, p *config.Program) Want {
	return Want{
		Declared: a.Qualified(), Description: a.Description, Rig: a.Rig, Provider: c.ProviderOf(a),
		Source: a.Origin.String(), Patched: patched(a),
		Program: p.Name, Found: p.SelectedBy == "" && p.Name != "", Prompt: delivery(p),
		Overlay: a.OverlayDir, Hooks: c.HooksOf(a),
		Policy: c.Policy(a), Suspended: suspended(c, a), IdleTimeout: a.IdleTimeout,
		StuckAfter: a.StuckAfter, TriageOf: triageOf(c, a), DependsOn: a.Needs,
		Strategy: a.Strategy,
		Spec: session.Spec{
			City: c.Path, Provider: c.ProviderOf(a), Idle: a.IdleTimeout > 0 || a.StuckAfter > 0,
			Command: c.CommandLineOf(a, p), Named: outsideFingerprint(a, p),
			Processes: p.ProcessNames,
			Ready:     ready(p), Dialogs: dialogs(p), Nudge: a.Nudge, Cols: c.Session.Cols,
			Rows: c.Session.Rows, StopSignal: a.StopSignal,
		},
	}
}

func triageOf(c *config.City, a *config.Agent) string {
	if w := c.TriageOf(a.Qualified()); w != nil {
		return w.Qualified()
	}
	return ""
}

func patched(a *config.Agent) []string {
	var out []string
	for _, at := range a.Patches {
		out = append(out, at.String())
	}
	return out
}

func problem(c *config.City, a *config.Agent, missing string, found []config.Problem) string {
	r := c.Rig(a.Rig)
	switch {
	case a.Fault != "":
		return a.Fault
	case len(found) > 0:
		return found[0].String()
	case r != nil && r.Problem != "":
		return fmt.Sprintf("the folder of rig %q (%s) cannot be used: %s", r.Name, r.Origin,
			r.Problem)
	case missing != "":
		return missing
	case a.ScriptProblem != "":
		return "cannot read session_setup_script: " + a.ScriptProblem
	}
	return ""
}

func poolOf(c *config.City, a *config.Agent, base environ) Pool {
	p := Pool{
		Spec: a.Spec(), Description: a.Description, Rig: a.Rig, Source: a.Origin.String(),
		Patched: patched(a), Check: a.Pool.Check,
		CheckTimeout: a.Pool.CheckTimeout, DrainTimeout: a.Pool.DrainTimeout, Dir: c.Path,
		Suspended: suspended(c, a),
	}
	if !strings.Contains(a.Dir, "{{") {
		e, _ := c.Expand(a) // cannot fail, because Load has validated the template
		p.Dir, p.MakeDir = e.Dir, e.MakeDir
	}
	own, _ := base.program(c, a)
	p.Env = base.forAgent(c, a, own.Env, p.Dir)
	if at, ok := find(p.Env, "GC_SESSION_NAME"); ok {
		p.Env = slices.Delete(p.Env, at, at+1)
	}
	return p
}

// CommandEnvironment returns the folder and the environment for commands that run for a rig, or for the city if rig is
// "". It returns an error if the rig does not exist or its folder cannot be used.
func CommandEnvironment(c *config.City, rig string, h Host) (dir string, env []string, err error) {
	a := config.Agent{Name: "automation"}
	a.Rig = rig
	dir = c.Path
	if rig != "" {
		r := c.Rig(rig)
		if r == nil {
			return "", nil, fmt.Errorf("rig %q no longer exists", rig)
		}
		if r.Problem != "" {
			return "", nil, fmt.Errorf("rig %s: %s", rig, r.Problem)
		}
		dir = r.Path
	}
	all := inherited(h).forAgent(c, &a, nil, dir)
	own := []string{"GC_AGENT=", "GC_SESSION_NAME=", "GC_PACK_DIR="}
	return dir, slices.DeleteFunc(all, func(kv string) bool {
		return slices.ContainsFunc(own, func(name string) bool {
			return strings.HasPrefix(kv, name)
		})
	}), nil
}
