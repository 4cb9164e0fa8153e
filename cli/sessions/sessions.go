package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
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

// OpenSessions opens what runs a city's sessions: each agent's own provider, and all that hold sessions of an earlier
// controller. Who has not got the city's lock only observes.
func OpenSessions(o SessionOptions) (session.Provider, func(), error) {
	o.At = cmp.Or(o.At, o.Dir)
	h := sessionHouse{SessionOptions: o}
	p, err := mixed.New(mixed.Options{
		Dir: folder.StateDir(h.At), Home: "pty", Open: h.open, Survey: h.survey, Observe: h.Observe,
		Logger: h.Logger, Broken: h.Broken,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() { p.Close(); h.clearUp() }, nil
}

// clearUp lets go of what an earlier controller left running for sessions that it had, and did not come to end.
func (h *sessionHouse) clearUp() {
	if h.Observe || h.tmux {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	folder.LogError(h.Logger, "the tmux server of earlier sessions stays", tmux.Dismiss(ctx, h.Dir))
}

// SessionOptions says how the sessions of a city are opened.
type SessionOptions struct {
	Dir     string
	At      string      // a path that leads to dir wherever it is moved; "" = dir
	Grant   trust.Grant // of the scripts among the providers
	Observe bool        // without the city's lock
	Logger  *slog.Logger
	Broken  func(error) // hears of panics in goroutines; nil: the program ends with them
	// the control group in which sessions start, "" for this process's own; nil: always its own
	Group func() string
}

// sessionHouse opens the session providers of a city.
type sessionHouse struct {
	SessionOptions
	tmux bool // it was opened, and sees to its server itself
}

// survey names the session providers that may hold sessions of the city: those of the configuration, and those that
// have a folder there.
func (h *sessionHouse) survey() []string {
	names := []string{}
	if c := folder.SourceOf(h.Dir).Legible(); c != nil {
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

// open opens a provider by the name that a configuration gives it.
func (h *sessionHouse) open(name string) (session.Provider, func(), error) {
	switch name {
	case "pty":
		return h.pty()
	case "subprocess":
		return h.subprocess()
	case "tmux":
		p, closeIt, err := h.openTmux()
		h.tmux = h.tmux || err == nil
		return p, closeIt, err
	case "fake":
		return fake.NewDrill(), func() {}, nil
	case "fail":
		return fake.Refuser{
				Why: `the session provider "fail" refuses every start, as it is meant to`},
			func() {},
			nil
	case "k8s":
		return fake.Refuser{
				Why: `the session provider "k8s" is not built yet: ` +
					`write "plugin:gcity-session-k8s"`},
			func() {}, nil
	}
	if kind, program, ok := session.External(name); ok {
		return h.external(name, kind, program)
	}
	return nil, nil, fmt.Errorf("there is no session provider %q in this version", name)
}

// pty opens the terminals built in.
func (h *sessionHouse) pty() (session.Provider, func(), error) {
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
		folder.LogError(h.Logger, "the sessions were not let go of well",
			p.Close())
	}, nil
}

// subprocess opens processes without a terminal.
func (h *sessionHouse) subprocess() (session.Provider, func(), error) {
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
		folder.LogError(h.Logger, "the processes were not let go of well",
			p.Close())
	}, nil
}

// external opens a program of the operator's: a path relative to the city, or a name to be found on PATH.
func (h *sessionHouse) external(name, kind, path string) (session.Provider, func(), error) {
	err := workstore.Unopened(h.Grant.Err())
	if err == nil {
		path, err = h.find(name, path)
	}
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256([]byte(name))
	under := hex.EncodeToString(sum[:6])
	if kind == session.Plugin {
		p, err := plugin.New(plugin.Options{
			Name: name, Program: path, City: h.Dir,
			Dir:     filepath.Join(folder.StateDir(h.Dir), "plugins", under),
			Environ: os.Environ(), Observe: h.Observe, Logger: h.Logger, Broken: h.Broken,
		})
		if err != nil {
			return nil, nil, err
		}
		return p, p.Close, nil
	}
	p, err := script.New(script.Options{
		City: h.Dir, Script: path, Dir: filepath.Join(folder.StateDir(h.Dir), "scripts", under),
		Environ: os.Environ(), Observe: h.Observe, Logger: h.Logger,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() {}, nil
}

// find is the absolute path of a provider's script or helper.
func (h *sessionHouse) find(name, path string) (string, error) {
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
			return "", fmt.Errorf("the program of the session provider %q is not found on PATH: "+
				"install it, or write its path: %w", name, err)
		}
	}
	return path, ownership.Check(path)
}

// holder is the program that holds sessions: this one.
func (h *sessionHouse) holder() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find this program, which holds every session: %w", err)
	}
	return exe, nil
}

// EndLimit is how long it may take beyond the agents' grace to end sessions, and to see which there are: as long as a
// controller waits for its own.
const EndLimit = 30 * time.Second

// EndSessions stops sessions side by side and returns when nothing is left of any, or after the grace and EndLimit. The
// error names all that may still run.
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
					output.InBrackets(st.PID), err)
			}
			return nil
		})
	}
	_ = g.Wait() // errs has it all
	return errors.Join(errs...)
}

// Vetter says of session providers, by name, why they could run nothing; "" = nothing is known against one. Each is
// asked once.
func Vetter(ctx context.Context, p session.Provider, slow env.Slowly) func(provider string) string {
	known := map[string]string{}
	return func(provider string) string {
		if why, asked := known[provider]; asked {
			return why
		}
		known[provider] = ""
		if err := VetProvider(ctx, p, provider, slow); err != nil {
			known[provider] = err.Error()
		}
		return known[provider]
	}
}

// VetProvider asks one of a city's session providers whether it could run anything.
func VetProvider(ctx context.Context, p session.Provider, name string, slow env.Slowly) error {
	m, ok := p.(session.Mixer)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, session.CheckLimit)
	defer cancel()
	if slow != nil {
		defer slow(ctx, name+" to say whether it could run anything", session.CheckLimit)()
	}
	return m.CheckOf(ctx, name)
}
