package sling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/config"
	"gcity/internal/suggest"
	"gcity/mail"
)

func (s *Slinger) target(name string) (*assignee, error) {
	name = strings.TrimSpace(name)
	to, err := s.City.Address(name)
	if err != nil {
		return nil, err
	}
	if h := s.assignee(to); h != nil {
		return h, nil
	}
	rig := s.Config.Rig(name)
	if rig == nil {
		return nil, city.Missing(suggest.NotFound(suggest.AnyOf(suggest.Agent, suggest.Pool,
			suggest.Rig), name, s.names()))
	}
	if rig.DefaultSlingTarget == "" {
		return nil, city.Errorf(city.Conflict, "rig %s has no default target for work; name an "+
			"agent or a pool, or set default_sling_target in its table at %s", name, rig.Origin)
	}
	for _, t := range []string{rig.Name + "/" + rig.DefaultSlingTarget, rig.DefaultSlingTarget} {
		if to, err = s.City.Address(t); err != nil {
			continue
		}
		if h := s.assignee(to); h != nil {
			return h, nil
		}
	}
	return nil, city.Errorf(city.Conflict, "%s: rigs.default_sling_target: %s",
		rig.Origins["default_sling_target"],
		suggest.NotFound(suggest.AnyOf(suggest.Agent, suggest.Pool), rig.DefaultSlingTarget,
			s.names()))
}

func (s *Slinger) assignee(to string) *assignee {
	if pool, is := strings.CutPrefix(to, mail.PoolPrefix); is {
		p, ok := s.City.Pool(pool)
		if !ok {
			return nil
		}
		h := &assignee{pool: pool, rig: p.Rig, by: s.declared(pool)}
		if p.Suspended {
			h.note = "; the pool is suspended " + p.SuspendedReason
		}
		return h
	}
	pool := s.City.PoolOf(to)
	// if a member has the pool's name, it is the only member and runs while the pool has work, so assign the work to
	// the pool
	if pool != "" && pool == to {
		return s.assignee(mail.PoolPrefix + pool)
	}
	if a, ok := s.City.Agent(to); ok {
		h := &assignee{agent: to, rig: a.Rig, by: s.declared(cmp.Or(pool, to))}
		if a.State != city.Running && a.State != city.Starting {
			h.note = fmt.Sprintf("; the agent %s (%s)", a.State.Is(), a.Reason)
		}
		return h
	}
	if pool == "" {
		return nil
	}
	p, _ := s.City.Pool(pool)
	return &assignee{agent: to, rig: p.Rig, by: s.declared(pool),
		note: "; this pool member is not running"}
}

func (s *Slinger) declared(name string) *config.Agent {
	i := slices.IndexFunc(s.Config.Agents, func(a config.Agent) bool {
		return a.Qualified() == name
	})
	if i < 0 {
		return nil
	}
	return &s.Config.Agents[i]
}

func (s *Slinger) names() []string {
	var out []string
	for i := range s.City.Agents {
		out = append(out, s.City.Agents[i].Name)
	}
	for i := range s.City.Pools {
		out = append(out, s.City.Pools[i].Name)
	}
	for i := range s.City.Rigs {
		out = append(out, s.City.Rigs[i].Name)
	}
	for _, name := range out {
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			out = append(out, name[at+1:])
		}
	}
	return out
}
