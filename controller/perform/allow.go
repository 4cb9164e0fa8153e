package perform

import (
	"context"
	"time"

	"gcity/agent"
	"gcity/config"
)

// allowTime is the timeout for checking whether a configuration may be applied.
const allowTime = 10 * time.Second

// allow returns an error if a configuration declares too many agents.
func (w *World) allow(cfg *config.City) error {
	if w.Allow == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), allowTime)
	defer cancel()
	return w.Allow(ctx, len(agent.Plan(cfg, w.Host)))
}
