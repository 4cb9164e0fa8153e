package pty

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"gcity/internal/screen"
	"gcity/session/pty/internal/wire"
)

// callTimeout limits calls without a deadline. inputTimeout is how long a terminal has to accept input. It is longer
// than the holder waits for a busy program: 3 s for an earlier Enter, 3 s for the text and 2 s until it is shown.
const (
	callTimeout  = 15 * time.Second
	inputTimeout = 10 * time.Second
)

func (p *Provider) call(ctx context.Context, verb, name string, req wire.Request) ([]byte, error) {
	conn, err := p.dialSession(ctx, verb, name)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := wire.WriteJSON(conn, wire.Ask, req); err != nil {
		return nil, broken(ctx, verb, name, err)
	}
	m, err := wire.NewReader(conn).Next()
	if err != nil {
		return nil, broken(ctx, verb, name, err)
	}
	if m.Kind == wire.Failed {
		return nil, refusal(verb, name, m.Data)
	}
	return m.Data, nil
}

func (p *Provider) dialSession(ctx context.Context, verb, name string) (*net.UnixConn, error) {
	e := p.reg.Find(name)
	if e == nil {
		return nil, missing(verb, name)
	}
	e.mu.Lock()
	l, known := e.link, e.known
	e.mu.Unlock()
	if l == nil && (!known || !e.alive()) {
		return nil, missing(verb, name)
	}
	conn, err := dial(p.files.at+"/"+name, wire.SocketFile)
	if err == nil {
		return conn, nil
	}
	// if the folder was deleted, a live holder has no socket
	if l != nil && p.ctx.Err() == nil {
		if err := p.files.restoreSockets(ctx); err != nil {
			return nil, err
		}
		if conn, err = dial(p.files.at+"/"+name, wire.SocketFile); err == nil {
			p.files.updateActivity(e)
			return conn, nil
		}
		if conn, err := dial(cwdOf(l.holder), wire.SocketFile); err == nil {
			return conn, nil
		}
	}
	return nil, fail(verb, name, errGone, "its holder does not respond: %v", err)
}

func broken(ctx context.Context, verb, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("cannot %s %q in time: %w", verb, name, context.Cause(ctx))
	}
	return fail(verb, name, errGone, "its holder has exited: %v", err)
}

func (p *Provider) do(ctx context.Context, verb, name string, req wire.Request) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := p.call(ctx, verb, name, req)
	return err
}

// Interrupt implements session.Provider. It sends SIGINT to the terminal's foreground processes, or the interrupt key
// to programs that read keys.
func (p *Provider) Interrupt(ctx context.Context, name string) error {
	return p.do(ctx, "interrupt", name, wire.Request{Op: wire.OpInterrupt, Wait: inputTimeout})
}

// Send implements session.Provider. It types the text, then a carriage return.
//
// Send returns ErrRejected if the text contains control characters (use SendKeys), if a line is longer than 4,095 bytes
// and the program reads whole lines, or if the terminal's input buffer is full.
func (p *Provider) Send(ctx context.Context, name, text string) error {
	return p.do(ctx, "send to", name, wire.Request{Op: wire.OpSend, Text: text,
		Wait: patience(ctx)})
}

// SendPolitely implements session.PoliteSender. An older holder cannot detect drafts and types the text immediately.
func (p *Provider) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	return p.do(ctx, "send to", name, wire.Request{Op: wire.OpSend, Text: text, Quiet: quiet,
		Wait: patience(ctx)})
}

// SendKeys implements session.Keyer. It accepts the key names of tmux.
func (p *Provider) SendKeys(ctx context.Context, name string, keys ...string) error {
	return p.do(ctx, "send keys to", name, wire.Request{Op: wire.OpKeys, Keys: keys,
		Wait: patience(ctx)})
}

// patience returns how long the holder may wait for the terminal to accept input. After that, it still has some time to
// respond before the caller's deadline.
func patience(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return inputTimeout
	}
	left := time.Until(deadline)
	return min(left-left/4, inputTimeout)
}

// Clear implements session.Clearer.
func (p *Provider) Clear(ctx context.Context, name string) error {
	return p.do(ctx, "clear", name, wire.Request{Op: wire.OpClear})
}

// Capture implements session.Capturer. It returns at most the last 256 KiB.
func (p *Provider) Capture(ctx context.Context, name, id string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return p.call(ctx, "read the output of", name, wire.Request{Op: wire.OpCapture, ID: id})
}

// Acknowledge implements session.Acknowledger. After a requested stop, the holder exits and its folder is removed.
// Otherwise, the holder waits for the next session.
func (p *Provider) Acknowledge(ctx context.Context, name, id string) error {
	e := p.reg.Find(name)
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	release, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer p.forget(e)
	e.mu.Lock()
	l, current := e.link, e.known && e.record.ID == id && e.exit != nil
	if current {
		e.acked = true
	}
	e.mu.Unlock()
	if l != nil && !l.over() {
		reply, err := p.call(ctx, "acknowledge the end of", name,
			wire.Request{Op: wire.OpAck, ID: id})
		switch {
		case err != nil && !errors.Is(err, errGone):
			e.mu.Lock()
			// the holder may not have got the request, so the next List must return the exit again
			if current && e.record.ID == id {
				e.acked = false
			}
			e.mu.Unlock()
			return err
		case err == nil && string(reply) != "leaves":
			return nil
		}
		select { // wait until the next start can take the lock
		case <-l.gone:
		case <-ctx.Done():
			return fmt.Errorf("the holder of %q is still running: %w", name, context.Cause(ctx))
		}
	}
	if current {
		p.files.removeFolder(name) // a holder that died did not remove its folder
		e.mu.Lock()
		e.known = false
		e.mu.Unlock()
	}
	return nil
}

// SetMeta implements session.Marker. The holder keeps the values until the session ends.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	e := p.reg.Find(name)
	if e == nil {
		return missing("mark", name)
	}
	e.mu.Lock()
	life := e.record.ID
	e.mu.Unlock()
	err := p.do(ctx, "mark", name, wire.Request{Op: wire.OpSetMeta, Key: key, Value: value})
	if err == nil {
		e.note(life, key, value)
	}
	return err
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data, err := p.call(ctx, "read a mark of", name, wire.Request{Op: wire.OpMeta, Key: key})
	return string(data), err
}

// Output implements session.Provider. It returns an ended session's output until the next start.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	size, raw, err := readOutput(ctx, p, name, tailBytes(lines))
	if err != nil {
		return "", err
	}
	if size.Tail {
		if text, ok := screen.TextOfEnd(raw, size.Cols, size.Rows, lines); ok {
			return text, nil
		}
		if size, raw, err = readOutput(ctx, p, name, 0); err != nil {
			return "", err
		}
	}
	return screen.Text(raw, size.Cols, size.Rows, lines), nil
}
