package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"gcity/internal/cgroup"
	"gcity/supervisor"
)

type limiter struct {
	wants chan []supervisor.Tenant
	log   *slog.Logger
	own   func() (*cgroup.Tree, error)

	mu     sync.Mutex
	groups map[string]string // path of the control group, by tenant
}

func newLimiter(log *slog.Logger) *limiter {
	return &limiter{wants: make(chan []supervisor.Tenant, 1), log: log, own: cgroup.Own}
}

func (l *limiter) group(tenant string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.groups[tenant]
}

func (l *limiter) keep(ctx context.Context, report func(problem string)) {
	var tree *cgroup.Tree
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case tenants := <-l.wants:
			problem := ""
			if err := l.apply(&tree, tenants); err != nil {
				problem = fmt.Sprintf("the tenants' max_cpus and max_memory have no effect: %v",
					err)
			}
			if problem != "" && problem != last {
				l.log.Warn(problem)
			}
			last = problem
			report(problem)
		}
	}
}

func (l *limiter) apply(tree **cgroup.Tree, tenants []supervisor.Tenant) error {
	groups := map[string]string{}
	var failed error
	for i := range tenants {
		t := &tenants[i]
		if t.MaxCPUs == 0 && t.MaxMemory == 0 && l.group(t.Name) == "" {
			continue
		}
		if *tree == nil {
			var err error
			if *tree, err = l.own(); err != nil {
				*tree, failed = nil, err
				break
			}
		}
		dir, err := (*tree).Set("tenant-"+t.Name,
			cgroup.Limits{CPUs: t.MaxCPUs, Memory: t.MaxMemory})
		if failed = errors.Join(failed, err); err == nil {
			groups[t.Name] = dir
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups = groups
	return failed
}
