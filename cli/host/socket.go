package host

import (
	"log/slog"

	"gcity/api/socket"
	"gcity/cli/folder"
	"gcity/controller"
)

// checkHold checks that this process still holds the city. It also creates the city's socket again if it was removed.
// at may be nil.
func checkHold(hold *controller.Hold, at *socket.Socket, log *slog.Logger) error {
	if err := hold.Check(); err != nil || at == nil {
		return err
	}
	renewed, err := at.Renew()
	if aside := at.MovedPath(); renewed && aside != "" {
		warnMovedAside(log, aside)
	} else if renewed {
		log.Warn("the city's socket was removed and has been created again")
	}
	folder.LogError(log, "the city's socket was removed, and cannot be created again", err)
	return nil
}

func warnMovedAside(log *slog.Logger, aside string) {
	log.Warn("moved aside a file or folder that was at the path of the city's socket", "to", aside)
}
