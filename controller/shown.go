package controller

import (
	"context"
	"fmt"

	"gcity/city"
)

// Config implements city.Configured.
func (c *Controller) Config(context.Context) (string, error) {
	return c.force.Load().Source.TOML(), nil
}

// Explain implements city.Configured.
func (c *Controller) Explain(_ context.Context, name string) (string, error) {
	text, err := c.force.Load().Source.Explain(name)
	if err != nil {
		return "", &city.Error{Code: city.NotFound, Message: err.Error()}
	}
	return text, nil
}

// numbered is a text with a process's number in it, "" where none is known: of a session elsewhere, or of a drill.
func numbered(pid int, format string) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf(format, pid)
}
