// Package shell runs "sh -c" lines that may hang, print too much or leave children behind. It returns by its
// deadline, with bounded output, after ending every process that the line started.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// MaxOutput is how much of a line's output is kept: the last so many bytes of stdout and stderr together, and of stdout
// alone where that is asked for.
const MaxOutput = 64 << 10

// pipeGrace is how long a process that inherited stdout and could not be ended may delay the result. A busy machine
// needs no extra time: the line's own output is already in the pipe and is read to its end.
const pipeGrace = 2 * time.Second

// killGrace is how long a shell that has been sent SIGKILL may take to end.
const killGrace = 2 * time.Second

// sweepTimeout limits the search for processes that left the line's process group.
const sweepTimeout = 2 * time.Second

// runPrefix begins the marker of a line.
const runPrefix = "GC_RUN="

// Line is a shell line with its surroundings.
type Line struct {
	Text string
	Dir  string // where it runs; "" = where this process does

	// Env is the whole environment; nil = none. If it names a GC_RUN, processes that left the line's process group are
	// ended with it too: every one that carries the same value. So no two lines that run at the same time may share
	// one, and nothing else that began after the line may carry it.
	Env []string

	Split bool // fill Result.Stdout

	// Tee gets stdout and stderr as they arrive, one Write at a time, from the goroutines that read them and in the
	// order of Result.Output. It gets nothing after Run has returned. It must not block, because it delays the
	// line. Its errors are ignored. It may be nil.
	Tee io.Writer
}

// Result is what a line that ran to its own end left.
type Result struct {
	Code int // exit code, -1 = ended by a signal
	// stdout and stderr, the last MaxOutput bytes, as they came; with Line.Split about in that order
	Output  []byte
	Dropped int64 // bytes before Output

	Stdout        []byte // with Line.Split: stdout alone, the last MaxOutput bytes
	StdoutDropped int64  // bytes before Stdout
}

// Run runs a line. A non-zero exit is a Result, not an error. An error means that the line could not start or enter
// its folder, that ctx ended first, or that one of its processes cannot be ended; the Result still has the output
// so far. Run returns only after every process of the line's process group has been sent SIGKILL, and with a GC_RUN
// (see Line) only after every process that carries it has ended. That may take some seconds longer than ctx.
//
// A process that waits for a file system or a device may survive SIGKILL. Two seconds after ctx, Run gives it up
// with an error. A separate goroutine collects its exit status whenever the kernel releases it.
func Run(ctx context.Context, l Line) (Result, error) {
	cmd := l.command(ctx)
	out := capture{all: tail{max: MaxOutput}, stdout: tail{max: MaxOutput}, tee: l.Tee}
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
	over, err := await(ctx, cmd)
	ended := context.Cause(ctx)
	_ = killGroup(cmd.Process)
	if !over {
		// it ends the processes that it finds; those that stay are known
		_ = sweep(last(l.Env, runPrefix), cmd.Process.Pid, time.Since(began), 0)
		pipes.finish(0)
		res := out.result()
		res.Code = -1
		err := fmt.Errorf("its process %d cannot be ended, it waits for a file system or a device",
			cmd.Process.Pid)
		return res, fmt.Errorf("%q was ended: %w; and %w", l.Text, ended,
			errors.Join(l.outside(pipes.said.String(), true), err))
	}
	leftErr := sweep(last(l.Env, runPrefix), cmd.Process.Pid, time.Since(began), sweepTimeout)
	pipes.finish(pipeGrace)
	res := out.result()
	res.Code = cmd.ProcessState.ExitCode()
	dirErr := l.outside(pipes.said.String(), ended != nil)
	var exit *exec.ExitError
	switch {
	case ended != nil && (dirErr != nil || leftErr != nil):
		return res, fmt.Errorf("%q was ended: %w; and %w", l.Text, ended,
			errors.Join(dirErr, leftErr))
	case ended != nil:
		return res, fmt.Errorf("%q was ended: %w", l.Text, ended)
	case dirErr != nil:
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, dirErr)
	case err != nil && !errors.As(err, &exit):
		return res, fmt.Errorf("%q: %w", l.Text, err)
	case leftErr != nil:
		return res, fmt.Errorf("%q: %w", l.Text, leftErr)
	}
	return res, nil
}

// await waits for the end of a command, at most killGrace longer than ctx. If it is not over then, nothing of it
// but its process may be looked at any more.
func await(ctx context.Context, cmd *exec.Cmd) (over bool, err error) {
	result := make(chan error, 1)
	// only this goroutine can collect the exit status, which may never come
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

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
