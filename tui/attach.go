package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"gcity/city"
)

const (
	dialDeadline = 10 * time.Second
	// heldFor is how long the beginning of an escape sequence may be a key of its own.
	heldFor = 50 * time.Millisecond
	// maxTypedAhead bounds what is kept for an agent that does not read; more is dropped.
	maxTypedAhead = 1 << 20
)

// visit is one stay in an agent's terminal: raw bytes both ways, with nothing but the leaving key taken out.
type visit struct {
	in, out *os.File
	agent   string
	term    city.Terminal
	ahead   typedAhead
}

// attachTo hands the terminal to an agent until the person leaves, the session ends or ctx does. It returns what to
// say about it; the terminal's modes are as before in any case.
func (r *runner) attachTo(ctx context.Context, o Options, agent string) (said string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cols, rows, err := term.GetSize(o.Out.Fd())
	if err != nil {
		return "", fmt.Errorf("cannot attach to %s: the size of this terminal is unknown: %w", agent, err)
	}
	hurry := time.AfterFunc(dialDeadline, cancel)
	t, err := r.city.Attach(ctx, agent, cols, rows)
	if !hurry.Stop() && err != nil {
		return "", fmt.Errorf("cannot attach to %s: no answer within %s", agent, dialDeadline)
	}
	if err != nil {
		return "", err
	}
	state, err := term.MakeRaw(o.In.Fd())
	if err != nil {
		return "", errors.Join(fmt.Errorf("cannot attach to %s: %w", agent, err), t.Close())
	}
	v := &visit{in: o.In, out: o.Out, agent: agent, term: t}
	v.ahead.wake = make(chan struct{}, 1)
	_, _ = io.WriteString(o.Out, v.enter(cols))
	defer func() {
		_, _ = io.WriteString(o.Out, leaveModes)
		err = errors.Join(err, term.Restore(o.In.Fd(), state))
	}()
	return v.stay(ctx, r)
}

// stay copies until it is over.
func (v *visit) stay(ctx context.Context, r *runner) (string, error) {
	keys, err := cancelreader.NewReader(v.in)
	if err != nil {
		return "", errors.Join(fmt.Errorf("cannot read the terminal: %w", err), v.term.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	start := func(f func()) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					r.crashed("attach", p)
				}
			}()
			f()
		})
	}
	typed := make(chan []byte)
	shown := make(chan error, 1)
	start(func() { v.read(ctx, keys, typed) })
	start(func() { v.write(ctx) })
	start(func() {
		_, err := io.Copy(v.out, v.term)
		shown <- err
	})
	said, err := v.turn(ctx, r, typed, shown)
	cancel()
	keys.Cancel()
	_ = v.term.Close() // over either way
	wg.Wait()
	_ = keys.Close()
	return said, err
}

// turn waits for what comes and passes it on.
func (v *visit) turn(ctx context.Context, r *runner, typed <-chan []byte, shown <-chan error) (string, error) {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	hold := time.NewTimer(time.Hour)
	defer hold.Stop()
	var scan scanner
	for {
		select {
		case <-ctx.Done():
			return "", nil
		case err := <-shown:
			if err != nil {
				return "", fmt.Errorf("the connection to %s broke: %w", v.agent, err)
			}
			return "the session of " + v.agent + " has ended", nil
		case p, ok := <-typed:
			if !ok {
				r.lineDropped()
				return "", nil
			}
			out, leave := scan.feed(p)
			v.ahead.add(out)
			if leave {
				return "left " + v.agent + "; it goes on", nil
			}
			hold.Reset(heldFor)
		case <-hold.C:
			v.ahead.add(scan.flush())
		case <-resized:
			if cols, rows, err := term.GetSize(v.out.Fd()); err == nil {
				_ = v.term.Resize(cols, rows) // a terminal that is gone ends the copy
			}
		}
	}
}

// read passes on what is typed; the channel is closed when the terminal is gone.
func (v *visit) read(ctx context.Context, keys io.Reader, typed chan<- []byte) {
	buf := make([]byte, 4096)
	for {
		n, err := keys.Read(buf)
		if errors.Is(err, cancelreader.ErrCanceled) || ctx.Err() != nil {
			return
		}
		if n == 0 || err != nil {
			close(typed)
			return
		}
		select {
		case typed <- append([]byte(nil), buf[:n]...):
		case <-ctx.Done():
			return
		}
	}
}

// write passes on to the agent. An agent that does not read holds up only this.
func (v *visit) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.ahead.wake:
		}
		if _, err := v.term.Write(v.ahead.take()); err != nil {
			return // the copy of its output ends too
		}
	}
}

// typedAhead is what was typed and not yet taken by the agent.
type typedAhead struct {
	mu   sync.Mutex
	buf  []byte
	wake chan struct{}
}

func (t *typedAhead) add(p []byte) {
	if len(p) == 0 {
		return
	}
	t.mu.Lock()
	if len(t.buf)+len(p) <= maxTypedAhead {
		t.buf = append(t.buf, p...)
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *typedAhead) take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.buf
	t.buf = nil
	return p
}

// enter clears a screen of its own and says how to leave it; the title says so for as long as the agent sets no other.
func (v *visit) enter(cols int) string {
	name := plain(v.agent)
	banner := fit(" attached to "+name+"; ctrl+q leaves it running", cols, "")
	return ansi.SetModeAltScreenSaveCursor + ansi.EraseEntireScreen + ansi.CursorHomePosition +
		ansi.SetWindowTitle(name+": ctrl+q leaves") + "\x1b[7m" + banner + "\x1b[m\r\n"
}

// leaveModes undoes whatever a program may have done to the terminal: it ends an open string, goes back to the
// alternate screen (the Kitty keyboard has a stack for each), and resets keys, mouse, paste, margins, character sets,
// origin, wrap, cursor and colours before it leaves it.
const leaveModes = "\x1b\\" + "\x1b[?1049h" +
	"\x1b[<9u" + "\x1b[>4;0m" +
	"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" +
	"\x1b[?2004l\x1b[?2026l\x1b[?2027l\x1b[?2031l\x1b[?2048l" +
	"\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?45l\x1b[?69l\x1b[4l\x1b[20l\x1b[?25h\x1b[0 q" +
	"\x1b(B\x0f\x1b[r\x1b[m\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\" +
	"\x1b[2J\x1b[H" + "\x1b[?1049l" + "\x1b[m"
