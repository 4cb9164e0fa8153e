package folder

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller"
	"gcity/controller/perform"
	"gcity/pool"
	"gcity/session"
)

// SuspendedFor says why nothing of a rig, or of the city, fires by itself.
func SuspendedFor(c *config.City, rig string) string {
	if r := c.Rig(rig); r != nil && r.Suspended {
		return "with rig " + rig
	}
	if c.Workspace.Suspended {
		return "with the city"
	}
	return ""
}

// Members are the possible members of a pool.
func Members(wants []agent.Want, pool string) []agent.Want {
	var out []agent.Want
	for _, w := range wants {
		if w.Pool == pool {
			out = append(out, w)
		}
	}
	return out
}

// Chosen says which of a pool's possible members it wants at a size, by how each of them stands.
func Chosen(of []agent.Want, size int, standing func(name string) pool.Standing) map[string]bool {
	last := 0
	for _, w := range of {
		last = max(last, w.Index)
	}
	all, out := make([]pool.Standing, last), map[string]bool{}
	for _, w := range of {
		all[w.Index-1] = standing(w.Name)
	}
	pool.Choose(all, size)
	for _, w := range of {
		out[w.Name] = all[w.Index-1].In
	}
	return out
}

// WatchdogsOf are those of a configuration, as long as nobody looks: how the watched are is not known.
func WatchdogsOf(c *config.City) []city.Watchdog {
	var out []city.Watchdog
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		d := city.Watchdog{Name: w.Qualified(), Watches: w.Watches, Triage: w.Triage,
			Every: w.Every, Fresh: w.Fresh, VeryStale: w.VeryStale,
			Mode: city.ByThresholds, Source: w.Origin.String()}
		if w.Triage != "" {
			d.Mode, d.TTL = city.ByTriage, w.TriageTTL
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y city.Watchdog) int { return city.CompareNames(x.Name, y.Name) })
	return out
}

// Plan is who should run.
func Plan(c *config.City, dir string) []agent.Want {
	return agent.Plan(c, ThisHost(dir))
}

// PoolPlan is which pools there should be, RigPlan the project folders.
func PoolPlan(c *config.City, dir string) []agent.Pool {
	return agent.Pools(c, ThisHost(dir))
}

// RigPlan returns the rigs of a configuration.
func RigPlan(c *config.City) []agent.Rig { return agent.Rigs(c) }

// Inspect says what is known of an agent that is wanted or lives.
func Inspect(ctx context.Context, s controller.Subject, wants []agent.Want,
	sessions []session.Status, p session.Provider) (*city.Inspection, error) {
	name := s.Agent
	for i := range wants {
		if wants[i].Name == name {
			s.Want = &wants[i]
			s.Limits = perform.LimitsOf(p, s.Want.Provider)
		}
	}
	for i := range sessions {
		if sessions[i].Agent == name && sessions[i].Alive {
			s.Session = &sessions[i]
		}
	}
	if s.Want == nil && s.Session == nil {
		return nil, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("no agent is called %q", name)}
	}
	out := s.Inspect(time.Now())
	controller.AddPrompt(ctx, out, s.Want)
	return out, nil
}

// PromptOf is what an agent is told at its start.
func PromptOf(ctx context.Context, w *agent.Want) (string, error) {
	return perform.PromptOf(ctx, w, false)
}
