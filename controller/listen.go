package controller

import (
	"fmt"
	"time"

	"gcity/config"
)

// Supervised is the Mode of a city that its supervisor serves over TCP.
const Supervised = "supervised"

func (c *Controller) listenerOf(cfg *config.City) config.API {
	if cfg.API.Port == 0 || c.o.Mode == Supervised {
		return config.API{}
	}
	return cfg.API
}

func (c *Controller) ignores(cfg *config.City) string {
	text := ""
	if cfg.API.Port != 0 && c.o.Mode == Supervised {
		text = fmt.Sprintf("city '%s' has [api] port=%d which is ignored under supervisor mode",
			cfg.Workspace.Name, cfg.API.Port)
	}
	if before := c.ignored.Swap(&text); text != "" && (before == nil || *before != text) {
		c.o.Logger.Warn(text)
	}
	return text
}

const slowStop = time.Second

func (c *Controller) logSlowStop(now time.Time) {
	s := c.snap.Load()
	if s.Ending == nil || now.Sub(s.Ending.Since) < slowStop {
		return
	}
	for _, line := range c.lastStopReport.NewLines(s) {
		c.o.Logger.Info(line)
	}
}
