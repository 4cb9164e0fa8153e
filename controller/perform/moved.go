package perform

import (
	"errors"
	"io/fs"
	"os"

	"gcity/internal/disk"
	"gcity/session"
)

// The city's folder may be moved or removed while it runs. Its state is written through the descriptor that Hold
// keeps, so it stays in one place; everything that needs the path waits until the folder is back.

// home returns an error if the city's folder is not where it was: a start would make it again at its old path, and a
// controller at the new one would start the agent a second time.
func (w *World) home() error {
	err := error(nil)
	if w.Home != nil {
		err = w.Home()
	} else if _, gone := os.Stat(w.Dir); w.Dir != "" && errors.Is(gone, fs.ErrNotExist) {
		err = &disk.MovedError{Path: w.Dir}
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		return session.Missing(errors.New(whyAway(moved)))
	}
	return nil
}

// whyAway says that a folder was moved, and what to do.
func whyAway(m *disk.MovedError) string {
	if m.To == "" {
		return "the city's folder " + m.Error() + ": put it back, or end the controller (kill " +
			"-USR1 leaves its agents)"
	}
	return "the city's folder " + m.Error() + ": move it back, or run `gcity stop` in the new " +
		"place and start the city there"
}

// held asks whether the city is still ours. Only another controller's word ends ours: a disk that fails does not.
// away says that the city was moved, "" if it was not.
func (sr *sessions) held() (lost error, away string) {
	if sr.w.Held == nil {
		return nil, ""
	}
	lost, err := sr.w.Held()
	if lost != nil {
		return lost, ""
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		return nil, whyAway(moved)
	}
	if err != nil {
		sr.w.Logger.Warn("cannot tell whether the city's lock is still ours", "err", err)
	}
	return nil, ""
}
