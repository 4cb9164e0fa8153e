package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"gcity/beads/bd"
	"gcity/config"
	"gcity/internal/lastwords"
)

// As in wire.go: the Dolt server of a city whose work bd keeps.

// doltEvery is the time between two looks at a managed server.
const doltEvery = 5 * time.Second

// doltServer returns the server that gcity runs for a city, nil if it runs none.
func doltServer(c *config.City) *bd.Server {
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
		Data: filepath.Join(c.Path, workFolder, "dolt"), State: filepath.Join(gcDir(c.Path), "dolt"),
		Host: host, Port: port, Environ: os.Environ(),
	}
}

// keepDolt starts a server whenever none answers, until ctx ends. Then it stops the server if the city was
// stopped, and leaves it to the agents if they go on.
func keepDolt(ctx context.Context, s *bd.Server, logger *slog.Logger, ended func() bool, last *lastwords.Time) {
	failing := ""
	for wait := time.Duration(0); pause(ctx, wait); wait = doltEvery {
		started, err := s.Ensure(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && err.Error() != failing:
			failing = err.Error()
			logger.Error("bd has no database server; the city runs without its work until one answers", "error", err)
		case err == nil && (started || failing != ""):
			failing = ""
			logger.Info("the Dolt server runs", "host", s.Host, "port", s.Port, "started", started)
		}
	}
	if !ended() {
		return
	}
	if _, err := s.Stop(last.Context()); err != nil {
		last.GiveUp("the Dolt server: %v", err)
	}
}

// ended reports whether the city was stopped, and not only left by its controller.
func (p parts) ended() bool {
	s, err := p.loop.Snapshot(context.Background())
	return err == nil && s.ShutDown
}

// raiseDolt starts the server of a city that is settled once, and leaves it to the agents.
func (h *house) raiseDolt(ctx context.Context) error {
	c, err := loadCity(h.dir)
	if err != nil {
		return nil // openHouse has read it
	}
	if s := doltServer(c); s != nil {
		_, err = s.Ensure(ctx)
	}
	return err
}

// stopDolt stops the server of a city that no controller runs. It reports whether there was one.
func stopDolt(ctx context.Context, dir string) (bool, error) {
	c, err := loadCity(dir)
	if err != nil {
		return false, nil // the file is refused, so nothing is known of a server
	}
	s := doltServer(c)
	if s == nil {
		return false, nil
	}
	return s.Stop(ctx)
}

// checkDolt asks the database server that is configured for bd.
func checkDolt(ctx context.Context, p *patient) finding {
	if p.config == nil || p.config.Beads.Keeper() != "bd" {
		return ok("not needed")
	}
	s := doltServer(p.config)
	host, port := p.config.Dolt.Server()
	switch {
	case s != nil:
		host, port = s.Host, s.Port
	case port == 0:
		return ok("bd finds its database by itself")
	}
	err := bd.Answers(ctx, host, port)
	switch {
	case err == nil && s != nil && s.Runs():
		return ok("gcity runs it, %s:%d", host, port)
	case err == nil:
		return ok("it answers at %s:%d", host, port)
	case s != nil && p.running == nil:
		return ok("gcity starts it with the city")
	case s != nil:
		return bad("see "+filepath.Join(s.State, "server.log")+"; gcity tries again every few seconds", "%v", err)
	}
	return bad("start that server, or change [dolt] in "+config.FileName, "%v", err)
}
