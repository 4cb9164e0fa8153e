// Package subprocess implements a session provider without terminals. An agent's standard input is a pipe. As in
// package pty, a holder process runs each session.
package subprocess

import (
	"io"
	"log/slog"
	"path/filepath"

	"gcity/session"
	"gcity/session/pty"
)

// Options configures a Provider.
type Options struct {
	City    string        // absolute path of the city's folder
	Binary  string        // see pty.Options
	Image   []byte        // see pty.Options
	At      string        // see pty.Options
	Observe bool          // see pty.Options
	Logger  *slog.Logger  // nil disables logging
	Broken  func(error)   // see pty.Options
	Group   func() string // see pty.Options
}

// Provider runs sessions on pipes. It implements neither session.Attacher nor session.Keyer.
type Provider struct{ held }

// held is the part of pty.Provider that works without a terminal.
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
	session.Local
	session.PoliteSender
	io.Closer
}

// New returns a provider that has adopted all of the city's sessions that are alive or have an unacknowledged exit.
func New(o Options) (*Provider, error) {
	p, err := pty.New(pty.Options{
		City: o.City, Dir: filepath.Join(o.City, ".gc", "processes"),
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
