package folder

import (
	"context"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller"
	"gcity/controller/perform"
	"gcity/internal/suggest"
	"gcity/session"
)

// Plan returns the agents that should run.
func Plan(c *config.City, dir string) []agent.Want {
	return agent.Plan(c, ThisHost(dir))
}

// PlanOf is like Plan, but uses the environment of running's controller, unless running is nil.
func PlanOf(c *config.City, dir string, running *city.Snapshot) []agent.Want {
	return agent.Plan(c, hostOf(dir, running))
}

// PoolPlan returns the pools in a configuration.
func PoolPlan(c *config.City, dir string) []agent.Pool {
	return agent.Pools(c, ThisHost(dir))
}

// Inspect returns what is known about an agent that is configured or alive.
func Inspect(ctx context.Context, s controller.Subject, wants []agent.Want,
	sessions []session.Status, p session.Provider) (*city.Inspection, error) {
	name := s.Agent
	names := make([]string, len(wants))
	for i := range wants {
		names[i] = wants[i].Name
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
		return nil, city.Missing(suggest.NotFound(suggest.Agent, name, names))
	}
	out := s.Inspect(time.Now())
	controller.AddPrompt(ctx, out, s.Want)
	return out, nil
}
