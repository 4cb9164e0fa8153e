package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	statusCalls = 7
	peekCalls   = 20
	peekEvery   = 100 * time.Millisecond
)

func (b *benchmark) status(ctx context.Context, t *table, s *session) error {
	if s.peer.status == nil {
		return nil
	}
	var took []float64
	for range statusCalls {
		_, d, err := s.command(ctx, s.peer.status(s.site))
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
		took = append(took, ms(d))
	}
	t.add("status of all, ms", s.peer.name, median(took))
	return nil
}

func (b *benchmark) stopAll(ctx context.Context, t *table, s *session) error {
	if s.peer.stop == nil {
		return nil
	}
	took, err := s.stop(ctx)
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	t.add("stop all, s", s.peer.name, took.Seconds())
	return nil
}

// idle measures processor time for each manager, but new processes only for the whole machine.
func (b *benchmark) idle(ctx context.Context, t *table, found []peer, n int) (forks []float64) {
	var all []*session
	for _, p := range found {
		fmt.Fprintf(b.log, "%d agents, idle: %s\n", n, p.name)
		s, err := b.open(ctx, p, n, idleCommand)
		if err != nil {
			b.note(p, n, err)
			continue
		}
		defer func() { b.note(p, n, s.close()) }()
		all = append(all, s)
	}
	if b.settle(ctx, idleSettle) != nil {
		return nil
	}
	for range b.runs {
		begun, forked := cpuOf(all), machineForks()
		if pause(ctx, b.options.idle) != nil {
			return forks
		}
		perMinute := time.Minute.Seconds() / b.options.idle.Seconds()
		for i, used := range cpuOf(all) {
			t.add("idle, CPU s per minute", all[i].peer.name, (used-begun[i]).Seconds()*perMinute)
		}
		forks = append(forks, float64(machineForks()-forked)*perMinute)
	}
	for _, s := range all {
		manager, sum := s.memory()
		t.add("memory of all processes except the agents, PSS in MiB", s.peer.name, sum)
		t.add("memory of the main process, PSS in MiB", s.peer.name, manager)
	}
	return forks
}

func cpuOf(all []*session) []time.Duration {
	var used []time.Duration
	for _, s := range all {
		// if this fails, the group is unusable, and close returns an error
		d, _ := s.group.cpu()
		used = append(used, d)
	}
	return used
}

func machineForks() int64 {
	n, _ := field("/proc/stat", "processes") // /proc/stat always has this line
	return n
}

// peeks measures peeks while all agents print 200 lines per second.
func (b *benchmark) peeks(ctx context.Context, t *table, p peer) (err error) {
	s, err := b.open(ctx, p, b.noisy, b.self+" noise")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := b.settle(ctx, startSettle); err != nil {
		return err
	}
	var took []float64
	used, err := s.group.cpu()
	begun := time.Now()
	for i := 0; i < peekCalls && err == nil; i++ {
		if err := pause(ctx, peekEvery); err != nil {
			return err
		}
		if p.peek == nil {
			continue
		}
		out, d, failed := s.command(ctx, p.peek(s.site, i%b.noisy))
		if failed == nil && !strings.Contains(out, noiseText) {
			failed = fmt.Errorf("no line from the agent in %.300q", out)
		}
		took, err = append(took, ms(d)), failed
	}
	if err != nil {
		return fmt.Errorf("peek: %w", err)
	}
	if len(took) > 0 {
		t.add("peek, median ms", p.name, median(took))
		t.add("peek, max ms", p.name, quantile(took, 1))
	}
	elapsed := time.Since(begun).Seconds()
	now, err := s.group.cpu()
	t.add("CPU of manager and agents, cores", p.name, (now-used).Seconds()/elapsed)
	return err
}
