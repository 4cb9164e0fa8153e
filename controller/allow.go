package controller

import (
	"context"
	"time"

	"gcity/agent"
	"gcity/config"
)

// allowTime bounds how long it is asked whether a configuration may come into force.
const allowTime = 10 * time.Second

// allow refuses a configuration that declares too many agents.
func (r *runner) allow(cfg *config.City) error {
	if r.c.o.Allow == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), allowTime)
	defer cancel()
	return r.c.o.Allow(ctx, len(agent.Plan(cfg, r.c.o.Host)))
}
