package citytest

import (
	"bytes"
	"context"
	"io"
	"sync"

	"gcity/city"
)

// ScreenSize returns the size of an agent's terminal.
func (f *Fake) ScreenSize(agent string) (cols, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screens[agent].cols, f.screens[agent].rows
}

// ScreenRaw reports whether the newest viewer of an agent's terminal gets unfiltered output.
func (f *Fake) ScreenRaw(agent string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screens[agent].raw
}

// Attach implements city.Control.
func (f *Fake) Attach(_ context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.running(agent)
	if err != nil {
		return nil, err
	}
	s.cols, s.rows, s.raw = v.Cols, v.Rows, v.Raw
	return &terminal{fake: f, s: s, closed: make(chan struct{})}, nil
}

type terminal struct {
	fake   *Fake
	s      *screen
	at     int
	once   sync.Once
	closed chan struct{}
}

func (t *terminal) Read(p []byte) (int, error) {
	for {
		t.fake.mu.Lock()
		changed := t.fake.changed
		n := copy(p, t.s.out[t.at:])
		t.at += n
		t.fake.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		select {
		case <-changed:
		case <-t.closed:
			return 0, io.ErrClosedPipe
		}
	}
}

func (t *terminal) Write(p []byte) (int, error) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.fake.typeIn(t.s, p)
	return len(p), nil
}

// The caller must hold f.mu.
func (f *Fake) typeIn(s *screen, p []byte) {
	s.typed = append(s.typed, p...)
	s.out = append(s.out, bytes.ReplaceAll(p, []byte("\r"), []byte("\r\n"))...)
	f.wake()
}

func (t *terminal) Resize(cols, rows int) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.s.cols, t.s.rows = cols, rows
	t.fake.wake()
	return nil
}

func (t *terminal) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}
