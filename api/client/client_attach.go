package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"gcity/api/wire"
	"gcity/city"
)

// Attach implements city.Control. ctx applies only to opening the terminal.
func (c *Client) Attach(ctx context.Context, name string, v city.Viewer) (city.Terminal, error) {
	path, err := wire.Path(wire.KindAgent, name, wire.KindAttach)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckSize(v.Cols, v.Rows); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	target := fmt.Sprintf("%s?cols=%d&rows=%d", c.target(path), v.Cols, v.Rows)
	if v.Raw {
		target += "&raw=true"
	}
	r, err := upgrade(conn, target)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, c.failed(ctx, err)
	}
	t := &Terminal{Conn: conn, F: wire.Framer{R: r, W: conn}}
	t.Leave = context.AfterFunc(c.life, func() { _ = conn.Close() })
	return t, nil
}

func upgrade(conn net.Conn, target string) (io.Reader, error) {
	req, err := http.NewRequest(http.MethodPost, target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", wire.Protocol)
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, errorResponse(resp)
	}
	return r, nil
}

// Terminal is the client's end of an attached terminal.
type Terminal struct {
	Conn  net.Conn
	F     wire.Framer
	Leave func() bool
	once  sync.Once

	mu   sync.Mutex // protects the fields below, which Read uses
	buf  []byte
	rest []byte // part of the last frame that Read has not returned yet
	err  error
}

// Read returns io.EOF after the session has ended, and io.ErrUnexpectedEOF if the connection is lost.
func (t *Terminal) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.rest) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		kind, payload, err := t.F.Next(t.buf)
		switch {
		case err != nil && errors.Is(err, io.EOF):
			t.err = io.ErrUnexpectedEOF
		case err != nil:
			t.err = err
		case kind == wire.FrameData:
			t.buf, t.rest = payload[:0], payload
		case kind == wire.FrameEnd:
			t.err = wire.ParseEnd(payload)
		default:
			t.err = fmt.Errorf("the city sent a frame of unknown type %q", kind)
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// Write returns the number of bytes in complete frames. The city drops an incomplete frame.
func (t *Terminal) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(len(p), n+wire.MaxFrame)]
		if err := t.F.Write(wire.FrameData, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (t *Terminal) Resize(cols, rows int) error {
	if err := wire.CheckSize(cols, rows); err != nil {
		return err
	}
	return t.F.Resize(cols, rows)
}

// Close detaches the terminal. The session keeps running.
func (t *Terminal) Close() error {
	err := net.ErrClosed
	t.once.Do(func() {
		t.Leave()
		err = t.Conn.Close()
	})
	return err
}
