package perform

import (
	"gcity/config"
	"gcity/controller/effect"
)

// checkTrust returns an *effect.Untrusted if the programs of a configuration may not run.
func (w *World) checkTrust(c *config.City) error {
	if w.CheckTrust == nil {
		return nil
	}
	if err := w.CheckTrust(c); err != nil {
		return &effect.Untrusted{Err: err}
	}
	return nil
}
