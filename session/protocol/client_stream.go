package protocol

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"net/http"
	"sync"
	"time"

	"gcity/internal/deadline"
	"gcity/session"
)

const (
	retryFirst = 50 * time.Millisecond // first wait before a lost exit stream is reopened
	retryLast  = 10 * time.Second
	silence    = 4 * beat // an exit stream without data for this long is lost
)

// Exits implements session.Notifier. An exit can arrive twice, because a reopened stream repeats exits that are still
// listed.
func (c *Client) Exits() <-chan session.Exit { return c.exits }

// Changes implements session.Changer. Opening an exit stream also sends a value, because earlier changes might have
// been missed.
func (c *Client) Changes() <-chan struct{} { return c.changes }

func (c *Client) changed() {
	select {
	case c.changes <- struct{}{}:
	default:
	}
}

func (c *Client) followExits(ctx context.Context) {
	wait := retryFirst
	for ctx.Err() == nil {
		began := time.Now()
		err := c.readExits(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > retryLast {
			wait = retryFirst
		}
		c.o.Logger.Warn("lost the helper's exit stream", "error", err, "retry_in", wait)
		deadline.Pause(ctx, wait)
		wait = min(2*wait, retryLast)
	}
}

func (c *Client) readExits(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := c.open(ctx); err != nil {
		return err
	}
	late := time.AfterFunc(silence, func() {
		cancel(errors.New("timeout: no data on the stream"))
	})
	defer late.Stop()
	resp, err := c.post(ctx, "exits", struct{}{})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := json.NewDecoder(resp.Body)
	for first := true; ; first = false {
		var line ExitLine
		if err := in.Decode(&line); err != nil {
			return unreachable(ctx, "exits", err)
		}
		late.Reset(silence)
		switch {
		case line.Error != nil:
			return line.Error
		case line.Exit != nil:
			c.report(*line.Exit)
		case line.Changed:
			c.changed()
		case first:
			c.changed()
			if err := c.missed(ctx); err != nil {
				return err
			}
		}
	}
}

func (c *Client) missed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, session.CheckLimit)
	defer cancel()
	all, err := c.List(ctx)
	for i := range all {
		if all[i].Exit != nil {
			c.report(*all[i].Exit)
		}
	}
	return err
}

// report sends an exit to the channel of Exits. If the channel is full, it drops the exit, which List still reports.
func (c *Client) report(x session.Exit) {
	x.At = local(x.At)
	select {
	case c.exits <- x:
	default:
	}
}

// Watch implements session.Watcher.
func (c *Client) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		if err := c.open(ctx); err != nil {
			yield(session.Frame{}, err)
			return
		}
		resp, err := c.post(ctx, "watch", Target{Name: name})
		if err != nil {
			yield(session.Frame{}, err)
			return
		}
		defer resp.Body.Close()
		in := json.NewDecoder(resp.Body)
		for {
			var f Frame
			err := in.Decode(&f)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(session.Frame{}, unreachable(ctx, "watch", err))
				return
			case f.Error != nil:
				yield(session.Frame{}, f.Error)
				return
			}
			out := session.Frame{Reset: f.Reset, Cols: f.Cols, Rows: f.Rows, Dropped: f.Dropped}
			if out.Data = f.Data; !yield(out, nil) {
				return
			}
		}
	}
}

// Attach implements session.Attacher.
func (c *Client) Attach(
	ctx context.Context, name string, cols, rows int,
) (session.Terminal, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	// the terminal outlives the deadline of the Attach call
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	resp, err := c.post(life, "attach", Target{Name: name, Cols: cols, Rows: rows})
	if !stop() && err == nil {
		err = context.Cause(ctx)
		resp.Body.Close()
	}
	if err != nil {
		end()
		return nil, err
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body.Close()
		end()
		return nil, notProtocol("attach", resp)
	}
	in, buf := bufio.NewReader(conn), make([]byte, frameMax)
	return &terminal{conn: conn, in: in, buf: buf, end: end}, nil
}

type terminal struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
	buf  []byte
	rest []byte
	end  context.CancelFunc

	writing sync.Mutex
}

// Read returns io.EOF after the terminal has ended.
func (t *terminal) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		kind, data, err := readFrame(t.in, t.buf)
		switch {
		case err != nil:
			return 0, io.EOF
		case kind == frameData:
			t.rest = data
		case kind == frameEnd && len(data) == 0:
			return 0, io.EOF
		case kind == frameEnd:
			var e Error
			if json.Unmarshal(data, &e) != nil {
				return 0, io.EOF
			}
			return 0, &e
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

func (t *terminal) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	for n := 0; n < len(p); {
		piece := p[n:min(len(p), n+frameMax)]
		if err := writeFrame(t.conn, frameData, piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return len(p), nil
}

// Resize implements session.Terminal.
func (t *terminal) Resize(cols, rows int) error {
	var size [4]byte
	for i, n := range []int{cols, rows} {
		n = min(max(n, 0), math.MaxUint16)
		binary.BigEndian.PutUint16(size[2*i:], uint16(n)) //nolint:gosec // G115: bounded above
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	return writeFrame(t.conn, frameResize, size[:])
}

func (t *terminal) Close() error {
	err := t.conn.Close()
	t.end()
	return err
}
