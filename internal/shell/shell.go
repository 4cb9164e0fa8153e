// Package shell runs "sh -c" lines that may hang, flood or leave children behind, and comes back all the same: at its
// deadline, with bounded output, with everything ended that the line began.
package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// MaxOutput is how much of a line's output is kept: the last so many bytes of stdout and stderr together, and of stdout
// alone where that is asked for.
const MaxOutput = 64 << 10

// pipeGrace is how long whoever inherited stdout and could not be ended may hold up the result. A machine that is busy
// needs no grace: what the line itself has printed is in the pipe, and is read to its end.
const pipeGrace = 2 * time.Second

// Line is a shell line with its surroundings.
type Line struct {
	Text string
	Dir  string

	// Env is the whole environment; nil = none. If it names a GC_RUN, processes that left the line's process group are
	// ended with it too: every one that carries the same value. So no two lines that run at the same time may share one,
	// and nothing else that began after the line may carry it.
	Env []string

	Split bool // fill Result.Stdout
}

// Result is what a line that ran to its own end left.
type Result struct {
	Code    int    // exit code, -1 = ended by a signal
	Output  []byte // stdout and stderr, the last MaxOutput bytes, as they came; with Line.Split about in that order
	Dropped int64  // bytes before Output

	Stdout        []byte // with Line.Split: stdout alone, the last MaxOutput bytes
	StdoutDropped int64  // bytes before Stdout
}

// Run runs a line. A non-zero exit is a Result, not an error; an error means that it could not start, that ctx ended
// first, or that a process of it cannot be ended, in which cases the Result still has the output so far. Run does not
// return before everything in the line's process group has been sent its end by SIGKILL, and with a GC_RUN (see Line) not
// before everything that carries it has ended; it may take two seconds longer than ctx for that.
func Run(ctx context.Context, l Line) (Result, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", l.Text)
	cmd.Dir, cmd.Env = l.Dir, l.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	out := capture{all: tail{max: MaxOutput}, stdout: tail{max: MaxOutput}}
	pipes, err := out.connect(cmd, l.Split)
	if err != nil {
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }

	began := time.Now()
	err = cmd.Start()
	pipes.begun()
	if err != nil {
		pipes.finish()
		return Result{Code: -1}, fmt.Errorf("cannot run %q: %w", l.Text, err)
	}
	err = cmd.Wait()
	ended := context.Cause(ctx)
	killGroup(cmd.Process)
	leftErr := sweep(run(l.Env), cmd.Process.Pid, time.Since(began))
	pipes.finish()
	res := out.result()
	res.Code = cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	switch {
	case ended != nil && leftErr != nil:
		return res, fmt.Errorf("%q was ended: %w; and %w", l.Text, ended, leftErr)
	case ended != nil:
		return res, fmt.Errorf("%q was ended: %w", l.Text, ended)
	case err != nil && !errors.As(err, &exit):
		return res, fmt.Errorf("%q: %w", l.Text, err)
	case leftErr != nil:
		return res, fmt.Errorf("%q: %w", l.Text, leftErr)
	}
	return res, nil
}

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// run is the marker of a line, "GC_RUN=…"; "" if it has none. Of several the last is what a process gets.
func run(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if strings.HasPrefix(env[i], "GC_RUN=") {
			return env[i]
		}
	}
	return ""
}
