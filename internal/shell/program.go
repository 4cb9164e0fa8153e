package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxAnswer is how much a program may print to stdout where nothing else is said, and maxComplaint what is kept of its
// stderr, in bytes.
const (
	MaxAnswer    = 64 << 20
	maxComplaint = 4 << 10
)

// Program is a program that is called with arguments, without a shell that would read them.
type Program struct {
	Path  string // a name to be looked for in the PATH of this process, or a path
	Args  []string
	Dir   string   // where it runs; "" = where this process does
	Env   []string // the whole environment; nil = none
	Stdin []byte
	Most  int // bytes of stdout; more is an error. 0 = MaxAnswer
}

// Answer is what a program that ran to its own end left.
type Answer struct {
	Code   int // exit code, -1 = ended by a signal
	Stdout []byte
	Stderr string // the end of it, trimmed
}

// ErrTooMuch means that a program printed more than it may. It has been ended.
var ErrTooMuch = errors.New("it printed more than is taken from it")

// Call runs a program and its whole process group to the end. A non-zero exit is an Answer, not an error; an error
// means that it could not start (exec.ErrNotFound, fs.ErrNotExist and their like are wrapped), that it printed too
// much, or that ctx ended first. It may take some seconds longer than ctx, as Run.
func Call(ctx context.Context, p Program) (Answer, error) {
	path, err := exec.LookPath(p.Path)
	if err != nil {
		return Answer{Code: -1}, fmt.Errorf("cannot run %s: %w", p.Path, err)
	}
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := p.command(own, path)
	out := &bounded{most: p.Most, full: func() { cancel(ErrTooMuch) }}
	if out.most == 0 {
		out.most = MaxAnswer
	}
	errs := tail{max: maxComplaint}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.Stdin), out, (*complaint)(&errs)
	cmd.WaitDelay = pipeGrace
	if err := own.Err(); err != nil {
		return Answer{Code: -1}, fmt.Errorf("%s was not run: %w", p.Path, context.Cause(own))
	}
	if err := cmd.Start(); err != nil {
		return Answer{Code: -1}, fmt.Errorf("cannot run %s: %w", p.Path, err)
	}
	over, err := await(own, cmd)
	ended := context.Cause(own)
	_ = killGroup(cmd.Process)
	if !over {
		return Answer{Code: -1}, fmt.Errorf("%s was ended: %w; and its process %d cannot be "+
			"ended, it waits for a file system or a device", p.Path, ended, cmd.Process.Pid)
	}
	got := Answer{Code: cmd.ProcessState.ExitCode(), Stdout: out.buf.Bytes(),
		Stderr: strings.TrimSpace(string(errs.bytes()))}
	var exit *exec.ExitError
	switch {
	case ended != nil:
		return got, fmt.Errorf("%s was ended: %w", p.Path, ended)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) &&
		!errors.Is(err, syscall.EPIPE):
		return got, fmt.Errorf("%s: %w", p.Path, err)
	}
	return got, nil
}

// come brings a program into its folder ($1), for the reason that enter has. It reads nothing else of what it is given.
const come = `cd -P -- "$1" || exit 96
shift
exec "$@"`

func (p *Program) command(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, p.Args...)
	if p.Dir != "" {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
		cmd = exec.CommandContext(ctx, "/bin/sh",
			append([]string{"-c", come, "/bin/sh", p.Dir, path}, p.Args...)...)
	}
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	return cmd
}

// bounded keeps what is written up to a limit, and says once that it is full.
type bounded struct {
	buf  bytes.Buffer
	most int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.most {
		b.full()
		return 0, ErrTooMuch
	}
	return b.buf.Write(p)
}

// complaint is the end of a program's stderr.
type complaint tail

func (c *complaint) Write(p []byte) (int, error) {
	(*tail)(c).write(p)
	return len(p), nil
}

var (
	_ io.Writer = (*bounded)(nil)
	_ io.Writer = (*complaint)(nil)
)
