package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

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

// openSessions opens what runs a city's sessions: each agent's own provider, and all that hold sessions of an earlier
// controller. Who has not got the city's lock only observes.
func openSessions(o sessionOptions) (session.Provider, func(), error) {
	o.at = cmp.Or(o.at, o.dir)
	h := sessionHouse{sessionOptions: o}
	p, err := mixed.New(mixed.Options{
		Dir: gcDir(h.at), Home: "pty", Open: h.open, Survey: h.survey, Observe: h.observe, Logger: h.logger, Broken: h.broken,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() { p.Close(); h.clearUp() }, nil
}

// clearUp lets go of what an earlier controller left running for sessions that it had, and did not come to end.
func (h *sessionHouse) clearUp() {
	if h.observe || h.tmux {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	logError(h.logger, "the tmux server of earlier sessions stays", tmux.Dismiss(ctx, h.dir))
}

// sessionOptions says how the sessions of a city are opened.
type sessionOptions struct {
	dir     string
	at      string      // a path that leads to dir wherever it is moved; "" = dir
	grant   trust.Grant // of the scripts among the providers
	observe bool        // without the city's lock
	logger  *slog.Logger
	broken  func(error) // hears of panics in goroutines; nil: the program ends with them
}

// sessionHouse opens the session providers of a city.
type sessionHouse struct {
	sessionOptions
	tmux bool // it was opened, and sees to its server itself
}

// survey names the session providers that may hold sessions of the city: those of the configuration, and those that have a
// folder there.
func (h *sessionHouse) survey() []string {
	names := []string{}
	if c := sourceOf(h.dir).Legible(); c != nil {
		for i := range c.Agents {
			if name := c.ProviderOf(&c.Agents[i]); name != "" {
				names = append(names, name)
			}
		}
	}
	if _, err := disk.Lstat(filepath.Join(gcDir(h.at), "processes")); err == nil {
		names = append(names, "subprocess")
	}
	if tmux.Used(h.at) {
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
		return fake.Refuser{Why: `the session provider "fail" refuses every start, as it is meant to`}, func() {}, nil
	case "k8s":
		return fake.Refuser{Why: `the session provider "k8s" is not built yet`}, func() {}, nil
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
		City: h.dir, At: h.at, Binary: exe, Image: holdbin.Image(), Observe: h.observe, Logger: h.logger, Broken: h.broken,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() { logError(h.logger, "the sessions were not let go of well", p.Close()) }, nil
}

// subprocess opens processes without a terminal.
func (h *sessionHouse) subprocess() (session.Provider, func(), error) {
	exe, err := h.holder()
	if err != nil {
		return nil, nil, err
	}
	p, err := subprocess.New(subprocess.Options{
		City: h.dir, At: h.at, Binary: exe, Image: holdbin.Image(), Observe: h.observe, Logger: h.logger, Broken: h.broken,
	})
	if err != nil {
		return nil, nil, err
	}
	return p, func() { logError(h.logger, "the processes were not let go of well", p.Close()) }, nil
}

// external opens a program of the operator's: a path relative to the city, or a name to be found on PATH.
func (h *sessionHouse) external(name, kind, path string) (session.Provider, func(), error) {
	err := unopened(h.grant.Err())
	if err == nil {
		path, err = h.find(name, path)
	}
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256([]byte(name))
	folder := hex.EncodeToString(sum[:6])
	if kind == session.Plugin {
		p, err := plugin.New(plugin.Options{
			Name: name, Program: path, City: h.dir, Dir: filepath.Join(gcDir(h.dir), "plugins", folder),
			Environ: os.Environ(), Observe: h.observe, Logger: h.logger, Broken: h.broken,
		})
		if err != nil {
			return nil, nil, err
		}
		return p, p.Close, nil
	}
	p, err := script.New(script.Options{
		City: h.dir, Script: path, Dir: filepath.Join(gcDir(h.dir), "scripts", folder),
		Environ: os.Environ(), Observe: h.observe, Logger: h.logger,
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
		path = filepath.Join(h.dir, path)
	default:
		if path, err = exec.LookPath(path); err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return "", fmt.Errorf("the program of the session provider %q is not found on PATH: install it, or write its path: %w", name, err)
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
