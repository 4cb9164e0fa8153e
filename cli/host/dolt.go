package host

import (
	"context"

	"gcity/cli/folder"
	"gcity/cli/workstore"
)

// ended reports whether the city was stopped, rather than only its controller.
func (p parts) ended() bool {
	s, err := p.Loop.Snapshot(context.Background())
	return err == nil && s.ShutDown
}

// RaiseDolt starts the server of a city that runs without a controller, and leaves it running for the agents.
func (h *House) RaiseDolt(ctx context.Context) error {
	c, err := folder.LoadCity(h.Dir)
	if err != nil {
		return nil // OpenHouse has read the configuration already
	}
	if s := workstore.DoltServer(c); s != nil {
		_, err = s.Ensure(ctx)
	}
	return err
}
