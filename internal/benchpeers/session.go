package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startLimit   = 90 * time.Second
	replaceLimit = 3 * time.Second
	commandLimit = 30 * time.Second
	stopLimit    = 30 * time.Second
)

type birth struct {
	agent string
	pid   int
	at    time.Time
}

type session struct {
	peer   peer
	site   *site
	group  *group
	cmd    *exec.Cmd
	ended  chan struct{}
	fifo   *os.File
	births chan birth
	pids   map[string]int
	missed map[string]bool
	wg     sync.WaitGroup

	wall, cpu time.Duration // duration and CPU time of the start
}

// open starts a manager with n agents. The caller must close the session.
func (b *benchmark) open(ctx context.Context, p peer, n int, work string) (*session, error) {
	b.opened++
	s := &session{
		peer: p, pids: map[string]int{}, missed: map[string]bool{},
		births: make(chan birth, 2*n+16), ended: make(chan struct{}),
	}
	var err error
	if s.site, err = newSite(b.dir, n, work); err != nil {
		return nil, err
	}
	if s.group, err = b.groups.create(p.name + "-" + strconv.Itoa(b.opened)); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start: %w%s", err, s.lastOutput()), s.close())
	}
	return s, nil
}

func (s *session) start(ctx context.Context) error {
	if err := s.peer.configure(s.site); err != nil {
		return err
	}
	var err error
	if s.fifo, err = os.OpenFile(s.site.path("births"), os.O_RDWR, 0); err != nil {
		return err
	}
	s.wg.Go(s.listen)
	log, err := os.Create(s.site.path("output"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.peer.program, s.peer.run(s.site)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.site.dir, s.site.env(), log, log
	begun := time.Now()
	if err := s.group.start(cmd); err != nil {
		return err
	}
	s.cmd, s.site.pid = cmd, cmd.Process.Pid
	s.wg.Go(func() { _ = cmd.Wait(); close(s.ended) })
	if err := s.wake(ctx); err != nil {
		return err
	}
	last, err := s.await(ctx, len(s.site.names), startLimit)
	if err != nil {
		return err
	}
	s.wall = last.at.Sub(begun)
	s.cpu, err = s.group.cpu()
	return err
}

func (s *session) wake(ctx context.Context) error {
	if s.peer.wake == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	for {
		_, _, err := s.command(ctx, s.peer.wake(s.site))
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *session) listen() {
	for lines := bufio.NewScanner(s.fifo); lines.Scan(); {
		now := time.Now()
		name, pid, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.Atoi(pid); err == nil {
			select {
			case s.births <- birth{name, n, now}:
			default: // the channel is full; without this report, await fails
			}
		}
	}
}

func (s *session) await(ctx context.Context, n int, limit time.Duration) (last birth, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for i := range n {
		select {
		case last = <-s.births:
			s.pids[last.agent] = last.pid
		case <-s.ended:
			return last, errors.New("the manager has exited")
		case <-ctx.Done():
			return last, fmt.Errorf("%d of %d agents have started: %w", i, n, context.Cause(ctx))
		}
	}
	return last, nil
}

var errMissed = fmt.Errorf("not replaced within %s", replaceLimit)

func (s *session) replace(ctx context.Context, name string) (time.Duration, error) {
	killed := time.Now()
	if err := syscall.Kill(s.pids[name], syscall.SIGKILL); err != nil {
		return 0, fmt.Errorf("kill %s: %w", name, err)
	}
	for {
		b, err := s.await(ctx, 1, replaceLimit-time.Since(killed))
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return 0, errMissed
		case err != nil:
			return 0, err
		case b.agent == name:
			delete(s.missed, name)
			return b.at.Sub(killed), nil
		case !s.missed[b.agent]:
			return 0, fmt.Errorf("%s started when %s was killed", b.agent, name)
		}
	}
}

// command runs a command of the manager, outside the control group.
func (s *session) command(ctx context.Context, args []string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	if !filepath.IsAbs(args[0]) {
		args = append([]string{s.peer.program}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.site.dir, s.site.env()
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begun)
	if err != nil {
		err = fmt.Errorf("%s: %w: %.300s", strings.Join(args[:min(3, len(args))], " "), err, out)
	}
	return string(out), took, err
}

func (s *session) stop(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	begun := time.Now()
	if _, _, err := s.command(ctx, s.peer.stop(s.site)); err != nil {
		return 0, err
	}
	err := s.group.waitEmpty(ctx)
	return time.Since(begun), err
}

// memory returns the PSS of the manager's main process, and of all its processes except the agents, in MiB.
func (s *session) memory() (manager, all float64) {
	agents := map[int]bool{}
	for _, pid := range s.pids {
		agents[pid] = true
	}
	for _, pid := range s.group.pids() {
		kib, err := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
		if agents[pid] || err != nil { // an error means that the process has just exited
			continue
		}
		all += float64(kib) / 1024
		if pid == s.site.pid {
			manager = float64(kib) / 1024
		}
	}
	return manager, all
}

func (s *session) lastOutput() string {
	data, err := os.ReadFile(s.site.path("output"))
	if err != nil || len(data) == 0 {
		return ""
	}
	return "\n" + string(data[max(0, len(data)-500):])
}

// close keeps the site's files, because ext4 without a journal creates files more slowly for minutes after files were
// deleted.
func (s *session) close() error {
	err := s.group.remove()
	if s.fifo != nil {
		s.fifo.Close()
	}
	s.wg.Wait()
	return err
}
