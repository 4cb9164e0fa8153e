package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"

	"gcity/internal/proc"
)

// Dismiss lets a city's server go once it holds nothing, without looking at the city's sessions. It is for whoever
// has the city, and no Provider of it: a server that was not told to go waits for sessions for ever. Without a
// living server on record it does nothing.
func Dismiss(ctx context.Context, city string) error {
	if !Used(city) {
		return nil
	}
	boot, err := proc.BootID()
	if err != nil {
		return fmt.Errorf("cannot tell this boot from another: %w", err)
	}
	c := newClient(newFolders(city, boot, true, slog.New(slog.DiscardHandler)), "")
	if err := c.locate(); err != nil {
		return err
	}
	if !c.serverLives() {
		return nil
	}
	if c.program, err = exec.LookPath("tmux"); err != nil {
		return fmt.Errorf("the city's tmux server, pid %d, cannot be told to go: %w", c.server.PID,
			err)
	}
	return c.dismiss(ctx)
}

// dismiss lets the server go once it has nothing to hold. It is not killed: whoever has a session there keeps it.
func (c *client) dismiss(ctx context.Context) error {
	if !c.serverLives() {
		return nil
	}
	_, err := c.once(ctx, nil, "set-option", "-s", "exit-empty", "on")
	if errors.Is(err, errNoServer) {
		return nil
	}
	return err
}
