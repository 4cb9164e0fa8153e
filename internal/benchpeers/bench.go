package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const idleCommand = "sleep 1000000"

// startSettle is the pause before the first measurement. It is needed because runit delays the restart of new services.
const startSettle = 1500 * time.Millisecond

const idleSettle = 5 * time.Second

// between is the pause between two kills, so that each replacement is measured separately.
const between = 50 * time.Millisecond

type benchmark struct {
	options
	dir    string
	groups *groups
	opened int
	self   string
	faults []string
}

func bench(ctx context.Context, o options) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	found, missing, err := choose(peers(o.gcity, self), o.peers)
	if err != nil {
		return err
	}
	for _, name := range missing {
		fmt.Fprintf(o.log, "%s is not installed: skipped\n", name)
	}
	b := &benchmark{options: o, self: self}
	if b.groups, err = newGroups(); err != nil {
		return err
	}
	defer b.groups.remove()
	if b.dir, err = os.MkdirTemp("", groupPrefix); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	begun := time.Now()
	fmt.Fprintf(o.out, "%s\n", machine(begun))
	for _, n := range o.sizes {
		t := newTable(names(found))
		b.size(ctx, t, found, n)
		forks := b.idle(ctx, t, found, n)
		fmt.Fprintf(o.out, "\n### %d agents\n\n%s\n", n, t.markdown())
		const text = "All managers were idle at the same time. Meanwhile the machine created %s " +
			"processes and threads per minute.\n"
		fmt.Fprintf(o.out, text, cell(forks))
	}
	b.load(ctx, found)
	for _, fault := range b.faults {
		fmt.Fprintf(o.out, "\nfailed: %s\n", fault)
	}
	fmt.Fprintf(o.log, "took %s\n", time.Since(begun).Round(time.Second))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (b *benchmark) size(ctx context.Context, t *table, found []peer, n int) {
	for run := range b.runs {
		for _, p := range found {
			if ctx.Err() != nil {
				return
			}
			fmt.Fprintf(b.log, "%d agents, run %d of %d: %s\n", n, run+1, b.runs, p.name)
			b.note(p, n, b.active(ctx, t, p, n))
		}
	}
}

func (b *benchmark) load(ctx context.Context, found []peer) {
	t := newTable(names(found))
	for run := range b.runs {
		for _, p := range found {
			if b.noisy == 0 || ctx.Err() != nil {
				return
			}
			const text = "%d agents with output, run %d of %d: %s\n"
			fmt.Fprintf(b.log, text, b.noisy, run+1, b.runs, p.name)
			b.note(p, b.noisy, b.peeks(ctx, t, p))
		}
	}
	fmt.Fprintf(b.out, "\n### %d agents that print 200 lines per second\n\n%s", b.noisy,
		t.markdown())
}

func (b *benchmark) note(p peer, n int, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		b.faults = append(b.faults, fmt.Sprintf("%s with %d agents: %v", p.name, n, err))
	}
}

func (b *benchmark) active(ctx context.Context, t *table, p peer, n int) (err error) {
	s, err := b.open(ctx, p, n, idleCommand)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	t.add("start all, s", p.name, s.wall.Seconds())
	t.add("start all, CPU s", p.name, s.cpu.Seconds())
	if err := b.settle(ctx, startSettle); err != nil {
		return err
	}
	took, err := b.replacements(ctx, s)
	if len(took) > 0 {
		t.add("kill -9 to replacement, median ms", p.name, median(took))
		t.add("kill -9 to replacement, p99 ms", p.name, quantile(took, 0.99))
		t.add("kill -9 to replacement, max ms", p.name, quantile(took, 1))
	}
	if err != nil {
		return err
	}
	if err := b.status(ctx, t, s); err != nil {
		return err
	}
	return b.stopAll(ctx, t, s)
}

// replacements kills agents and returns how long each replacement took, in ms.
func (b *benchmark) replacements(ctx context.Context, s *session) ([]float64, error) {
	var took []float64
	n := len(s.site.names)
	kills := min(b.kills, n)
	for i, begun := 0, time.Now(); i < kills && time.Since(begun) < b.killFor; i++ {
		name := s.site.names[i*n/kills]
		d, err := s.replace(ctx, name)
		switch {
		case errors.Is(err, errMissed):
			s.missed[name] = true
			b.note(s.peer, n, fmt.Errorf("%s: %w", name, err))
		case err != nil:
			return took, fmt.Errorf("replacement: %w", err)
		default:
			took = append(took, ms(d))
		}
		if err := pause(ctx, between); err != nil {
			return took, err
		}
	}
	return took, nil
}

func (b *benchmark) settle(ctx context.Context, d time.Duration) error {
	if b.options.hurry {
		return context.Cause(ctx)
	}
	return pause(ctx, d)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func names(found []peer) []string {
	var all []string
	for _, p := range found {
		all = append(all, p.name)
	}
	return all
}

func machine(now time.Time) string {
	cpus, _ := os.ReadFile("/proc/cpuinfo")
	model, _, _ := strings.Cut(after(string(cpus), "model name"), "\n")
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("Measured on %s: %d cores (%s), Linux %s.",
		now.Format(time.DateOnly), strings.Count(string(cpus), "processor\t:"),
		strings.Trim(model, ":\t "), strings.TrimSpace(string(release)))
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
