package supervisor

import (
	"context"
	"fmt"
	"slices"

	"gcity/city"
)

// Allow returns an error if a city with this number of agents would exceed its tenant's max_agents.
func (s *Supervisor) Allow(ctx context.Context, path string, agents int) error {
	t, others := s.tenantCities(path)
	if t.MaxAgents == 0 {
		return nil
	}
	sum := agents
	for path, control := range others {
		sum += s.declared(ctx, path, control)
	}
	if sum > t.MaxAgents {
		return fmt.Errorf("too many agents: the city declares %d, so tenant %s would have %d in "+
			"total; max_agents in [tenants.%s] in supervisor.toml is %d", agents, t.Name, sum,
			t.Name, t.MaxAgents)
	}
	return nil
}

// TenantOf returns the name of a city's tenant, or "".
func (s *Supervisor) TenantOf(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workers[path]
	if w == nil {
		return ""
	}
	for i := range s.settings.Tenants {
		if slices.Contains(s.settings.Tenants[i].Cities, w.name) {
			return s.settings.Tenants[i].Name
		}
	}
	return ""
}

// tenantCities returns a city's tenant, and the tenant's other cities by path. The Control of a city that is not
// running is nil.
func (s *Supervisor) tenantCities(path string) (t Tenant, others map[string]city.Control) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workers[path]
	if w == nil {
		return t, nil
	}
	i := slices.IndexFunc(s.settings.Tenants, func(t Tenant) bool {
		return slices.Contains(t.Cities, w.name)
	})
	if i < 0 {
		return t, nil
	}
	t, others = s.settings.Tenants[i], map[string]city.Control{}
	for _, o := range s.workers {
		if o == w || !slices.Contains(t.Cities, o.name) {
			continue
		}
		others[o.path] = nil
		if o.running != nil {
			others[o.path] = o.running.Control()
		}
	}
	return t, others
}

func (s *Supervisor) declared(ctx context.Context, path string, control city.Control) int {
	if control != nil {
		if snap, err := control.Snapshot(ctx); err == nil {
			return snap.Declares()
		}
	}
	d, err := s.Preview(ctx, path)
	if err != nil {
		return 0
	}
	return d.Agents
}
