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
	"gcity/pool"
	"gcity/session"
)

// SuspendedFor returns the reason why automations of a rig, or of the city if rig is empty, do not start on their own.
// It returns "" if they do.
func SuspendedFor(c *config.City, rig string) string {
	if r := c.Rig(rig); r != nil && r.Suspended {
		return "with rig " + rig
	}
	if c.Workspace.Suspended {
		return "with the city"
	}
	return ""
}

// Members returns the possible members of a pool.
func Members(wants []agent.Want, pool string) []agent.Want {
	var out []agent.Want
	for _, w := range wants {
		if w.Pool == pool {
			out = append(out, w)
		}
	}
	return out
}

// SelectMembers returns the members that a pool should have at a given size. standing returns the current state of each
// possible member.
func SelectMembers(of []agent.Want, size int,
	standing func(name string) pool.Candidate) map[string]bool {
	last := 0
	for _, w := range of {
		last = max(last, w.Index)
	}
	all, out := make([]pool.Candidate, last), map[string]bool{}
	for _, w := range of {
		all[w.Index-1] = standing(w.Name)
	}
	pool.Choose(all, size)
	for _, w := range of {
		out[w.Name] = all[w.Index-1].In
	}
	return out
}

// Plan returns the agents that should run.
func Plan(c *config.City, dir string) []agent.Want {
	return agent.Plan(c, ThisHost(dir))
}

// PlanOf returns the agents that should run, with the environment of the running controller if there is one.
func PlanOf(c *config.City, dir string, running *city.Snapshot) []agent.Want {
	return agent.Plan(c, hostOf(dir, running))
}

// PoolPlan returns the pools in a configuration.
func PoolPlan(c *config.City, dir string) []agent.Pool {
	return agent.Pools(c, ThisHost(dir))
}

// RigPlan returns the rigs in a configuration.
func RigPlan(c *config.City) []agent.Rig { return agent.Rigs(c) }

// Inspect returns what is known about an agent that is in the configuration or alive.
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

// PromptOf returns the prompt that an agent receives when it starts.
func PromptOf(ctx context.Context, w *agent.Want) (string, error) {
	return perform.PromptOf(ctx, w, false)
}
