package agents

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
	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/detach"
	"gcity/internal/proc"
	"gcity/internal/suggest"
)

// resetModes also resets what leaving the alternate screen restores, and moves the cursor below the drawn lines.
const resetModes = detach.ResetModes + "\x1b(B\x0f\x1b[?6l\x1b[r\x1b[999;1H\r\n"

const (
	saveTitle    = "\x1b[22;2t"
	restoreTitle = "\x1b]2;\a\x1b[23;2t"
)

func agentAttach(e *env.Env) *cobra.Command {
	raw := false
	c := forObject(e, &cobra.Command{
		Use: "attach AGENT", Short: "Attach this terminal to an " +
			"agent's terminal; " + detach.Default +
			" detaches",
		Long: `attach connects this terminal to the agent's terminal. It shows the output of the
program, but removes control sequences that do more than draw: those that write or
read the clipboard, report the title, request settings with DCS, print, or program
keys. [session] passthrough in city.toml permits some of them for every attached
terminal; --raw permits all of them. While you are attached, the terminal's title
shows the key that detaches, unless the program sets a title. attach fails inside the
agent's own session, because that terminal would show its own output in an endless
loop.`,
	}, suggest.Agent, func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
		if !e.InTTY || !e.OutTTY {
			return exit.Usage("attach needs a terminal for input and output; without one use " +
				"`gcity agent peek` and `gcity agent nudge`")
		}
		if err := env.RequireForeground(ctx, e, "attach"); err != nil {
			return err
		}
		name, s := f.Agent.Name, f.Agent.Session
		if s != nil && s.ID != "" && s.ID == e.Getenv("GC_SESSION_ID") {
			return fmt.Errorf("cannot attach to %s: this terminal belongs to the session of %s; "+
				"run `gcity agent attach %s` in another terminal", name, name, name)
		}
		return attach(ctx, e, l, name, raw)
	})
	c.Flags().BoolVar(&raw, "raw", false,
		"show the output unfiltered: the program can then write to your clipboard and send input "+
			"to your terminal")
	return c
}

func attach(ctx context.Context, e *env.Env, l *env.Link, name string, raw bool) error {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, quiet = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer quiet()
	}
	cols, rows, err := output.TerminalSize(e.Out)
	if err != nil {
		return fmt.Errorf("cannot read the size of this terminal: %w", err)
	}
	far, err := l.Attach(ctx, name, city.Viewer{Cols: cols, Rows: rows, Raw: raw})
	if err != nil {
		return err
	}
	defer far.Close()
	leave := env.Prefs(e).Detach
	fmt.Fprintf(e.Err, "attached to %s; %s detaches\n", name, leave)
	before, err := term.MakeRaw(e.In.Fd())
	if err != nil {
		return fmt.Errorf("cannot switch this terminal to raw mode: %w", err)
	}
	at := attachment{in: e.In, out: e.Out, far: far, raw: raw, before: before,
		input:   input{scan: detach.Scanner{Key: leave}},
		title:   output.SafeLine(name) + ": " + leave.String() + " detaches",
		resized: make(chan os.Signal, 1), jobs: make(chan os.Signal, 1)}
	at.begin()
	outcome := "detached from " + name + ", which keeps running"
	defer func() {
		if err := at.end(); err != nil {
			fmt.Fprintf(e.Err, "gcity: cannot restore the terminal: %v; run `reset`\n", err)
		}
		fmt.Fprintln(e.Err, outcome)
	}()
	signal.Notify(at.resized, syscall.SIGWINCH)
	defer signal.Stop(at.resized)
	proc.NotifyJobControl(at.jobs)
	defer signal.Stop(at.jobs)
	left, err := stayAttached(ctx, e, &at, l, name)
	switch {
	case err != nil:
		outcome = "detached from " + name
	case !left:
		outcome = describe.Ended(name)
	}
	return err
}

type attachment struct {
	in      term.File
	out     io.Writer
	far     city.Terminal
	resized chan os.Signal
	jobs    chan os.Signal // SIGTSTP and SIGCONT
	input   input
	raw     bool
	title   string      // title of the terminal until the program sets one
	before  *term.State // the terminal's modes before the attachment
}

// errStop and errContinue end a connection, but not the attachment. After SIGCONT, the terminal's modes are unknown,
// because a shell has used the terminal.
var (
	errStop     = errors.New("received SIGTSTP")
	errContinue = errors.New("received SIGCONT")
)

func (t *attachment) begin() {
	// this fails only if the terminal was closed, and then copying the output fails, too
	_, _ = io.WriteString(t.out, detach.SaveModes+saveTitle+ansi.SetWindowTitle(t.title))
}

func (t *attachment) end() error {
	// an error means that the terminal was closed
	_, _ = io.WriteString(t.out, resetModes+restoreTitle)
	return term.Restore(t.in.Fd(), t.before)
}

// takeTerminal sets the terminal's modes again. If stop is true, it first stops this process until a shell continues
// it.
func (t *attachment) takeTerminal(stop bool) error {
	// a shell might have read the rest of a paste
	t.input = input{scan: detach.Scanner{Key: t.input.scan.Key}}
	if err := t.end(); err != nil {
		return fmt.Errorf("cannot restore the terminal: %w", err)
	}
	if stop {
		proc.Suspend()
	}
	if _, err := term.MakeRaw(t.in.Fd()); err != nil {
		return fmt.Errorf("cannot switch this terminal to raw mode: %w", err)
	}
	t.begin()
	return nil
}

// copy connects the terminal to the session, and reports whether the session is still running. It returns after all its
// goroutines have ended.
func (t *attachment) copy(ctx context.Context) (left bool, err error) {
	keys, err := cancelreader.NewReader(t.in)
	if err != nil {
		return true, errors.Join(err, ignoreClosed(t.far.Close()))
	}
	defer keys.Close()
	var wg sync.WaitGroup
	screen, typed := make(chan error, 1), make(chan error, 1)
	wg.Go(func() {
		_, err := io.Copy(t.out, t.far)
		screen <- err
	})
	wg.Go(func() { typed <- copyKeys(t.far, keys, &t.input) })
	left = true
wait:
	for {
		select {
		case <-ctx.Done():
			break wait
		case err = <-screen:
			left = false
			break wait
		case err = <-typed:
			break wait
		case s := <-t.jobs:
			if err = errContinue; s == syscall.SIGTSTP {
				err = errStop
			}
			break wait
		case <-t.resized:
			cols, rows, sizeErr := output.TerminalSize(t.out)
			if err = sizeErr; err == nil {
				err = t.far.Resize(cols, rows)
			}
			if err != nil {
				break wait
			}
		}
	}
	keys.Cancel()
	closed := t.far.Close()
	wg.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, cancelreader.ErrCanceled) ||
		errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return left, errors.Join(err, ignoreClosed(closed))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// input is a user's input, which can be sent over several connections.
type input struct {
	scan   detach.Scanner
	paste  detach.Paste // of the input that was sent
	unsent []byte
}

// send sends the rest of the input after first.
func (in *input) send(far io.Writer, first []byte) error {
	n, err := far.Write(append(first, in.unsent...))
	n = max(0, n-len(first))
	in.paste.Follow(in.unsent[:n])
	in.unsent = in.unsent[n:]
	return err
}

// copyKeys sends typed input to an agent. If the input stopped within a paste on an earlier connection, copyKeys sends
// the rest as another paste.
func copyKeys(far io.Writer, keys io.Reader, in *input) error {
	first := in.paste.Resume()
	if len(in.unsent) > 0 {
		if err := in.send(far, first); err != nil {
			return err
		}
		first = nil
	}
	buf := make([]byte, 4096)
	for {
		began := time.Now()
		n, err := keys.Read(buf)
		in.scan.Pause(time.Since(began))
		if first != nil && in.scan.Resume() == nil { // the end of the paste was lost
			first, in.paste = nil, detach.Paste{}
		}
		typed, left := in.scan.Feed(buf[:n])
		// bytes held at the end of a read are a complete key, such as Escape, so send them
		in.unsent = append(in.unsent, append(typed, in.scan.Flush()...)...)
		if len(in.unsent) > 0 {
			if err := in.send(far, first); err != nil {
				return err
			}
			first = nil
		}
		if left || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
