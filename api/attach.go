package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/recovery"
)

type terminalHandler struct{ *server }

func (h terminalHandler) attach(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), wire.Protocol) {
		return wire.Invalid("attach requires the headers Connection: Upgrade and Upgrade: %s",
			wire.Protocol)
	}
	cols, err := number(r, "cols", math.MaxUint16)
	if err != nil {
		return err
	}
	rows, err := number(r, "rows", math.MaxUint16)
	if err != nil {
		return err
	}
	if err := wire.CheckSize(int(cols), int(rows)); err != nil {
		return err
	}
	raw, _, err := flag(r, "raw")
	if err != nil {
		return err
	}
	leave, err := h.acquireStream()
	if err != nil {
		return err
	}
	defer leave()
	term, err := h.city.Attach(r.Context(), rt.Target,
		city.Viewer{Cols: int(cols), Rows: int(rows), Raw: raw})
	if err != nil {
		return err
	}
	defer term.Close()
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("cannot upgrade this connection: %w", err)
	}
	defer h.release(conn)
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: "+
		"Upgrade\r\nUpgrade: "+wire.Protocol+"\r\n\r\n"); err != nil {
		return nil // the client has disconnected
	}
	h.join(r.Context(), conn, &wire.Framer{R: buf, W: &timeoutConn{conn, h.o.WriteTimeout}}, term)
	return nil
}

// join copies data in both directions. If the client disconnects, the session keeps running.
func (h terminalHandler) join(ctx context.Context, conn net.Conn, f *wire.Framer,
	term city.Terminal) {
	wg := recovery.Group{OnPanic: h.logPanic}
	defer wg.Wait()
	defer term.Close()
	done := make(chan struct{})
	defer close(done)
	wg.Go(func() {
		select {
		case <-h.life.Done():
		case <-ctx.Done():
		case <-done:
			return
		}
		if h.life.Err() != nil {
			_ = f.End(h.errStopped())
		}
		_ = conn.Close()
		_ = term.Close() // input may be waiting for the agent
	})
	wg.Go(func() {
		defer term.Close()
		defer conn.Close()
		h.show(f, term)
	})
	h.enter(f, term)
}

// show copies the agent's output to the client. After the client has disconnected, show discards the output until
// enter has read the rest of the client's input.
func (h terminalHandler) show(f *wire.Framer, term city.Terminal) {
	buf := make([]byte, 32<<10)
	for {
		n, err := term.Read(buf)
		if n > 0 {
			if err := f.Write(wire.FrameData, buf[:n]); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					_, _ = io.Copy(io.Discard, term) // no client needs the error
				}
				return
			}
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err = f.End(err); err != nil {
			h.o.Log.Debug("cannot notify the client that the agent's terminal has ended", "err",
				err)
		}
		return
	}
}

func (h terminalHandler) enter(f *wire.Framer, term city.Terminal) {
	var buf []byte
	for {
		kind, payload, err := f.Next(buf)
		if err != nil {
			return
		}
		buf = payload[:0]
		switch kind {
		case wire.FrameData:
			if _, err := term.Write(payload); err != nil {
				return
			}
		case wire.FrameResize:
			cols, rows, ok := wire.ParseResize(payload)
			if !ok {
				return
			}
			if err := term.Resize(cols, rows); err != nil {
				h.o.Log.Debug("cannot resize a terminal", "err", err)
			}
		default:
			return
		}
	}
}

type timeoutConn struct {
	conn    net.Conn
	timeout time.Duration
}

func (p *timeoutConn) Write(b []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil {
		return 0, err
	}
	return p.conn.Write(b)
}
