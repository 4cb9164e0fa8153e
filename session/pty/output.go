package pty

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gcity/session/pty/internal/wire"
)

// tailBytes returns how many bytes of output to read first: enough for lines that are not very wide.
func tailBytes(lines int) int {
	const perLine, screens = 160, 2 * 24
	return (max(lines, 0) + screens) * perLine
}

func readOutput(
	ctx context.Context, p *Provider, name string, tail int,
) (wire.Screen, []byte, error) {
	const verb = "read the output of"
	var size wire.Screen
	conn, err := p.dialSession(ctx, verb, name)
	if err != nil {
		return size, nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpOutput, Tail: tail}); err !=
		nil {
		return size, nil, broken(ctx, verb, name, err)
	}
	r := wire.NewReader(bufio.NewReaderSize(conn, 16<<10))
	m, err := r.Next()
	if err != nil {
		return size, nil, broken(ctx, verb, name, err)
	}
	if m.Kind == wire.Failed {
		return size, nil, refusal(verb, name, m.Data)
	}
	if err := json.Unmarshal(m.Data, &size); err != nil {
		return size, nil, fmt.Errorf("cannot %s %q: %w", verb, name, err)
	}
	if m, err = r.Next(); err != nil {
		return size, nil, broken(ctx, verb, name, err)
	}
	return size, m.Data, nil
}
