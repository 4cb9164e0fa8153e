package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"

	"gcity/internal/proc"
)

// Dismiss makes a city's tmux server exit when it has no sessions. It needs no Provider.
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
		return fmt.Errorf("cannot shut down the city's tmux server, pid %d: %w", c.server.PID,
			err)
	}
	return c.dismiss(ctx)
}

// dismiss makes the server exit when it has no sessions. It does not kill the server, because the user might have
// created other sessions in it.
func (c *client) dismiss(ctx context.Context) error {
	if !c.serverLives() {
		return nil
	}
	return c.exitWhenEmpty(ctx)
}

func (c *client) exitWhenEmpty(ctx context.Context) error {
	_, err := c.once(ctx, nil, "set-option", "-s", "exit-empty", "on")
	if errors.Is(err, errNoServer) {
		return nil
	}
	return err
}
