package pod

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/k8s/tunnel"
	"gcity/session"
	"gcity/session/pty"
)

// provider is a pty provider that adds reasons to exits. Only the pod can determine these reasons.
type provider struct {
	*pty.Provider
	exits chan session.Exit

	mu sync.Mutex
	// names of the sessions that the helper has asked to stop, and that gcity-pod stops because the pod is terminating
	requested, terminated map[string]bool
}

// exitsKept is the capacity of the exit channel. A pod never has more exits.
const exitsKept = 16

func newProvider(p *pty.Provider) *provider {
	own := &provider{Provider: p, exits: make(chan session.Exit, exitsKept),
		requested: map[string]bool{}, terminated: map[string]bool{}}
	go func() { // runs until the provider is closed
		defer close(own.exits)
		for x := range p.Exits() {
			select {
			case own.exits <- own.explained(x):
			default: // the channel is full; List still returns the exit
			}
		}
	}()
	return own
}

// Exits implements session.Notifier.
func (p *provider) Exits() <-chan session.Exit { return p.exits }

// List implements session.Provider.
func (p *provider) List(ctx context.Context) ([]session.Status, error) {
	all, err := p.Provider.List(ctx)
	for i := range all {
		if x := all[i].Exit; x != nil {
			own := p.explained(*x)
			all[i].Exit = &own
		}
	}
	return all, err
}

// Stop implements session.Provider.
func (p *provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	p.mu.Lock()
	p.requested[name] = true
	p.mu.Unlock()
	return p.Provider.Stop(ctx, name, grace)
}

// terminate stops a session because the pod is terminating.
func (p *provider) terminate(ctx context.Context, name string, grace time.Duration) error {
	p.mu.Lock()
	p.terminated[name] = true
	p.mu.Unlock()
	return p.Provider.Stop(ctx, name, grace)
}

// explained adds a reason to an exit that gcity did not request. The cluster can terminate a pod without deleting it,
// for example in an eviction by the kubelet.
func (p *provider) explained(x session.Exit) session.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.Asked && p.terminated[x.Name] && !p.requested[x.Name] {
		x.Asked, x.Lost, x.Reason = false, true, "its pod was terminated"
	}
	return explained(x, oomKills())
}

// explained adds a reason to an exit if the kernel killed the agent because the container ran out of memory. If the
// kernel kills the whole container instead, the pod's status contains the reason.
func explained(x session.Exit, kills int) session.Exit {
	if x.Signal == "SIGKILL" && !x.Asked && x.Reason == "" && kills > 0 {
		x.Lost, x.Reason = true, "OOMKilled: the container ran out of memory"
	}
	return x
}

func oomKills() int {
	for _, file := range []string{
		"/sys/fs/cgroup/memory.events",             // cgroup v2
		"/sys/fs/cgroup/memory/memory.oom_control", // cgroup v1
	} {
		text, err := os.ReadFile(file)
		if err == nil {
			return oomKillsIn(string(text))
		}
	}
	return 0
}

func oomKillsIn(text string) int {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "oom_kill" {
			n, err := strconv.Atoi(value)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

// Start implements session.Provider. The agent's environment consists of the container's variables and the configured
// ones.
func (p *provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	s.Env = environ(os.Environ(), s.Configured())
	return p.Provider.Start(ctx, s)
}

// environ returns the agent's environment. For duplicate variables, the configured value is used.
func environ(container, configured []string) []string {
	values := map[string]string{"TERM": "xterm-256color"}
	for _, kv := range slices.Concat(container, []string{"TERM=xterm-256color"}, configured) {
		if name, value, ok := strings.Cut(kv, "="); ok {
			values[name] = value
		}
	}
	if values["PATH"] == "" {
		values["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	values["PATH"] = tunnel.Commands + ":" + values["PATH"]
	out := make([]string, 0, len(values))
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// markCity makes gcity's commands treat the folder as a city with a controller.
func markCity(city string) error {
	// gcity does not trust a folder that every user can write to. Chmod fails if root owns the volume.
	_ = os.Chmod(city, 0o755)
	f, err := os.OpenFile(filepath.Join(city, ".gc", "controller.lock"), os.O_CREATE|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
