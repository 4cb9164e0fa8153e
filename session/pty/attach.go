package pty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"gcity/session"
	"gcity/session/pty/internal/wire"
)

// Attach implements session.Attacher. The viewer first receives the retained output, without sequences to which its
// terminal would reply. ctx applies only to the call itself.
func (p *Provider) Attach(ctx context.Context, name string, cols, rows int) (session.Terminal,
	error) {
	conn, err := p.dialSession(ctx, "attach to", name)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpAttach, Cols: cols,
		Rows: rows}); err != nil {
		conn.Close()
		return nil, broken(ctx, "attach to", name, err)
	}
	t := &terminal{name: name, conn: conn, r: wire.NewReader(conn)}
	m, err := t.r.Next()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		err = broken(ctx, "attach to", name, err)
	case m.Kind == wire.Failed:
		err = refusal("attach to", name, m.Data)
	case m.Kind != wire.Reset:
		err = fmt.Errorf("cannot attach to %q: its holder sent an invalid response", name)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	t.replaying = true
	return t, nil
}

// terminal is an attached terminal. Only one goroutine can read. All other methods are safe for concurrent use.
type terminal struct {
	name      string
	conn      *net.UnixConn
	r         *wire.Reader
	rest      []byte
	replaying bool

	mu      sync.Mutex // protects writes and the next field
	stalled error      // the agent has not read the user's input
}

// clearTerminal is sent before the retained output if the viewer has missed some output.
const clearTerminal = "\x1b[!p\x1b[?1049l\x1b[2J\x1b[3J\x1b[H"

func (t *terminal) Read(b []byte) (int, error) {
	for len(t.rest) == 0 {
		m, err := t.r.Next()
		if err != nil {
			return 0, t.ended(err)
		}
		switch m.Kind {
		case wire.Output:
			t.rest = m.Data
			if t.replaying {
				t.rest = withoutQueries(m.Data)
			}
		case wire.Live:
			t.replaying = false
		case wire.Reset:
			t.rest, t.replaying = []byte(clearTerminal), true
		}
	}
	n := copy(b, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// ended returns the result of Read for an error of the connection. A holder that exits with unread input resets the
// connection.
func (t *terminal) ended(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.stalled != nil:
		return t.stalled
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET):
		return io.EOF
	}
	return fail("stay attached to", t.name, errGone, "the connection to its holder was lost: %v",
		err)
}

const (
	maxInput = 16 << 10
	// maxStall is how long Write and Resize wait for the holder to accept a message after all buffers are full.
	maxStall = 15 * time.Second
)

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for n < len(b) {
		part := b[n:min(len(b), n+maxInput)]
		err := t.send(wire.Input, part)
		switch {
		case t.stalled != nil:
			return n, t.stalled
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.stalled = fail("stay attached to", t.name, session.ErrRejected,
				"the agent has not read its input for %s, and too much input is waiting", maxStall)
			t.conn.Close() // part of a message was sent
			return n, t.stalled
		case err != nil:
			return n, fmt.Errorf("the session has ended: %w", err)
		}
		n += len(part)
	}
	return n, nil
}

func (t *terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.send(wire.Resize, wire.Screen{Cols: cols, Rows: rows}.AppendJSON(nil))
}

// send gives each message its own time limit. The caller must hold t.mu.
func (t *terminal) send(kind wire.Kind, data []byte) error {
	t.conn.SetWriteDeadline(time.Now().Add(maxStall))
	return wire.Write(t.conn, kind, data)
}

func (t *terminal) Close() error { return t.conn.Close() }

// Watch implements session.Watcher. A frame without data reports a new size.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		conn, err := p.dialSession(ctx, "watch", name)
		if err == nil {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			err = p.watch(ctx, conn, name, yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(session.Frame{}, err)
		}
	}
}

func (p *Provider) watch(ctx context.Context, conn *net.UnixConn, name string,
	yield func(session.Frame, error) bool) error {
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpWatch}); err != nil {
		return broken(ctx, "watch", name, err)
	}
	r := wire.NewReader(conn)
	var size wire.Screen
	reset := false
	for {
		m, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return broken(ctx, "watch", name, err)
		}
		switch m.Kind {
		case wire.Failed:
			return refusal("watch", name, m.Data)
		case wire.Reset, wire.Resized:
			if err := json.Unmarshal(m.Data, &size); err != nil {
				return broken(ctx, "watch", name, err)
			}
			reset = reset || m.Kind == wire.Reset
			if reset {
				continue
			}
		case wire.Live:
			continue
		}
		f := session.Frame{Reset: reset, Cols: size.Cols, Rows: size.Rows, Dropped: size.Dropped}
		if m.Kind == wire.Output {
			f.Data = append([]byte(nil), m.Data...)
		}
		reset = false
		if !yield(f, nil) {
			return nil
		}
	}
}
