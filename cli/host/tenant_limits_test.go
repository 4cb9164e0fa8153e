package host

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"gcity/cli/folder"
	"gcity/internal/cgroup"
	"gcity/internal/eventually"
	"gcity/supervisor"
)

// Limits that cannot be enforced are reported until no tenant has such a limit.
func TestLimitsWithoutGroups(t *testing.T) {
	l := newLimiter(slog.New(slog.DiscardHandler))
	l.own = func() (*cgroup.Tree, error) { return nil, errors.New("not delegated") }
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan string, 8), make(chan struct{})
	go func() { // the deferred function below waits for this goroutine
		defer close(ended)
		l.keep(ctx, func(problem string) { told <- problem })
	}()
	defer func() { cancel(); <-ended }()
	for _, tt := range []struct {
		tenants []supervisor.Tenant
		want    string
	}{
		{[]supervisor.Tenant{{Name: "a", MaxAgents: 5}}, ""},
		{[]supervisor.Tenant{{Name: "a", MaxCPUs: 2}}, "the tenants' max_cpus and max_memory have no effect: not delegated"},
		{[]supervisor.Tenant{{Name: "a", MaxMemory: 1 << 30}}, "have no effect"},
		{nil, ""},
	} {
		folder.SendLatest(l.wants, tt.tenants)
		if got := eventually.Receive(t, "the limits", told); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: got %q, want %q", tt.tenants, got, tt.want)
		}
		if g := l.group("a"); g != "" {
			t.Errorf("a control group that does not exist: got %q", g)
		}
	}
}
