// Package preflight checks whether an agent can start on this machine. Each start runs this check first. `gcity plan`
// and `gcity doctor` run the same check.
package preflight

import (
	"context"
	"errors"
	"os"
	"time"

	"gcity/agent"
	"gcity/internal/deadline"
	"gcity/session"
)

const (
	atOnce   = 16
	limit    = 5 * time.Second
	hungMost = 256
)

// Checker checks agents. It is safe for concurrent use.
type Checker struct {
	provider session.Provider
	slots    chan struct{}
	calls    *deadline.Calls[error]
}

// New returns a Checker for agents that p starts.
func New(p session.Provider) *Checker {
	return &Checker{provider: p, slots: make(chan struct{}, atOnce),
		calls: deadline.New[error](hungMost)}
}

// Check returns the reason why an agent cannot start, or nil if none is known. It has no side effects.
func (c *Checker) Check(ctx context.Context, w *agent.Want) error {
	if w.Problem != "" {
		return errors.New(w.Problem)
	}
	local := session.IsLocal(c.provider, w.Spec.Provider)
	if !local && !w.MakeDir {
		return nil
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// agents that share a folder share one call
	_, ok := c.calls.Do(ctx, w.Spec.Dir, time.Now(), limit, func() error {
		_, err := os.Stat(w.Spec.Dir)
		return err
	})
	var err error
	if ok {
		err, ok = c.calls.Do(ctx, w.Name, time.Now(), limit,
			func() error { return onDisk(w, local) })
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !ok:
		return session.Unfit("the working folder %s, or a folder in the agent's PATH, does not "+
			"respond", w.Spec.Dir)
	}
	return err
}

func onDisk(w *agent.Want, local bool) error {
	missing := false
	if w.MakeDir {
		_, err := os.Stat(w.Spec.Dir)
		missing = err != nil
	}
	switch {
	case missing:
		// the start checks the program after it has created the folder
		return w.Spec.CheckNewFolder()
	case !local:
		return nil
	}
	if err := w.Spec.CheckFolder(); err != nil {
		return err
	}
	if err := w.Spec.CheckPreStart(); err != nil {
		return err
	}
	if w.Overlay != "" || len(w.Spec.PreStart) > 0 {
		// these may install the program, so the start checks it
		return nil
	}
	_, err := w.Spec.Preflight()
	return err
}
