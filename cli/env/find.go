package env

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/workstore"
	"gcity/internal/suggest"
	"gcity/pool"
)

// Found is the object that a name refers to. Only Snapshot and the field of the object's kind are set.
type Found struct {
	Snapshot *city.Snapshot
	Agent    *city.Agent
	Pool     *city.Pool
	Rig      *city.Rig

	Automation *city.Automation
	Watchdog   *city.Watchdog

	name string
}

// Name returns the qualified name.
func (f Found) Name() string { return f.name }

// Find returns the agent with the given name, which may be unqualified if it is unique.
func (l *Link) Find(ctx context.Context, name string) (*city.Snapshot, *city.Agent, error) {
	f, err := l.Resolve(ctx, name, suggest.Agent)
	return f.Snapshot, f.Agent, err
}

// Resolve returns the object that has the given name and one of the given kinds. Earlier kinds take precedence. If the
// object is not found, the result contains only the snapshot.
func (l *Link) Resolve(ctx context.Context, name string, kinds ...suggest.Kind) (Found, error) {
	for {
		s, err := l.Snapshot(ctx)
		if err != nil {
			return Found{}, err
		}
		f, err := match(s, name, kinds)
		if err == nil || !l.mayBeLoading(s, kinds) {
			f.Snapshot = s
			return f, err
		}
		select {
		case <-ctx.Done():
			return Found{}, ctx.Err()
		case <-time.After(rereadInterval):
		}
	}
}

func match(s *city.Snapshot, name string, kinds []suggest.Kind) (Found, error) {
	for _, k := range kinds {
		if slices.Contains(s.Names(k), name) {
			return lookup(s, k, name), nil
		}
	}
	var same []string
	var first Found
	for _, k := range kinds {
		for _, n := range s.Names(k) {
			if !shortFor(k, n, name) || slices.Contains(same, n) {
				continue
			}
			if same = append(same, n); len(same) == 1 {
				first = lookup(s, k, n)
			}
		}
	}
	switch len(same) {
	case 1:
		return first, nil
	case 0:
		return Found{}, Unknown(s, name, kinds)
	}
	return Found{}, city.Errorf(city.Invalid, "%q is ambiguous; use one of %s", name,
		strings.Join(same, ", "))
}

const (
	rereadInterval = 50 * time.Millisecond
	startupPeriod  = 5 * time.Second
)

func (l *Link) mayBeLoading(s *city.Snapshot, kinds []suggest.Kind) bool {
	return l.Live && slices.Contains(kinds, suggest.Automation) && len(s.Automations) == 0 &&
		time.Since(s.Started).Abs() < startupPeriod // it is negative if the clock was set back
}

// shortFor reports whether name is the short form of qualified: worker for demo/worker, x for x:rig:demo.
func shortFor(k suggest.Kind, qualified, name string) bool {
	if k == suggest.Automation {
		return name != "" && strings.HasPrefix(qualified, name+":rig:")
	}
	return strings.HasSuffix(qualified, "/"+name)
}

func lookup(s *city.Snapshot, k suggest.Kind, name string) Found {
	f := Found{Snapshot: s, name: name}
	switch k {
	case suggest.Agent:
		f.Agent, _ = s.Agent(name)
	case suggest.Pool:
		f.Pool, _ = s.Pool(name)
	case suggest.Rig:
		f.Rig, _ = s.Rig(name)
	case suggest.Automation:
		f.Automation, _ = s.Automation(name)
	case suggest.Watchdog:
		f.Watchdog, _ = s.Watchdog(name)
	}
	return f
}

// Unknown returns the error for a name that was not found, with suggestions.
func Unknown(s *city.Snapshot, name string, kinds []suggest.Kind) error {
	if err := misplaced(s, name, kinds); err != nil {
		return err
	}
	var all []string
	for _, k := range kinds {
		all = append(all, s.Names(k)...)
	}
	return city.Missing(suggest.NotFound(suggest.AnyOf(kinds...), name, all))
}

func misplaced(s *city.Snapshot, name string, kinds []suggest.Kind) error {
	if !slices.Contains(kinds, suggest.Agent) {
		return nil
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		mine := p.Name == name || strings.HasSuffix(p.Name, "/"+name)
		if mine && !slices.Contains(kinds, suggest.Pool) {
			text := fmt.Sprintf("%q is a pool, but this command needs one agent", p.Name)
			if m := MembersOf(s, p); len(m) > 0 {
				text += "; use one of its members: " + joined(m, 6)
			} else {
				text += ", and the pool currently has no members"
				if p.Max > 0 && !p.Suspended {
					text += fmt.Sprintf("; `gcity pool scale %s 1` starts one", p.Name)
				}
			}
			return &PoolError{Pool: p.Name,
				Problem: &city.Error{Code: city.Invalid, Message: text}}
		}
		rig := p.Name[:strings.LastIndexByte(p.Name, '/')+1]
		for _, qualified := range []string{name, rig + name} {
			if (pool.Spec{Name: p.Name, Min: p.Min, Max: p.Max}).Index(qualified) > 0 {
				return city.Missing(suggest.NoSuch(suggest.Agent, qualified).Then(fmt.Sprintf(
					"its pool %s wants %d of at most %d members (%s); `gcity why %s` shows details",
					p.Name, p.Desired, p.Max, p.Reason, p.Name)))
			}
		}
	}
	return nil
}

// PoolError is the error of a command that needs an agent but was given a pool.
type PoolError struct {
	Pool    string
	Problem *city.Error
	Instead string // advice for the whole pool; may be empty
}

func (p *PoolError) Error() string {
	if p.Instead == "" {
		return p.Problem.Error()
	}
	return p.Problem.Error() + "; " + p.Instead
}

// Unwrap returns p.Problem.
func (p *PoolError) Unwrap() error { return p.Problem }

// MembersOf returns a pool's current members in natural order.
func MembersOf(s *city.Snapshot, p *city.Pool) []city.Agent {
	var out []city.Agent
	for i := range s.Agents {
		if s.Agents[i].Pool == p.Name {
			out = append(out, s.Agents[i])
		}
	}
	slices.SortFunc(out, func(x, y city.Agent) int { return city.CompareNames(x.Name, y.Name) })
	return out
}

func joined(agents []city.Agent, limit int) string {
	var names []string
	for i := range agents {
		if i == limit {
			names = append(names, "…")
			break
		}
		names = append(names, agents[i].Name)
	}
	return strings.Join(names, ", ")
}

// AsUndetermined returns err with the exit code for an unknown result instead of the code for a failure or a conflict.
// Other codes stay.
func AsUndetermined(err error) error {
	code, _ := exit.Verdict(err)
	if code == exit.CodeFailed || code == exit.CodeConflict {
		code = exit.CodeNotRunning
	}
	return &exit.Failure{Code: code, Err: err}
}

// OneAgent is a city that can return a single agent by its qualified name.
type OneAgent interface {
	Agent(ctx context.Context, name string) (*city.Agent, error)
}

// FindAgent is like Link.Find, but requests only one agent if the name is qualified.
func FindAgent(ctx context.Context, c city.Control, name string) (*city.Agent, error) {
	if one, ok := c.(OneAgent); ok {
		if g, err := one.Agent(ctx, name); !city.HasCode(err, city.NotFound) {
			return g, err
		}
	}
	_, g, err := (&Link{Control: c}).Find(ctx, name)
	return g, err
}

// Named returns the qualified name of the agent with the given name, by the same rules as Link.Find.
func Named(ctx context.Context, e *Env, name string) (string, error) {
	l, f, err := e.OpenNamed(ctx, name, suggest.Agent)
	if err != nil {
		return "", err
	}
	defer l.Close()
	return f.Agent.Name, nil
}

// WantOf returns the agent with the given name, which may be unqualified if it is unique.
func WantOf(wants []agent.Want, name string) (*agent.Want, error) {
	s := &city.Snapshot{}
	for i := range wants {
		s.Agents = append(s.Agents, city.Agent{Name: wants[i].Name})
	}
	f, err := match(s, name, []suggest.Kind{suggest.Agent})
	if err != nil {
		return nil, err
	}
	return &wants[slices.IndexFunc(wants, func(w agent.Want) bool { return w.Name == f.name })], nil
}

// UnknownRig returns the error for an unknown rig.
func UnknownRig(name string, all []workstore.Place) error {
	var names []string
	for _, p := range all[1:] {
		names = append(names, p.Rig)
	}
	return city.Missing(suggest.NotFound(suggest.Rig, name, names))
}
