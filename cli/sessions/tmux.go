package sessions

import (
	"errors"
	"fmt"
	"os"

	"gcity/cli/folder"
	"gcity/session"
	"gcity/session/tmux"
)

// openTmux opens the sessions that a city has in tmux.
func (h *sessionHouse) openTmux() (session.Provider, func(), error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find this program, which becomes every agent: %w", err)
	}
	p, err := tmux.New(tmux.Options{City: h.Dir, Binary: exe, Observe: h.Observe, Logger: h.Logger,
		Broken: h.Broken})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {
		folder.LogError(h.Logger, "cannot release the sessions in tmux",
			p.Close())
	}, nil
}

// usesTmux reports whether a city has ever had sessions in tmux.
func usesTmux(dir string) bool { return tmux.Used(dir) }

// TmuxRemedy returns what to do about sessions that cannot be listed because of tmux; "" if there is another
// reason.
func TmuxRemedy(err error) string {
	if errors.Is(err, tmux.ErrUnusable) {
		return `install tmux 3.3 or newer (apt-get install tmux), or use another session provider`
	}
	return ""
}

// TmuxHint returns how to see the sessions with tmux itself; "" if the city has none there.
func TmuxHint(dir string) string {
	if !usesTmux(dir) {
		return ""
	}
	return "; `" + tmux.Hint(dir) + "` shows them without gcity, ctrl-q leaves"
}
