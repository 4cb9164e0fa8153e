package host

import (
	"context"
	"log/slog"
	"time"

	"gcity/api/socket"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/controller"
	"gcity/internal/deadline"
)

// checkHold checks that this process still holds the city. It also creates the city's socket again if it was removed.
// at may be nil.
func checkHold(hold *controller.Hold, at *socket.Socket, log *slog.Logger) error {
	if err := hold.Check(); err != nil || at == nil {
		return err
	}
	folder.LogError(log, cannotRenew(citySocket), renew(at, citySocket, log))
	return nil
}

const citySocket = "the city's socket"

func renew(at *socket.Socket, what string, log *slog.Logger) error {
	renewed, err := at.Renew()
	if aside := at.MovedPath(); renewed && aside != "" {
		warnMovedAside(log, what, aside)
	} else if renewed {
		log.Warn(what + " was removed and has been created again")
	}
	return err
}

func cannotRenew(what string) string { return what + " was removed, and cannot be created again" }

func warnMovedAside(log *slog.Logger, what, aside string) {
	log.Warn("moved aside a file or folder that was at the path of "+what, "to", aside)
}

// keepBound creates a socket again whenever it was removed, until ctx ends.
func keepBound(ctx context.Context, at *socket.Socket, what string, log *slog.Logger) {
	checks := deadline.New[error](1) // the file system may hang
	tick := time.NewTicker(retryInterval)
	defer tick.Stop()
	logged := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err, _ := checks.Do(ctx, what, time.Time{}, env.FolderTimeout, func() error {
			return renew(at, what, log)
		})
		switch {
		case err == nil:
			logged = ""
		case err.Error() != logged:
			logged = err.Error()
			log.Error(cannotRenew(what), "error", err)
		}
	}
}
