package host

import (
	"context"

	"gcity/cli/folder"
	"gcity/cli/workstore"
)

// ended reports whether the city was stopped, and not only left by its controller.
func (p parts) ended() bool {
	s, err := p.Loop.Snapshot(context.Background())
	return err == nil && s.ShutDown
}

// RaiseDolt starts the server of a city that is settled once, and leaves it to the agents.
func (h *House) RaiseDolt(ctx context.Context) error {
	c, err := folder.LoadCity(h.Dir)
	if err != nil {
		return nil // OpenHouse has read it
	}
	if s := workstore.DoltServer(c); s != nil {
		_, err = s.Ensure(ctx)
	}
	return err
}
