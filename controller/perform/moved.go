package perform

import (
	"errors"
	"io/fs"
	"os"

	"gcity/internal/disk"
	"gcity/session"
)

// The city's folder may be moved or removed while the city runs. The city's state is written through the open
// descriptor of Hold, so it stays in one folder. Actions that need the path wait until the folder is back.

// checkFolder returns an error if the city's folder is not at its path. Without this check, a start would create the
// folder again, and a controller at the new path might start the same agent a second time.
func (w *World) checkFolder() error {
	err := error(nil)
	if w.CheckFolder != nil {
		err = w.CheckFolder()
	} else if _, gone := os.Stat(w.Dir); w.Dir != "" && errors.Is(gone, fs.ErrNotExist) {
		err = &disk.MovedError{Path: w.Dir}
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		return session.Missing(errors.New(movedMessage(moved)))
	}
	return nil
}

// movedMessage returns the message that the folder was moved, with advice for the user.
func movedMessage(m *disk.MovedError) string {
	if m.To == "" {
		return "the city's folder " + m.Error() + ": move it back, or stop the controller (kill " +
			"-USR1 keeps its agents running)"
	}
	return "the city's folder " + m.Error() + ": move it back, or run `gcity stop` at the new " +
		"location and start the city there"
}

// checkOwner checks whether this controller still owns the city. lost is set only if another controller owns it. away
// is the reason why the folder is not at its path, or "". Disk errors are only logged.
func (sr *sessions) checkOwner() (lost error, away string) {
	if sr.w.CheckOwner == nil {
		return nil, ""
	}
	lost, err := sr.w.CheckOwner()
	if lost != nil {
		return lost, ""
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		return nil, movedMessage(moved)
	}
	if err != nil {
		sr.w.Logger.Warn("cannot check the city's lock", "err", err)
	}
	return nil, ""
}
