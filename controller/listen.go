package controller

import (
	"fmt"
	"time"

	"gcity/config"
)

// Supervised is the Mode of a city that answers over TCP where its supervisor does, and nowhere else.
const Supervised = "supervised"

// doorOf is [api] with nothing said where nothing is wanted, so that it need not be asked for.
func (c *Controller) doorOf(cfg *config.City) config.API {
	if cfg.API.Port == 0 || c.o.Mode == Supervised {
		return config.API{}
	}
	return cfg.API
}

// ignores is what there is to say of an [api] that nobody serves, "" = nothing. It is logged when it is news.
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

// tellAfter is how long a stop may take before it is logged what it waits for.
const tellAfter = time.Second

// tellEnding logs what a stop that takes its time waits for, as far as that has not been logged.
func (c *Controller) tellEnding(now time.Time) {
	s := c.snap.Load()
	if s.Ending == nil || now.Sub(s.Ending.Since) < tellAfter {
		return
	}
	for _, line := range c.told.Of(s) {
		c.o.Logger.Info(line)
	}
}
