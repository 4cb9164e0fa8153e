package pty

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gcity/internal/screen"
	"gcity/session/pty/internal/wire"
)

// Output implements session.Provider. It also shows the last life of a session that has ended, until the next.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	const verb = "read the output of"
	conn, err := p.dialSession(ctx, verb, name)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpOutput}); err != nil {
		return "", p.broken(ctx, verb, name, err)
	}
	r := wire.NewReader(conn)
	m, err := r.Next()
	if err != nil {
		return "", p.broken(ctx, verb, name, err)
	}
	if m.Kind == wire.Failed {
		return "", refusal(verb, name, m.Data)
	}
	var size wire.Screen
	if err := json.Unmarshal(m.Data, &size); err != nil {
		return "", fmt.Errorf("cannot %s %q: %w", verb, name, err)
	}
	if m, err = r.Next(); err != nil {
		return "", p.broken(ctx, verb, name, err)
	}
	return screen.Text(m.Data, size.Cols, size.Rows, lines), nil
}
