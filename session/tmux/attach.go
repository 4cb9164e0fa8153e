package tmux

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"gcity/session"
	"gcity/session/registry"
)

// Attach implements session.Attacher. The session has the size of the viewer that typed last.
func (p *Provider) Attach(ctx context.Context, name string, cols, rows int) (session.Terminal,
	error) {
	e, rec, err := p.living("attach to", name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cannot attach to %q: %w", name, context.Cause(ctx))
	}
	// an earlier resize might have fixed the window's size
	if _, err := p.tmux.run(ctx, nil, "set-option", "-w", "-u", "-t", rec.target(),
		"window-size"); err != nil {
		return nil, explain("attach to", name, err)
	}
	cmd := p.tmux.command(p.ctx, "attach-session", "-f", viewerFlag, "-t", rec.target())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGHUP) }
	cmd.WaitDelay = time.Second
	f, err := pty.StartWithSize(cmd, size(cols, rows))
	if err != nil {
		return nil, fmt.Errorf("cannot attach to %q: cannot open a terminal for tmux: "+
			"%w", name, err)
	}
	t := &terminal{p: p, e: e, rec: rec, f: f, cmd: cmd, gone: make(chan struct{})}
	e.mu.Lock()
	e.ownViewers++
	e.mu.Unlock()
	if !p.reg.Async(t.wait) {
		t.wait()
		return nil, registry.ErrClosed
	}
	return t, nil
}

func size(cols, rows int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(min(max(cols, 1), 1<<15)),
		Rows: uint16(min(max(rows, 1), 1<<15))}
}

type terminal struct {
	p    *Provider
	e    *entry
	rec  record
	f    *os.File
	cmd  *exec.Cmd
	gone chan struct{}
	once sync.Once
}

// wait restores the session's configured size after the last viewer has detached.
func (t *terminal) wait() {
	_ = t.cmd.Wait()
	close(t.gone)
	t.e.mu.Lock()
	t.e.ownViewers--
	last := t.e.ownViewers == 0 && t.e.views.count <= 1 && t.e.rec.ID == t.rec.ID && t.e.exit == nil
	t.e.mu.Unlock()
	if last && t.p.ctx.Err() == nil {
		t.p.resize(&t.rec)
	}
}

func (p *Provider) resize(rec *record) {
	ctx, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	_, err := p.tmux.run(ctx, nil, "resize-window", "-t", rec.target(), "-x",
		strconv.Itoa(rec.Cols),
		"-y", strconv.Itoa(rec.Rows),
		";", "set-option", "-w", "-u", "-t", rec.target(), "window-size")
	if err != nil && !isGone(err) && p.ctx.Err() == nil {
		p.log.Warn("cannot restore a session's size", "session", rec.Name, "err", err)
	}
}

func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.f.Read(b)
	if err != nil { // EIO: tmux has exited
		return n, io.EOF
	}
	return n, nil
}

func (t *terminal) Write(b []byte) (int, error) {
	n, err := t.f.Write(b)
	if err != nil {
		return n, fmt.Errorf("the session has ended: %w", err)
	}
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	if t.e.rec.ID == t.rec.ID && n > 0 {
		t.e.typed = time.Now()
	}
	return n, nil
}

func (t *terminal) Resize(cols, rows int) error {
	if err := pty.Setsize(t.f, size(cols, rows)); err != nil {
		return fmt.Errorf("cannot resize the terminal: %w", err)
	}
	return nil
}

// Close detaches this client.
func (t *terminal) Close() error {
	var err error
	t.once.Do(func() {
		_ = t.cmd.Process.Signal(syscall.SIGHUP)
		select {
		case <-t.gone:
		case <-time.After(time.Second):
			_ = t.cmd.Process.Kill()
		}
		err = t.f.Close()
	})
	return err
}
