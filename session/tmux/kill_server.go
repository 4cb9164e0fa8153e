package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"

	"gcity/internal/proc"
)

// Dismiss lets a city's tmux server exit when it has no sessions. It does not look at the city's sessions. It is
// for a caller that runs the city and has no Provider: the server otherwise waits for sessions forever. Without a
// recorded, living server it does nothing.
func Dismiss(ctx context.Context, city string) error {
	if !Used(city) {
		return nil
	}
	boot, err := proc.BootID()
	if err != nil {
		return fmt.Errorf("cannot read the boot ID: %w", err)
	}
	c := newClient(newFolders(city, boot, true, slog.New(slog.DiscardHandler)), "")
	if err := c.locate(); err != nil {
		return err
	}
	if !c.serverLives() {
		return nil
	}
	if c.program, err = exec.LookPath("tmux"); err != nil {
		return fmt.Errorf("cannot make the city's tmux server, pid %d, exit: %w", c.server.PID,
			err)
	}
	return c.dismiss(ctx)
}

// dismiss lets the server exit when it has no sessions. It does not kill the server, so sessions of other users
// stay.
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
