// Package subprocess is a session provider without terminals: an agent's standard input is a pipe, and what it
// prints is kept as it would look on a terminal. Sessions are held as those of package pty are, and end, outlive
// controllers and are adopted in the same way.
package subprocess

import (
	"cmp"
	"io"
	"log/slog"
	"path/filepath"

	"gcity/session"
	"gcity/session/pty"
)

// Options says where a city's sessions live.
type Options struct {
	City    string        // absolute path of the city's folder
	Dir     string        // folder of the sessions, made if missing; "" = .gc/processes in City
	Binary  string        // as of pty.Options
	Image   []byte        // as of pty.Options
	At      string        // as of pty.Options
	Observe bool          // as of pty.Options
	Logger  *slog.Logger  // nil = silent
	Broken  func(error)   // as of pty.Options
	Group   func() string // as of pty.Options
}

// Provider runs sessions on pipes. Of the optional interfaces it lacks session.Attacher and session.Keyer.
type Provider struct{ held }

// held is what a holder without a terminal can do.
type held interface {
	session.Provider
	session.Notifier
	session.Watcher
	session.Marker
	session.Meter
	session.Clearer
	session.Capturer
	session.Acknowledger
	session.Looker
	session.Polite
	io.Closer
}

// New makes the provider and adopts every session of the city that is alive or whose end nobody has acknowledged.
func New(o Options) (*Provider, error) {
	p, err := pty.New(pty.Options{
		City: o.City, Dir: cmp.Or(o.Dir, filepath.Join(o.City, ".gc", "processes")),
		Binary: o.Binary, Image: o.Image, At: o.At,
		Observe: o.Observe, Logger: o.Logger, Broken: o.Broken, Plain: true,
		Group: o.Group,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{p}, nil
}

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits { return session.Limits{Why: "it has no terminal"} }
