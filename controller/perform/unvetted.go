package perform

import (
	"gcity/config"
	"gcity/controller/effect"
)

// allowed returns an *effect.Unvetted if the programs of a configuration may not run.
func (w *World) allowed(c *config.City) error {
	if w.Vet == nil {
		return nil
	}
	if err := w.Vet(c); err != nil {
		return &effect.Unvetted{Err: err}
	}
	return nil
}
