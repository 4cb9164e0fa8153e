package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/internal/spell"
	"gcity/pool"
)

// kind is what a name may belong to.
type kind string

const (
	kindAgent kind = "agent"
	kindPool  kind = "pool"
	kindRig   kind = "rig"

	kindAutomation kind = "automation"
	kindWatchdog   kind = "watchdog"
)

// found is what a name belongs to: one of the five.
type found struct {
	snapshot *city.Snapshot
	agent    *city.Agent
	pool     *city.Pool
	rig      *city.Rig

	automation *city.Automation
	watchdog   *city.Watchdog
}

// name is the qualified name.
func (f found) name() string {
	switch {
	case f.agent != nil:
		return f.agent.Name
	case f.pool != nil:
		return f.pool.Name
	case f.automation != nil:
		return f.automation.Name
	case f.watchdog != nil:
		return f.watchdog.Name
	default:
		return f.rig.Name
	}
}

// find resolves an agent's name: the qualified one, or the last part of it if only one agent has it.
func (l *link) find(ctx context.Context, name string) (*city.Snapshot, *city.Agent, error) {
	f, err := l.resolve(ctx, name, kindAgent)
	return f.snapshot, f.agent, err
}

// resolve finds what a name belongs to among the kinds that are asked for. A qualified name goes before a last part, and
// the kinds go before each other in the order of their arguments: the only member of a pool has its pool's name.
func (l *link) resolve(ctx context.Context, name string, kinds ...kind) (found, error) {
	for {
		s, err := l.Snapshot(ctx)
		if err != nil {
			return found{}, err
		}
		f, err := among(s, name, kinds)
		if err == nil || !l.reads(s, kinds) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return found{}, ctx.Err()
		case <-time.After(glimpse):
		}
	}
}

func among(s *city.Snapshot, name string, kinds []kind) (found, error) {
	for _, k := range kinds {
		if slices.Contains(namesOf(s, k), name) {
			return lookup(s, k, name), nil
		}
	}
	var same []string // in the order of kinds, each name once
	var first found
	for _, k := range kinds {
		for _, n := range namesOf(s, k) {
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
		return found{}, unknown(s, name, kinds)
	}
	return found{}, &city.Error{Code: city.Invalid, Message: fmt.Sprintf("%q is one of %s: say which", name, strings.Join(same, ", "))}
}

const (
	glimpse = 50 * time.Millisecond
	infancy = 5 * time.Second
)

// reads reports whether a controller has only just begun, and may be reading the automations that are asked for.
func (l *link) reads(s *city.Snapshot, kinds []kind) bool {
	return l.live && slices.Contains(kinds, kindAutomation) && len(s.Automations) == 0 && time.Since(s.Started) < infancy
}

// shortFor reports whether a name is the short form of a qualified one: "worker" of "demo/worker", of an automation "x" of
// "x:rig:demo".
func shortFor(k kind, qualified, name string) bool {
	if k == kindAutomation {
		return name != "" && strings.HasPrefix(qualified, name+":rig:")
	}
	return strings.HasSuffix(qualified, "/"+name)
}

// namesOf lists the qualified names of a kind, in the order of the snapshot.
func namesOf(s *city.Snapshot, k kind) []string {
	var out []string
	switch k {
	case kindAgent:
		for i := range s.Agents {
			out = append(out, s.Agents[i].Name)
		}
	case kindPool:
		for i := range s.Pools {
			out = append(out, s.Pools[i].Name)
		}
	case kindRig:
		for i := range s.Rigs {
			out = append(out, s.Rigs[i].Name)
		}
	case kindAutomation:
		for i := range s.Automations {
			out = append(out, s.Automations[i].Name)
		}
	case kindWatchdog:
		for i := range s.Watchdogs {
			out = append(out, s.Watchdogs[i].Name)
		}
	}
	return out
}

func lookup(s *city.Snapshot, k kind, name string) found {
	f := found{snapshot: s}
	switch k {
	case kindAgent:
		f.agent, _ = s.Agent(name)
	case kindPool:
		f.pool, _ = s.Pool(name)
	case kindRig:
		f.rig = &s.Rigs[slices.IndexFunc(s.Rigs, func(r city.Rig) bool { return r.Name == name })] // it is one of theirs
	case kindAutomation:
		f.automation, _ = s.Automation(name)
	case kindWatchdog:
		f.watchdog, _ = s.Watchdog(name)
	}
	return f
}

// unknown says why a name stands for nothing that was asked for, and what to say instead.
func unknown(s *city.Snapshot, name string, kinds []kind) error {
	if err := misplaced(s, name, kinds); err != nil {
		return err
	}
	var all []string
	for _, k := range kinds {
		all = append(all, namesOf(s, k)...)
	}
	slices.SortFunc(all, city.CompareNames)
	all = slices.Compact(all)
	what := string(kinds[0])
	for i, k := range kinds[1:] {
		what += map[bool]string{true: " or ", false: ", "}[i == len(kinds)-2] + string(k)
	}
	text := fmt.Sprintf("there is no %s %q", what, name)
	parts := slices.Clone(all) // each may be named by its last part
	for _, n := range all {
		parts = append(parts, lastPart(n))
	}
	near := spell.Nearest(name, parts)
	switch {
	case len(all) == 0:
		text += "; the city has none: " + map[kind]string{
			kindAgent: "add an [[agents]] table to " + config.FileName, kindRig: "add a [[rigs]] table to " + config.FileName,
			kindPool:       "add an [agents.pool] table to an agent in " + config.FileName,
			kindAutomation: "a file automations/NAME/automation.toml in the folder of [formulas] dir is one",
			kindWatchdog:   "add a [[watchdogs]] table to " + config.FileName,
		}[kinds[0]]
	case near != "":
		text += fmt.Sprintf(", did you mean %q?", near)
	default:
		if len(all) > 12 {
			all = append(all[:12:12], "…")
		}
		text += "; there are " + strings.Join(all, ", ")
	}
	return &city.Error{Code: city.NotFound, Message: text}
}

// misplaced recognises the name of a pool or rig where an agent belongs, and of a pool's member that is not there now.
func misplaced(s *city.Snapshot, name string, kinds []kind) error {
	if !slices.Contains(kinds, kindAgent) {
		return nil
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		mine := p.Name == name || strings.HasSuffix(p.Name, "/"+name)
		if mine && !slices.Contains(kinds, kindPool) {
			text := fmt.Sprintf("%q is a pool, and this is about one agent", p.Name)
			if m := membersOf(s, p); len(m) > 0 {
				text += ": name one of its members, " + joined(m, 6)
			} else {
				text += ", and none of its members is there now"
			}
			return &city.Error{Code: city.Invalid, Message: text}
		}
		for _, qualified := range []string{name, strings.TrimSuffix(p.Name, lastPart(p.Name)) + name} {
			if (pool.Spec{Name: p.Name, Min: p.Min, Max: p.Max}).Index(qualified) > 0 {
				return &city.Error{Code: city.NotFound, Message: fmt.Sprintf("%s is not there now: its pool %s wants %d of at most %d (%s); `gcity why %s` tells why",
					qualified, p.Name, p.Desired, p.Max, p.Reason, p.Name)}
			}
		}
	}
	return nil
}

// membersOf lists a pool's members that are there now, in natural order.
func membersOf(s *city.Snapshot, p *city.Pool) []city.Agent {
	var out []city.Agent
	for i := range s.Agents {
		if s.Agents[i].Pool == p.Name {
			out = append(out, s.Agents[i])
		}
	}
	slices.SortFunc(out, func(x, y city.Agent) int { return city.CompareNames(x.Name, y.Name) })
	return out
}

// joined lists the names of agents, at most so many of them.
func joined(agents []city.Agent, most int) string {
	var names []string
	for i := range agents {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, agents[i].Name)
	}
	return strings.Join(names, ", ")
}

// lastPart is a qualified name without its rig.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
