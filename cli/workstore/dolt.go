package workstore

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"gcity/beads/bd"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/deadline"
	"gcity/internal/shutdown"
)

const doltEvery = 5 * time.Second

// DoltServer returns the database server that gcity runs for a city, or nil.
func DoltServer(c *config.City) *bd.Server {
	if c.Beads.Keeper() != "bd" || !bd.IsLocal(c.Dolt.Host) {
		return nil
	}
	host, port := c.Dolt.Server()
	if !c.Dolt.Managed {
		own := false
		if port == 0 {
			host, port, own = bd.LocalServer(c.Path)
		}
		if !own {
			return nil
		}
	}
	return &bd.Server{
		Data:  filepath.Join(c.Path, folder.WorkFolder, "dolt"),
		State: doltState(c.Path),
		Host:  host, Port: port, Environ: os.Environ(),
	}
}

// KeepDolt starts the server whenever it does not respond. When ctx is done, it stops the server if cityStopped returns
// true. Otherwise, running agents might still need the server.
func KeepDolt(ctx context.Context, s *bd.Server, logger *slog.Logger, cityStopped func() bool,
	last *shutdown.Deadline) {
	failing := ""
	for wait := time.Duration(0); deadline.Pause(ctx, wait); wait = doltEvery {
		started, err := s.Ensure(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && err.Error() != failing:
			failing = err.Error()
			logger.Error("bd has no database server, so the city's work is unavailable until "+
				"one responds", "error", err)
		case err == nil && (started || failing != ""):
			failing = ""
			logger.Info("the Dolt server is running", "host", s.Host, "port", s.Port, "started",
				started)
		}
	}
	if !cityStopped() {
		return
	}
	if _, err := s.Stop(last.Context()); err != nil {
		last.GiveUp("the shutdown of the Dolt server: %v", err)
	}
}

// StopDolt stops the database server that gcity started for a city, even if the configuration no longer demands one. It
// reports whether a server was running.
func StopDolt(ctx context.Context, dir string) (bool, error) {
	return (&bd.Server{State: doltState(dir)}).Stop(ctx)
}

func doltState(dir string) string { return filepath.Join(folder.StateDir(dir), "dolt") }
