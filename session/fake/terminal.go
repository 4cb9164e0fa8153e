package fake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"gcity/session"
)

var (
	_ session.Attacher     = (*Provider)(nil)
	_ session.Watcher      = (*Provider)(nil)
	_ session.PoliteSender = (*Provider)(nil)
)

type screen struct {
	out        []byte
	cleared    int
	cols, rows int
	draft      int // number of unsubmitted characters
}

// Greet sets the text that an agent's sessions print when they start.
func (p *Provider) Greet(agent, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.greets[agent] = text
}

// The caller must hold p.mu.
func (p *Provider) print(l *life, text string) {
	l.out = append(l.out, text...)
	l.Status.Output += uint64(len(text))
	p.wake()
}

// The caller must hold p.mu.
func (p *Provider) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Interrupt implements session.Provider. The simulated program prints ^C and continues.
func (p *Provider) Interrupt(_ context.Context, name string) error {
	return p.with(name, func(l *life) { p.print(l, "^C\r\n") })
}

// Send implements session.Provider.
func (p *Provider) Send(_ context.Context, name, text string) error {
	return p.with(name, func(l *life) {
		p.print(l, strings.ReplaceAll(text, "\n", "\r\n")+"\r\n")
		l.Activity = time.Now()
		l.draft, l.Draft = 0, false
	})
}

// SendPolitely implements session.PoliteSender.
func (p *Provider) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	p.mu.Lock()
	l, err := p.live(name)
	busy := err == nil && (l.Draft || !l.TypedAt.IsZero() && time.Since(l.TypedAt) < quiet)
	p.mu.Unlock()
	if busy {
		return fmt.Errorf("session %s: %w", name, session.ErrBusy)
	}
	return p.Send(ctx, name, text)
}

// SendKeys implements session.Keyer.
func (p *Provider) SendKeys(_ context.Context, name string, keys ...string) error {
	return p.with(name, func(l *life) {
		p.print(l, strings.ReplaceAll(strings.Join(keys, ""), "Enter", "\r\n"))
	})
}

// Clear implements session.Clearer.
func (p *Provider) Clear(_ context.Context, name string) error {
	return p.with(name, func(l *life) { l.out, l.cleared = nil, l.cleared+1 })
}

func (s *screen) text() string {
	return strings.TrimRight(strings.ReplaceAll(string(s.out), "\r", ""), "\n")
}

// Output implements session.Provider.
func (p *Provider) Output(_ context.Context, name string, lines int) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.lives[name]
	if !ok {
		return "", fmt.Errorf("session %s: %w", name, session.ErrNotFound)
	}
	all := strings.Split(l.text(), "\n")
	if lines > 0 {
		all = all[max(0, len(all)-lines):]
	}
	return strings.Join(all, "\n"), nil
}

// Capture implements session.Capturer.
func (p *Provider) Capture(_ context.Context, name, id string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range []*life{p.lives[name], p.past[name]} {
		if l != nil && l.ID == id {
			return []byte(l.text()), nil
		}
	}
	return nil, fmt.Errorf("session %s with ID %s: %w", name, id, session.ErrNotFound)
}

// The caller must hold p.mu.
func (p *Provider) typed(l *life, in []byte) {
	p.print(l, strings.ReplaceAll(string(in), "\r", "\r\n"))
	l.TypedAt = time.Now()
	if end := bytes.LastIndexAny(in, "\r\n\x03\x04\x15\x1b"); end >= 0 {
		l.draft, in = 0, in[end+1:]
	}
	for _, c := range string(in) {
		if l.draft++; c == '\x7f' {
			l.draft = max(0, l.draft-2)
		}
	}
	l.Draft = l.draft > 0
}

// Watch implements session.Watcher.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		p.mu.Lock()
		l, err := p.live(name)
		p.mu.Unlock()
		if err != nil {
			yield(session.Frame{}, err)
			return
		}
		cleared, at := -1, 0
		for ctx.Err() == nil {
			p.mu.Lock()
			changed, over := p.changed, !l.Alive
			f := session.Frame{Reset: l.cleared != cleared, Cols: l.cols, Rows: l.rows}
			if f.Reset {
				cleared, at = l.cleared, 0
			}
			f.Data = bytes.Clone(l.out[at:])
			at = len(l.out)
			p.mu.Unlock()
			if (f.Reset || len(f.Data) > 0) && !yield(f, nil) || over {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// Attach implements session.Attacher.
func (p *Provider) Attach(_ context.Context, name string, cols, rows int) (session.Terminal,
	error) {
	var t *terminal
	err := p.with(name, func(l *life) {
		l.cols, l.rows = cols, rows
		l.Attached++
		t = &terminal{p: p, l: l, closed: make(chan struct{})}
	})
	if err != nil {
		return nil, err // an interface that holds a nil pointer is not nil
	}
	return t, nil
}

type terminal struct {
	p      *Provider
	l      *life
	at     int
	once   sync.Once
	closed chan struct{}
}

// Read implements session.Terminal.
func (t *terminal) Read(b []byte) (int, error) {
	for {
		t.p.mu.Lock()
		changed, over := t.p.changed, !t.l.Alive
		t.at = min(t.at, len(t.l.out))
		n := copy(b, t.l.out[t.at:])
		t.at += n
		t.p.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case over:
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-t.closed:
			return 0, io.ErrClosedPipe
		}
	}
}

func (t *terminal) do(f func()) error {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if !t.l.Alive {
		return io.ErrClosedPipe
	}
	f()
	return nil
}

// Write implements session.Terminal.
func (t *terminal) Write(b []byte) (int, error) {
	if err := t.do(func() { t.p.typed(t.l, b) }); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Resize implements session.Terminal.
func (t *terminal) Resize(cols, rows int) error {
	return t.do(func() { t.l.cols, t.l.rows = cols, rows })
}

// Close implements session.Terminal.
func (t *terminal) Close() error {
	t.once.Do(func() {
		close(t.closed)
		_ = t.do(func() { t.l.Attached-- }) // fails if the session has ended
	})
	return nil
}
