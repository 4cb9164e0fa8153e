package host

import (
	"context"

	"gcity/cli/folder"
	"gcity/cli/workstore"
)

// ended reports whether the whole city was stopped, and not only its controller.
func (p parts) ended() bool {
	s, err := p.Loop.Snapshot(context.Background())
	return err == nil && s.ShutDown
}

// StartDolt starts the database server for a city without a controller. The server outlives this process.
func (h *City) StartDolt(ctx context.Context) error {
	c, err := folder.LoadCity(h.Dir)
	if err != nil {
		return err
	}
	if s := workstore.DoltServer(c); s != nil {
		_, err = s.Ensure(ctx)
	}
	return err
}
