package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"

	"gcity/internal/proc"
)

// Dismiss lets a city's server go once it holds nothing, without looking at the city's sessions. It is for whoever
// has the city, and no Provider of it: a server that was not told to go waits for sessions for ever. Without a
// living server on record it does nothing.
func Dismiss(ctx context.Context, city string) error {
	if !Used(city) {
		return nil
	}
	p := &Provider{city: city, dir: filepath.Join(city, ".gc", "tmux"), look: true,
		label: Label(city), log: slog.New(slog.DiscardHandler)}
	var err error
	if p.boot, err = proc.BootID(); err != nil {
		return fmt.Errorf("cannot tell this boot from another: %w", err)
	}
	if err := p.locate(); err != nil {
		return err
	}
	if !p.serverLives() {
		return nil
	}
	if p.tmux, err = exec.LookPath("tmux"); err != nil {
		return fmt.Errorf("the city's tmux server, pid %d, cannot be told to go: %w", p.server.PID,
			err)
	}
	return p.dismiss(ctx)
}

// Dismiss implements session.Dismisser. A start makes a new server.
func (p *Provider) Dismiss(ctx context.Context) error {
	p.mu.Lock()
	starting := len(p.expected) > 0
	p.mu.Unlock()
	if p.look || starting || slices.ContainsFunc(p.entries(), (*entry).alive) {
		return nil
	}
	return p.dismiss(ctx)
}

// dismiss lets the server go once it has nothing to hold. It is not killed: whoever has a session there keeps it.
func (p *Provider) dismiss(ctx context.Context) error {
	if !p.serverLives() {
		return nil
	}
	_, err := p.once(ctx, nil, "set-option", "-s", "exit-empty", "on")
	if errors.Is(err, errNoServer) {
		return nil
	}
	return err
}
