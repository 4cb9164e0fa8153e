package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxStdout is the default limit for a program's stdout in bytes.
const (
	MaxStdout = 64 << 20
	maxStderr = 4 << 10
)

// Program is a program that Call runs without a shell.
type Program struct {
	Path  string // a path, or a name that is looked up on PATH
	Args  []string
	Dir   string   // "" = that of this process
	Env   []string // nil = empty
	Stdin []byte
	// in bytes; 0 means the constant MaxStdout. A program that prints more is killed.
	MaxStdout int
}

// CallResult is the result of a program that has exited.
type CallResult struct {
	Code   int // -1 = killed by a signal
	Stdout []byte
	Stderr string // the last 4 KiB, trimmed
}

// ErrTooMuch means that a program was killed because it printed too much.
var ErrTooMuch = errors.New("the program printed more than is allowed")

// Call runs a program, and kills the rest of its process group when it exits. A non-zero exit code is not an error.
// Call may return a few seconds after ctx has ended.
func Call(ctx context.Context, p Program) (CallResult, error) {
	path, err := exec.LookPath(p.Path)
	if err != nil {
		return CallResult{Code: -1}, fmt.Errorf("cannot run %s: %w", p.Path, err)
	}
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := p.command(own, path)
	out := &bounded{most: p.MaxStdout, onFull: func() { cancel(ErrTooMuch) }}
	if out.most == 0 {
		out.most = MaxStdout
	}
	errs := &Tail{Max: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.Stdin), out, errs
	cmd.WaitDelay = pipeGrace
	if err := own.Err(); err != nil {
		return CallResult{Code: -1}, fmt.Errorf("%s was not run: %w", p.Path, context.Cause(own))
	}
	if err := cmd.Start(); err != nil {
		return CallResult{Code: -1}, fmt.Errorf("cannot run %s: %w", p.Path, err)
	}
	over, err := Await(own, cmd)
	ended := context.Cause(own)
	_ = killGroup(cmd.Process)
	if !over {
		return CallResult{Code: -1}, fmt.Errorf("%s was killed: %w; process %d has not exited, "+
			"because it is waiting for a file system or a device", p.Path, ended, cmd.Process.Pid)
	}
	got := CallResult{Code: cmd.ProcessState.ExitCode(), Stdout: out.buf.Bytes(),
		Stderr: strings.TrimSpace(string(errs.Bytes()))}
	var exit *exec.ExitError
	switch {
	case ended != nil:
		return got, fmt.Errorf("%s was killed: %w", p.Path, ended)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) &&
		!errors.Is(err, syscall.EPIPE):
		return got, fmt.Errorf("%s: %w", p.Path, err)
	}
	return got, nil
}

// see enterScript for the reason to use a shell
const execScript = `cd -P -- "$1" || exit 96
shift
exec "$@"`

// the shell's errors begin with this name
const execName = "gcity: cannot execute"

// InFolder returns a command that runs the program at path in a folder. If the folder or the program is on a hung file
// system, only the command hangs. In addition, the caller must not wait for the command without a limit; see Await.
func InFolder(ctx context.Context, dir, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh",
		append([]string{"-c", execScript, execName, dir, path}, args...)...)
	if filepath.IsAbs(dir) {
		cmd.Dir = "/"
	}
	return cmd
}

// NotExecuted reports whether a command from InFolder exited because it could not execute its program, and why. stderr
// is the output of the command.
func NotExecuted(stderr string) (why string, ok bool) {
	if why, ok = strings.CutPrefix(stderr, execName+": "); !ok {
		return "", false
	}
	why, _, _ = strings.Cut(why, "\n")
	// the text begins with the line number in execScript
	if _, rest, ok := strings.Cut(why, ": "); ok {
		why = rest
	}
	return why, true
}

func (p *Program) command(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, p.Args...)
	if p.Dir != "" {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
		cmd = InFolder(ctx, p.Dir, path, p.Args...)
	}
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	OwnGroup(cmd)
	return cmd
}

// a write over the limit fails and calls onFull
type bounded struct {
	buf    bytes.Buffer
	most   int
	onFull func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.most {
		b.onFull()
		return 0, ErrTooMuch
	}
	return b.buf.Write(p)
}
