// Package shell runs "sh -c" lines and programs that can hang, print too much or leave child processes behind. It kills
// them, limits the output, and returns by a deadline.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaxOutput is the number of bytes kept from the end of a line's output.
const MaxOutput = 64 << 10

// how long a surviving process with an inherited stdout can delay the result
const pipeGrace = 2 * time.Second

const killGrace = 2 * time.Second

const sweepTimeout = 2 * time.Second

// marks a line's processes in their environment
const runPrefix = "GC_RUN="

// Line is a shell line with its settings.
type Line struct {
	Text string
	Dir  string // "" = that of this process

	// Env is the whole environment; nil = empty. Its GC_RUN must differ among concurrent lines, because Run kills every
	// process that has the same value.
	Env []string

	Split bool // also capture stdout in Result.Stdout

	// Tee receives stdout and stderr as they arrive; nil = none. Write is never called concurrently, or after Run has
	// returned. It must not block. Its errors are ignored.
	Tee io.Writer
}

// Result is the result of a line that has exited.
type Result struct {
	Code   int    // -1 = killed by a signal
	Signal string // that signal, such as "SIGSEGV"; "" = not killed
	// last MaxOutput bytes of stdout and stderr; with Line.Split, the order is approximate
	Output  []byte
	Dropped int64 // bytes dropped before Output

	Stdout        []byte // with Line.Split: the last MaxOutput bytes of stdout
	StdoutDropped int64  // bytes dropped before Stdout
}

// Run runs a line. A non-zero exit code is not an error. After an error, the Result contains the output so far.
//
// Before Run returns, it sends SIGKILL to every process in the line's process group. If Env contains GC_RUN, Run also
// waits until every process with that value has exited. It gives up two seconds after ctx has ended.
func Run(ctx context.Context, l Line) (Result, error) {
	cmd := l.command(ctx)
	out := capture{all: Tail{Max: MaxOutput}, stdout: Tail{Max: MaxOutput}, tee: l.Tee}
	pipes, err := out.connect(cmd, l)
	if err != nil {
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, err)
	}
	began := time.Now()
	err = cmd.Start()
	pipes.begun()
	if err != nil {
		pipes.finish(pipeGrace)
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, err)
	}
	exited, err := Await(ctx, cmd)
	ended := context.Cause(ctx)
	_ = killGroup(cmd.Process)
	if !exited {
		// the error below already reports that a process has not exited
		_ = sweep(last(l.Env, runPrefix), cmd.Process.Pid, time.Since(began), 0)
		pipes.finish(0)
		res := out.result()
		res.Code = -1
		err := fmt.Errorf("process %d has not exited, because it is waiting for a file "+
			"system or a device",
			cmd.Process.Pid)
		return res, fmt.Errorf("%q was killed: %w; and %w", l.Text, ended,
			errors.Join(l.folderError(pipes.said.String(), true), err))
	}
	leftErr := sweep(last(l.Env, runPrefix), cmd.Process.Pid, time.Since(began), sweepTimeout)
	pipes.finish(pipeGrace)
	res := out.result()
	res.Code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Signal = cmp.Or(unix.SignalName(ws.Signal()), ws.Signal().String())
	}
	dirErr := l.folderError(pipes.said.String(), ended != nil)
	var exit *exec.ExitError
	switch {
	case ended != nil && (dirErr != nil || leftErr != nil):
		return res, fmt.Errorf("%q was killed: %w; and %w", l.Text, ended,
			errors.Join(dirErr, leftErr))
	case ended != nil:
		return res, fmt.Errorf("%q was killed: %w", l.Text, ended)
	case dirErr != nil:
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, dirErr)
	case err != nil && !errors.As(err, &exit):
		return res, fmt.Errorf("%q: %w", l.Text, err)
	case leftErr != nil:
		return res, fmt.Errorf("%q: %w", l.Text, leftErr)
	}
	return res, nil
}

// Await waits for a command that has been started with ctx. It gives up two seconds after ctx has ended. If exited is
// false, the command might still be running, and the caller must use only cmd.Process.
func Await(ctx context.Context, cmd *exec.Cmd) (exited bool, err error) {
	result := make(chan error, 1)
	// only this goroutine can reap the process, which might never exit
	go func() { result <- cmd.Wait() }()
	select {
	case err := <-result:
		return true, err
	case <-ctx.Done():
	}
	late := time.NewTimer(killGrace)
	defer late.Stop()
	select {
	case err := <-result:
		return true, err
	case <-late.C:
		return false, nil
	}
}

// OwnGroup makes cmd start in its own process group. When the context of cmd ends, the whole group is killed.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
