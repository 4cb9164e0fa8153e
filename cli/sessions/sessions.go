package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/agent"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/controller/preflight"
	"gcity/internal/disk"
	"gcity/internal/ownership"
	"gcity/session"
	"gcity/session/fake"
	"gcity/session/mixed"
	"gcity/session/plugin"
	"gcity/session/pty"
	"gcity/session/pty/holdbin"
	"gcity/session/script"
	"gcity/session/subprocess"
	"gcity/session/tmux"
	"gcity/trust"
)

// OpenSessions opens the session providers of a city's agents and of earlier sessions. A caller without the city's lock
// must set Observe. The caller must call the returned function to close the providers.
func OpenSessions(o SessionOptions) (session.Provider, func(), error) {
	o.At = cmp.Or(o.At, o.Dir)
	h := opener{SessionOptions: o}
	p, err := mixed.New(mixed.Options{
		Dir: folder.StateDir(h.At), DefaultProvider: "pty", Open: h.open, FindProviders: h.survey,
		Observe: h.Observe, Logger: h.Logger, Broken: h.Broken,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() { p.Close(); h.clearUp() }, nil
}

// ObserveSessions opens a city's session providers for a caller that does not hold the city's lock.
func ObserveSessions(dir string, grant trust.Grant) (session.Provider, func(), error) {
	return OpenSessions(SessionOptions{Dir: dir, Grant: grant, Observe: true,
		Logger: folder.QuietLogger()})
}

func (h *opener) clearUp() {
	if h.Observe || h.tmux.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	folder.LogError(h.Logger, "cannot stop the tmux server of earlier sessions",
		tmux.Dismiss(ctx, h.Dir))
}

// SessionOptions are the options for opening a city's sessions.
type SessionOptions struct {
	Dir     string
	At      string      // a path to Dir that stays valid if the folder is moved; "" for Dir itself
	Grant   trust.Grant // permission to run provider scripts
	Observe bool        // the caller does not hold the city's lock
	Logger  *slog.Logger
	Broken  func(error) // receives panics from goroutines; if nil, a panic ends the program
	// Group returns the control group for sessions; nil or "" means this process's own
	Group func() string
}

type opener struct {
	SessionOptions
	tmux atomic.Bool // the tmux provider is open
}

func (h *opener) survey() []string {
	names := []string{}
	if c := folder.SourceOf(h.Dir).LoadPartial(); c != nil {
		for i := range c.Agents {
			if name := c.ProviderOf(&c.Agents[i]); name != "" {
				names = append(names, name)
			}
		}
	}
	if _, err := disk.Lstat(filepath.Join(folder.StateDir(h.At), "processes")); err == nil {
		names = append(names, "subprocess")
	}
	if tmux.Used(h.At) {
		names = append(names, "tmux")
	}
	return names
}

func (h *opener) open(name string) (session.Provider, func(), error) {
	switch name {
	case "pty":
		return h.pty()
	case "subprocess":
		return h.subprocess()
	case "tmux":
		p, closeIt, err := h.openTmux()
		if err == nil {
			h.tmux.Store(true)
		}
		return p, closeIt, err
	case "fake":
		return fake.NewConfigured(), func() {}, nil
	case "fail":
		return fake.Refuser{
				Why: `the session provider "fail" makes every start fail; it is only for testing`},
			func() {},
			nil
	case "k8s":
		return h.kubernetes()
	}
	if kind, program, ok := session.External(name); ok {
		return h.external(name, externalProgram{kind, program, program}, nil)
	}
	return nil, nil, fmt.Errorf("unknown session provider %q", name)
}

func (h *opener) pty() (session.Provider, func(), error) {
	exe, err := h.holder()
	if err != nil {
		return nil, nil, err
	}
	p, err := pty.New(pty.Options{
		City: h.Dir, At: h.At, Binary: exe, Image: holdbin.Image(), Observe: h.Observe,
		Logger: h.Logger, Broken: h.Broken, Group: h.Group,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {
		folder.LogError(h.Logger, "cannot release the sessions", p.Close())
	}, nil
}

func (h *opener) subprocess() (session.Provider, func(), error) {
	exe, err := h.holder()
	if err != nil {
		return nil, nil, err
	}
	p, err := subprocess.New(subprocess.Options{
		City: h.Dir, At: h.At, Binary: exe, Image: holdbin.Image(), Observe: h.Observe,
		Logger: h.Logger, Broken: h.Broken, Group: h.Group,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {
		folder.LogError(h.Logger, "cannot release the processes", p.Close())
	}, nil
}

// externalProgram is the program of a session provider.
type externalProgram struct {
	kind string // session.Script or session.Plugin
	path string
	line string // the command line that the user trusts
}

func (h *opener) external(name string, program externalProgram, settings json.RawMessage) (
	session.Provider, func(), error) {
	err, path := workstore.Unopened(h.Grant.Err()), ""
	if err == nil {
		path, err = h.find(name, program.path)
	}
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256([]byte(name))
	under := hex.EncodeToString(sum[:6])
	mayRun := func(ctx context.Context) error { return h.Grant.ErrOf(ctx, program.line) }
	if program.kind == session.Plugin {
		p, err := plugin.New(plugin.Options{
			Program: path, City: h.Dir,
			Dir:      filepath.Join(folder.StateDir(h.Dir), "plugins", under),
			Settings: settings, MayRun: mayRun,
			Environ: os.Environ(), Observe: h.Observe, Logger: h.Logger, Broken: h.Broken,
		})
		if err != nil {
			return nil, nil, err
		}
		return p, p.Close, nil
	}
	p, err := script.New(script.Options{
		City: h.Dir, Script: path, Dir: filepath.Join(folder.StateDir(h.Dir), "scripts", under),
		Environ: os.Environ(), MayRun: mayRun, Observe: h.Observe, Logger: h.Logger,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {}, nil
}

func (h *opener) find(name, path string) (string, error) {
	var err error
	switch {
	case filepath.IsAbs(path):
	case strings.ContainsRune(path, '/'):
		path = filepath.Join(h.Dir, path)
	default:
		if path, err = exec.LookPath(path); err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return "", fmt.Errorf("the program of the session provider %q is not on PATH: "+
				"%w; install it, or set its full path", name, err)
		}
	}
	return path, ownership.Check(path)
}

func (h *opener) holder() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot determine the path of this program, which gcity runs to "+
			"hold each session: %w", err)
	}
	return exe, nil
}

// EndLimit is the time for listing and stopping sessions, in addition to the agents' time between interrupt and kill.
const EndLimit = 30 * time.Second

// EndSessions stops sessions concurrently, within grace plus EndLimit. The error names every session that might still
// be running.
func EndSessions(ctx context.Context, p session.Provider, these []session.Status,
	grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+EndLimit)
	defer cancel()
	errs := make([]error, len(these))
	var g errgroup.Group
	g.SetLimit(32)
	for i, st := range these {
		g.Go(func() error {
			if err := p.Stop(ctx, st.Name, grace); err != nil {
				errs[i] = fmt.Errorf("cannot stop agent %q%s: %w", st.Agent,
					output.InBrackets(st.PID), session.ForAgent(err, st.Name, st.Agent))
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return nil; their errors are in errs
	return errors.Join(errs...)
}

// Vetter returns a function that says why a session provider cannot start any agent, or "". It checks each provider
// only once.
func Vetter(ctx context.Context, p session.Provider, slow env.Slowly) func(provider string) string {
	known := map[string]string{}
	return func(provider string) string {
		if why, checked := known[provider]; checked {
			return why
		}
		known[provider] = ""
		if err := VetProvider(ctx, p, provider, slow); err != nil {
			known[provider] = err.Error()
		}
		return known[provider]
	}
}

// Preflight returns a function that says why an agent cannot start, or "" if no reason is known.
func Preflight(ctx context.Context, p session.Provider, all []agent.Want,
	vet func(provider string) string) func(*agent.Want) string {
	checker, found := preflight.New(p), make([]error, len(all))
	var checks sync.WaitGroup
	for i := range all {
		checks.Go(func() { found[i] = checker.Check(ctx, &all[i]) })
	}
	checks.Wait()
	why := map[string]string{}
	for i, err := range found {
		if err != nil {
			why[all[i].Name] = err.Error()
		}
	}
	return func(w *agent.Want) string {
		if text := why[w.Name]; text != "" {
			return text
		}
		return vet(w.Spec.Provider)
	}
}

// VetProvider returns an error if the named session provider cannot start any agent.
func VetProvider(ctx context.Context, p session.Provider, name string, slow env.Slowly) error {
	m, ok := p.(session.MultiProvider)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, session.CheckLimit)
	defer cancel()
	if slow != nil {
		defer slow(ctx, name+" to check whether it can start agents", session.CheckLimit)()
	}
	return m.CheckOf(ctx, name)
}
