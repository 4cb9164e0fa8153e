package perform

import (
	"context"
	"time"

	"gcity/agent"
	"gcity/config"
)

// allowTime is the timeout of the check that allows a configuration to come into force.
const allowTime = 10 * time.Second

// allow refuses a configuration that declares too many agents.
func (w *World) allow(cfg *config.City) error {
	if w.Allow == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), allowTime)
	defer cancel()
	return w.Allow(ctx, len(agent.Plan(cfg, w.Host)))
}
