package sessions

import (
	"errors"
	"fmt"
	"os"

	"gcity/cli/folder"
	"gcity/session"
	"gcity/session/tmux"
)

func (h *opener) openTmux() (session.Provider, func(), error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot determine the path of this program, which gcity "+
			"runs to start each agent: %w", err)
	}
	p, err := tmux.New(tmux.Options{City: h.Dir, Binary: exe, Observe: h.Observe, Logger: h.Logger,
		Broken: h.Broken})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {
		folder.LogError(h.Logger, "cannot release the sessions in tmux", p.Close())
	}, nil
}

// TmuxRemedy returns advice if err means that tmux is missing or too old to list sessions. Otherwise it returns "".
func TmuxRemedy(err error) string {
	if errors.Is(err, tmux.ErrUnusable) {
		return "install tmux 3.3 or newer (apt-get install tmux), or use a different session " +
			"provider"
	}
	return ""
}

// TmuxHint returns a clause that says how to see the sessions in tmux. It returns "" if the city has never used tmux.
func TmuxHint(dir string) string {
	if !tmux.Used(dir) {
		return ""
	}
	return "; `" + tmux.Hint(dir) + "` shows them without gcity, and ctrl-q detaches"
}
