package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"gcity/internal/shell"
	"gcity/session"
)

const watchEvery = 500 * time.Millisecond

// Watch implements session.Watcher. It polls the screen and sends each changed screen as a frame with Reset.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		e, err := p.living("watch", name)
		if err != nil {
			yield(session.Frame{}, err)
			return
		}
		p.mu.Lock()
		rec := e.rec
		p.mu.Unlock()
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for last, first := "", true; ; first = false {
			text, err := p.peek(ctx, name, rec.Rows)
			if err != nil {
				if p.over(ctx, e, &rec) || ctx.Err() != nil {
					return
				}
				yield(session.Frame{}, err)
				return
			}
			if first || text != last {
				f := session.Frame{Reset: true, Cols: rec.Cols, Rows: rec.Rows,
					Data: []byte(strings.ReplaceAll(text, "\n", "\r\n"))}
				if last = text; !yield(f, nil) {
					return
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if p.over(ctx, e, &rec) {
				return
			}
		}
	}
}

func (p *Provider) over(ctx context.Context, e *entry, rec *record) bool {
	p.mu.Lock()
	ended, local := e.rec.ID != rec.ID || e.rec.Exit != nil, e.pid > 0
	p.mu.Unlock()
	if ended {
		return true
	}
	if local {
		return !p.processes(e, rec)
	}
	runs, err := p.runs(ctx, rec.Name)
	return err == nil && !runs
}

// Attach implements session.Attacher. It runs the script on a new terminal.
func (p *Provider) Attach(ctx context.Context, name string, cols, rows int) (session.Terminal,
	error) {
	e, err := p.living("attach to", name)
	if err != nil {
		return nil, err
	}
	if runs, err := p.runs(ctx, name); err != nil || !runs {
		if err == nil {
			err = session.ErrNotFound
		}
		return nil, fmt.Errorf("cannot attach to %q: %w", name, err)
	}
	if err := p.mayRun(ctx); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	cmd := p.command(life, "attach", name, nil)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		end()
		return nil, fmt.Errorf("cannot attach to %q: %w", name, err)
	}
	p.count(e, 1)
	t := &terminal{p: p, e: e, f: f, end: end}
	t.wait = sync.OnceValue(func() error { _, err := shell.Await(life, cmd); return err })
	return t, nil
}

func (p *Provider) count(e *entry, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.attached += n
}

// terminal is an attached terminal. Only one goroutine can read. All other methods are safe for concurrent use.
type terminal struct {
	p       *Provider
	e       *entry
	f       *os.File
	end     context.CancelFunc
	wait    func() error // call end first
	once    sync.Once
	printed bool // used only by Read
}

func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.f.Read(b)
	t.printed = t.printed || n > 0
	if err == nil {
		return n, nil
	}
	// EIO: the script has exited. The exit code of an attach that has printed something can be the agent's.
	if t.end(); !t.printed {
		exit, ok := errors.AsType[*exec.ExitError](t.wait())
		if ok && exit.ExitCode() == unknownOp {
			return n, &session.LackError{Ability: session.Attaching, Why: "the script does not " +
				"support attach; use `gcity agent peek` and `gcity agent nudge`"}
		}
	}
	return n, io.EOF
}

func (t *terminal) Write(b []byte) (int, error) {
	t.p.mu.Lock()
	t.e.typed = time.Now()
	t.p.mu.Unlock()
	return t.f.Write(b)
}

func (t *terminal) Resize(cols, rows int) error {
	return pty.Setsize(t.f, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

func (t *terminal) Close() error {
	t.once.Do(func() {
		t.end()
		t.f.Close()
		_ = t.wait() // the script was killed or has exited
		t.p.count(t.e, -1)
	})
	return nil
}
