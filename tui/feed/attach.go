package feed

import (
	"bytes"
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
	"gcity/describe"
	"gcity/internal/detach"
	"gcity/internal/proc"
	"gcity/internal/statusrow"
	"gcity/internal/termsize"
	"gcity/tui/widget"
)

const (
	dialDeadline = 10 * time.Second
	// redialDeadline limits the wait for the next controller, for example during an upgrade.
	redialDeadline = 15 * time.Second
	redialPause    = 200 * time.Millisecond
	// escapeTimeout limits the wait for the rest of an escape sequence.
	escapeTimeout = 50 * time.Millisecond
	// maxTypedAhead is the maximum unread input, in bytes. Further input is dropped.
	maxTypedAhead = 1 << 20
	// detachTimeout limits the wait for an agent to read the input that was typed before the detach key.
	detachTimeout    = 500 * time.Millisecond
	ctrlC            = 0x03
	minRowsForStatus = 12
)

var (
	errControllerLost = errors.New("the city's controller exited")

	// errStop and errContinue end a connection, but not the attachment. After SIGCONT, the terminal's modes are
	// unknown, because a shell has used the terminal.
	errStop     = errors.New("received SIGTSTP")
	errContinue = errors.New("received SIGCONT")
)

// Terminal is a terminal that an agent or another program uses temporarily.
type Terminal struct {
	In, Out *os.File
	Environ []string
	Detach  detach.Key // key that leaves an agent
}

type attachment struct {
	in, out *os.File
	agent   string
	term    city.Terminal // nil while not connected
	input   inputQueue
	state   *term.State    // the terminal's modes before the attachment
	jobs    chan os.Signal // SIGTSTP and SIGCONT
	leaving chan struct{}  // closed when the user detaches
	emptied chan struct{}  // closed when all input typed before the detach key has been sent
	scan    detach.Scanner
	paste   detach.Paste // of the input that was sent
	fed     time.Time    // when scan received the last input
	// when it fires, an incomplete escape sequence counts as a key
	escapeTimer *time.Timer
	typed       chan []byte // the user's input; closed when the terminal is closed
	cols        int
	rows        int
	ended       bool              // the session ended before the user detached
	status      *statusrow.Writer // nil in a small terminal
}

// AttachTo connects the terminal to an agent until the user detaches, the session ends or ctx ends. message is for the
// status line. The terminal's modes are always restored.
func (r *Runner) AttachTo(ctx context.Context, o Terminal, agent string) (message string,
	ended bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newAttachment(o, agent)
	if v.cols, v.rows, err = termsize.Of(o.Out.Fd()); err != nil {
		return "", false, fmt.Errorf("cannot attach to %s: cannot get the size of this "+
			"terminal: %w", agent, err)
	}
	// raw mode comes first, so that ctrl+c is already a key during the request
	if v.state, err = term.MakeRaw(o.In.Fd()); err != nil {
		return "", false, fmt.Errorf("cannot attach to %s: %w", agent, err)
	}
	defer v.escapeTimer.Stop()
	proc.NotifyJobControl(v.jobs)
	defer signal.Stop(v.jobs)
	v.begin("attaching to " + widget.Plain(agent) + "; ctrl+c cancels")
	defer func() {
		_, _ = io.WriteString(o.Out, detach.ResetModes)
		err = errors.Join(err, term.Restore(o.In.Fd(), v.state))
	}()
	message, err = v.run(ctx, r)
	return message, v.ended, err
}

func newAttachment(o Terminal, agent string) *attachment {
	return &attachment{in: o.In, out: o.Out, agent: agent, scan: detach.Scanner{Key: o.Detach},
		escapeTimer: time.NewTimer(time.Hour), typed: make(chan []byte),
		input: inputQueue{wake: make(chan struct{}, 1)},
		jobs:  make(chan os.Signal, 1), leaving: make(chan struct{}), emptied: make(chan struct{})}
}

func (v *attachment) run(ctx context.Context, r *Runner) (string, error) {
	keys, err := cancelreader.NewReader(v.in)
	if err != nil {
		return "", fmt.Errorf("cannot read the terminal: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer r.RecoverPanic("attach")
		v.read(ctx, keys)
	})
	message, err := v.dial(ctx, r)
	for v.term != nil {
		message, err = v.connected(ctx, r)
		switch {
		case closed(v.leaving):
			v.term = nil
		case errors.Is(err, errStop):
			v.suspend()
			message, err = v.takeTerminal(ctx, r)
		case errors.Is(err, errContinue):
			message, err = v.takeTerminal(ctx, r)
		case errors.Is(err, errControllerLost):
			message, err = v.redial(ctx, r, err)
		default:
			v.term = nil
		}
	}
	cancel()
	keys.Cancel()
	wg.Wait()
	_ = keys.Close()
	return message, err
}

// connected forwards input and output until the user detaches, or the connection or ctx ends. It closes the connection.
func (v *attachment) connected(ctx context.Context, r *Runner) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	start := func(f func()) {
		wg.Go(func() {
			defer r.RecoverPanic("attach")
			f()
		})
	}
	shown := make(chan error, 1)
	screen := v.output()
	_, _ = io.WriteString(v.out, ansi.SetWindowTitle(widget.Plain(v.agent)+": "+
		v.scan.Key.String()+" detaches"))
	start(func() { v.write(ctx) })
	start(func() {
		_, err := io.Copy(screen, v.term)
		shown <- err
	})
	message, err := v.forward(ctx, r, shown)
	cancel()
	_ = v.term.Close() // this connection ends in any case
	wg.Wait()
	return message, err
}

// redial connects to the agent through the city's next controller. Until then, input is kept. If no controller starts
// in time, redial returns the error lost.
func (v *attachment) redial(ctx context.Context, r *Runner, lost error) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, redialDeadline)
	defer cancel()
	v.term, v.ended = nil, false
	_, _ = io.WriteString(v.out, detach.ResetModes)
	v.begin("the city's controller exited; attaching to " + widget.Plain(v.agent) +
		" again; ctrl+c cancels")
	for {
		message, err := v.dial(ctx, r)
		if err == nil { // attached, or ended by the user
			return message, nil
		}
		select {
		case <-ctx.Done():
			return "", lost
		case <-time.After(redialPause):
		}
	}
}

// takeTerminal sets the terminal's modes again, and attaches again so that the agent's screen is redrawn. If the
// controller has exited meanwhile, takeTerminal waits for the next one.
func (v *attachment) takeTerminal(ctx context.Context, r *Runner) (string, error) {
	v.term = nil
	v.finishPaste()
	if _, err := term.MakeRaw(v.in.Fd()); err != nil {
		return "", fmt.Errorf("cannot stay attached to %s: %w", v.agent, err)
	}
	_, _ = io.WriteString(v.out, detach.ResetModes)
	v.begin("attaching to " + widget.Plain(v.agent) + " again; ctrl+c cancels")
	message, err := v.dial(ctx, r)
	if city.HasCode(err, city.Unavailable) {
		return v.redial(ctx, r, err)
	}
	return message, err
}

// finishPaste ends a paste that has not been sent completely, because a shell might have read its end.
func (v *attachment) finishPaste() {
	rest := v.input.Take()
	if len(rest) == 0 {
		v.paste = detach.Paste{}
		return
	}
	v.input.putBack(append(rest, v.paste.Ending(rest)...))
}

// suspend restores the terminal and stops this process.
func (v *attachment) suspend() {
	_, _ = io.WriteString(v.out, detach.ResetModes)
	_ = term.Restore(v.in.Fd(), v.state) // fails only if the terminal is gone
	proc.Suspend()
}

func (v *attachment) feed(p []byte) (out []byte, leave bool) {
	now := time.Now()
	v.scan.Pause(now.Sub(v.fed))
	v.fed = now
	return v.scan.Feed(p)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

type attachResult struct {
	term city.Terminal
	err  error
}

// dial stores the terminal in v.term. If the user cancels, it returns a message.
func (v *attachment) dial(ctx context.Context, r *Runner) (string, error) {
	// the deadline covers only the request; see city.Control
	ctx, cancel := context.WithTimeout(ctx, dialDeadline)
	defer cancel()
	result := make(chan attachResult)
	viewer := city.Viewer{Cols: v.cols, Rows: v.agentRows()}
	r.Spawn("attach", func(context.Context) {
		t, err := r.City.Attach(ctx, v.agent, viewer)
		select {
		case result <- attachResult{t, err}:
		case <-ctx.Done():
			if err == nil {
				_ = t.Close() // the caller is no longer waiting
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return "", fmt.Errorf("cannot attach to %s: no response within %s", v.agent,
					dialDeadline)
			}
			return "", nil
		case a := <-result:
			v.term = a.term
			return "", a.err
		case p, ok := <-v.typed:
			if !ok {
				r.HangUp()
				return "", nil
			}
			out, leave := v.feed(p)
			if leave || bytes.IndexByte(out, ctrlC) >= 0 {
				return "canceled attaching to " + v.agent, nil
			}
			v.input.add(out)
			v.escapeTimer.Reset(escapeTimeout)
		case <-v.escapeTimer.C:
			v.input.add(v.scan.Flush())
		}
	}
}

func (v *attachment) forward(ctx context.Context, r *Runner, shown <-chan error) (string, error) {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	v.resize() // the size might have changed during the request
	for {
		select {
		case <-ctx.Done():
			return "", nil
		case err := <-shown:
			v.ended = true
			return v.sessionEnded(err)
		case p, ok := <-v.typed:
			if !ok {
				r.HangUp()
				return "", nil
			}
			out, leave := v.feed(p)
			v.input.add(out)
			if leave {
				return v.detach(ctx, shown)
			}
			v.escapeTimer.Reset(escapeTimeout)
		case <-v.escapeTimer.C:
			v.input.add(v.scan.Flush())
		case <-resized:
			v.resize()
		case s := <-v.jobs:
			if s == syscall.SIGTSTP {
				return "", errStop
			}
			return "", errContinue
		}
	}
}

// sessionEnded returns the result after the session has ended or the connection was lost.
func (v *attachment) sessionEnded(err error) (string, error) {
	problem, ok := errors.AsType[*city.Error](err)
	switch {
	case ok && problem.Details == city.Ended, errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET):
		return "", fmt.Errorf("lost the connection to %s, because %w; the agent might still be "+
			"running, so attach again when the city responds", v.agent, errControllerLost)
	case err != nil:
		return "", fmt.Errorf("the connection to %s has ended: %w", v.agent, err)
	}
	return describe.Ended(v.agent), nil
}

// detach waits until the input has been sent, and returns the result of the attachment.
func (v *attachment) detach(ctx context.Context, shown <-chan error) (string, error) {
	close(v.leaving)
	late := time.NewTimer(detachTimeout)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return "", nil
	case err := <-shown:
		return v.sessionEnded(err)
	case <-v.emptied:
		return "detached from " + v.agent + "; it keeps running", nil
	case <-late.C:
		return "detached from " + v.agent + "; it did not read the last input", nil
	}
}

// begin prepares the terminal for an agent's screen, and shows the text until then.
func (v *attachment) begin(text string) {
	if v.status = nil; v.rows >= minRowsForStatus {
		v.status = statusrow.New(v.out, v.cols, v.rows, func(cols int) string {
			return reversed(widget.Fit(" "+v.detachHint(), cols, ""))
		})
	}
	_, _ = io.WriteString(v.out, detach.SaveModes+ansi.SetModeAltScreenSaveCursor)
	v.announce(text)
}

func (v *attachment) output() io.Writer {
	if v.status == nil {
		v.announce(v.detachHint())
		return v.out
	}
	_ = v.status.Begin() // if the terminal is gone, copying the output fails too
	return v.status
}

func (v *attachment) detachHint() string {
	return "attached to " + widget.Plain(v.agent) + "; " + v.scan.Key.String() +
		" detaches"
}

func (v *attachment) agentRows() int {
	if v.status == nil {
		return v.rows
	}
	return max(1, v.rows-1)
}

func (v *attachment) resize() {
	cols, rows, err := termsize.Of(v.out.Fd())
	if err == nil && (cols != v.cols || rows != v.rows) {
		v.cols, v.rows = cols, rows
		if v.status != nil {
			_ = v.status.Resize(cols, rows)
		}
		_ = v.term.Resize(cols, v.agentRows())
	}
}

func (v *attachment) read(ctx context.Context, keys io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := keys.Read(buf)
		if errors.Is(err, cancelreader.ErrCanceled) || ctx.Err() != nil {
			return
		}
		if n == 0 || err != nil {
			close(v.typed)
			return
		}
		select {
		case v.typed <- append([]byte(nil), buf[:n]...):
		case <-ctx.Done():
			return
		}
	}
}

// write sends the queued input to the agent until the user detaches or ctx ends. It blocks while the agent does not
// read.
func (v *attachment) write(ctx context.Context) {
	first := v.paste.Resume()
	for leaving := false; !leaving; {
		select {
		case <-ctx.Done():
			return
		case <-v.leaving:
			leaving = true
		case <-v.input.wake:
		}
		if p := v.input.Take(); len(p) > 0 {
			n, err := v.term.Write(append(first, p...))
			sent := max(0, n-len(first))
			v.paste.Follow(p[:sent])
			if err != nil {
				v.input.putBack(p[sent:])
				return // copying the output will fail too
			}
			first = nil
		}
	}
	close(v.emptied)
}

type inputQueue struct {
	mu   sync.Mutex
	buf  []byte
	wake chan struct{}
}

func (t *inputQueue) add(p []byte) {
	if len(p) == 0 {
		return
	}
	t.mu.Lock()
	if len(t.buf)+len(p) <= maxTypedAhead {
		t.buf = append(t.buf, p...)
	}
	t.mu.Unlock()
	wake(t.wake)
}

// putBack stores input that was not sent, for the next connection.
func (t *inputQueue) putBack(p []byte) {
	t.mu.Lock()
	t.buf = append(bytes.Clone(p), t.buf...)
	t.mu.Unlock()
	wake(t.wake)
}

func (t *inputQueue) Take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.buf
	t.buf = nil
	return p
}

func (v *attachment) announce(text string) {
	_, _ = io.WriteString(v.out, ansi.EraseEntireScreen+ansi.CursorHomePosition+
		reversed(widget.Fit(" "+text, v.cols, ""))+"\r\n")
}

func reversed(text string) string { return "\x1b[7m" + text + "\x1b[m" }
