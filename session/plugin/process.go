package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gcity/internal/deadline"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/session/protocol"
)

// File descriptors 0 to 2 are the standard streams.
const inheritedFD = 3

// keep runs the helper until ctx ends, and restarts it after each exit. It closes started when the first start has
// succeeded or failed.
func (p *Provider) keep(ctx context.Context, started chan struct{}) {
	wait := retryFirst
	for {
		began := time.Now()
		err := p.run(ctx, func(group int) {
			p.setUp(group)
			if started != nil {
				close(started)
				started = nil
			}
		})
		if time.Since(began) > healthy {
			wait = retryFirst
		}
		p.setDown(err, wait)
		if started != nil {
			close(started)
			started = nil
		}
		if ctx.Err() != nil {
			return
		}
		p.o.Logger.Warn("a session helper exited; restarting it",
			"helper", p.o.Program, "error", err, "retry_in", wait)
		if !deadline.Pause(ctx, wait) {
			return
		}
		wait = min(2*wait, retryLast)
	}
}

func (p *Provider) setUp(group int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.group = nil, group
}

func (p *Provider) setDown(err error, wait time.Duration) {
	p.mu.Lock()
	p.down, p.group, p.retry = err, 0, time.Now().Add(wait)
	p.exits++
	client := p.Client
	p.mu.Unlock()
	if client != nil {
		client.Lost()
	}
}

func (p *Provider) run(ctx context.Context, onStart func(group int)) error {
	if err := executable(p.o.Program); err != nil {
		return fmt.Errorf("cannot start the helper: %w", err)
	}
	if p.o.MayRun != nil {
		if err := p.o.MayRun(ctx); err != nil {
			return fmt.Errorf("cannot start the helper: %w", err)
		}
	}
	// p.end stops the helper when ctx ends
	cmd := shell.InFolder(context.WithoutCancel(ctx), p.o.City, p.o.Program)
	socket := fmt.Sprintf("%s=%d", protocol.SocketEnv, inheritedFD)
	cmd.Env = append(shell.ScriptEnv(p.o.Environ), socket)
	cmd.ExtraFiles = []*os.File{p.listener}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	outputLog, pipe := newOutputLog(p), (*io.PipeWriter)(nil)
	outputLog.in, pipe = io.Pipe()
	cmd.Stdout, cmd.Stderr = pipe, pipe
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start the helper: %w", err)
	}
	onStart(cmd.Process.Pid)
	done := make(chan struct{})
	p.wg.Go(outputLog.follow)
	killed, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	p.wg.Go(func() {
		p.end(ctx, cmd.Process.Pid, stdin, done)
		kill()
	})
	exited, err := shell.Await(killed, cmd)
	close(done)
	pipe.Close()
	<-outputLog.over
	if !exited {
		return fmt.Errorf("the helper was killed, but process %d has not exited, because it is "+
			"waiting for a file system or a device", cmd.Process.Pid)
	}
	if why, ok := shell.NotExecuted(outputLog.last); ok {
		return fmt.Errorf("cannot start the helper: %s", why)
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay), err == nil:
		err = errors.New("the helper exited")
	default:
		err = fmt.Errorf("the helper exited: %s",
			strings.Replace(err.Error(), "exit status", "exit code", 1))
	}
	if outputLog.last != "" {
		err = fmt.Errorf("%w: %s", err, outputLog.last)
	}
	return err
}

func (p *Provider) end(ctx context.Context, pid int, stdin io.Closer, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	stdin.Close()
	select {
	case <-done:
	case <-time.After(leaveLimit):
		_ = syscall.Kill(-pid, syscall.SIGKILL) // fails if the helper has just exited
	}
}

type outputLog struct {
	p    *Provider
	in   io.Reader
	last string
	over chan struct{}
}

func newOutputLog(p *Provider) *outputLog { return &outputLog{p: p, over: make(chan struct{})} }

// in bytes
const maxLine = 4 << 10

func (s *outputLog) follow() {
	defer close(s.over)
	in := bufio.NewReaderSize(s.in, maxLine)
	for {
		line, more, err := in.ReadLine()
		if text := screen.Plain(string(line)); text != "" {
			s.last = text
			s.p.o.Logger.Info("session helper", "helper", s.p.o.Program, "says", text)
		}
		for more && err == nil {
			_, more, err = in.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
