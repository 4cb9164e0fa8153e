package controller

import (
	"context"

	"gcity/city"
)

// Config implements city.Configured.
func (c *Controller) Config(context.Context) (string, error) {
	return c.force.Load().source.TOML(), nil
}

// Explain implements city.Configured.
func (c *Controller) Explain(_ context.Context, name string) (string, error) {
	text, err := c.force.Load().source.Explain(name)
	if err != nil {
		return "", &city.Error{Code: city.NotFound, Message: err.Error()}
	}
	return text, nil
}
