// Package shell runs "sh -c" lines that may hang, flood or leave children behind, and comes back all the same: at its
// deadline, with bounded output, with the whole process group ended.
package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// MaxOutput is how much of a line's output is kept: the last so many bytes of stdout and stderr together.
const MaxOutput = 64 << 10

// pipeGrace is how long a child that inherited stdout may hold up the result after the shell itself has ended.
const pipeGrace = 200 * time.Millisecond

// Line is a shell line with its surroundings.
type Line struct {
	Text string
	Dir  string
	Env  []string // the whole environment; nil = none
}

// Result is what a line that ran to its own end left.
type Result struct {
	Code    int    // exit code, -1 = ended by a signal
	Output  []byte // stdout and stderr, the last MaxOutput bytes
	Dropped int64  // bytes before Output
}

// Run runs a line. A non-zero exit is a Result, not an error; an error means that it could not start, or that ctx ended
// first, in which case the Result still has the output so far. Run does not return before everything in the line's
// process group has been sent its end by SIGKILL.
func Run(ctx context.Context, l Line) (Result, error) {
	out := tail{max: MaxOutput}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", l.Text)
	cmd.Dir, cmd.Env = l.Dir, l.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = pipeGrace
	cmd.Cancel = func() error { return killGroup(cmd.Process) }

	if err := cmd.Start(); err != nil {
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, err)
	}
	err := cmd.Wait()
	killGroup(cmd.Process)
	res := Result{Code: cmd.ProcessState.ExitCode(), Output: out.bytes(), Dropped: out.dropped}
	if ctx.Err() != nil {
		return res, fmt.Errorf("%q was ended: %w", l.Text, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return res, fmt.Errorf("%q: %w", l.Text, err)
	}
	return res, nil
}

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// tail is a writer that keeps the end. exec.Cmd writes to it from one goroutine.
type tail struct {
	buf     []byte
	max     int
	dropped int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.max { // cut rarely, not at each write
		t.cut()
	}
	return len(p), nil
}

func (t *tail) cut() {
	if over := len(t.buf) - t.max; over > 0 {
		t.dropped += int64(over)
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) bytes() []byte {
	t.cut()
	return t.buf
}
