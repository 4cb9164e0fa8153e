package offline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/events"
	"gcity/session"
	"gcity/trust"
)

// Aside is a city without a controller: what its files say and what its sessions answer. Sessions outlive controllers,
// so there may be living agents to look at, to type to and to end.
type Aside struct {
	Dir      string
	now      func() time.Time
	config   *config.City  // nil if it is refused
	refused  error         // why
	grant    trust.Grant   // of its programs
	known    *folder.Known // what is known of it all the same, nil = nothing
	Sessions session.Provider
	// the city's first; none if the configuration is refused and nothing is known of it
	stores  []*depot.Depot
	scanner automation.Scanner
	deeds   map[string]automation.Memory // what the last controller remembered
	close   func()

	slow env.Slowly // may be nil
}

// newAside reads a city's files. A refused configuration hinders only what needs one. Who has the city's lock need not
// merely observe.
//
// broken hears of panics beside; nil: the program ends with them.
func newAside(dir string, observe bool, now func() time.Time, broken func(error)) (*Aside, error) {
	b := &Aside{Dir: dir, now: now}
	if b.config, b.refused = folder.LoadCity(dir); b.refused != nil {
		b.known = folder.KnownAt(dir)
	}
	b.grant = folder.Trusted(dir, b.config)
	var err error
	b.Sessions, b.close, err = sessions.OpenSessions(sessions.SessionOptions{Dir: dir,
		Grant:   b.grant,
		Observe: observe, Logger: folder.QuietLogger(), Broken: broken})
	if err != nil {
		return nil, fmt.Errorf("cannot look at the sessions of %s: %w", dir, err)
	}
	undo := folder.Closers{b.close}
	b.close = func() { undo.Close() }
	if err := b.openStores(); err != nil {
		b.close()
		return nil, err
	}
	for _, d := range b.stores {
		undo.Add(func() { _ = d.Close() }) // only read
	}
	return b, nil
}

// Snapshots implements city.Control by looking every second.
func (b *Aside) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			s, err := b.Snapshot(ctx)
			if ctx.Err() != nil || !yield(s, err) || err != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// History implements city.Control.
func (b *Aside) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return folder.ReadEvents(ctx, b.Dir, q)
}

// Events implements city.Control.
func (b *Aside) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return folder.FollowEvents(ctx, b.Dir, after)
}

// Output implements city.Control. An agent that has ended answers with what it said last: its session knows that until
// the end is recorded, its crash file afterwards.
func (b *Aside) Output(ctx context.Context, agent string, lines int) (string, error) {
	all, unknown, err := b.seen(ctx)
	if err != nil {
		return "", err
	}
	for _, st := range all {
		if st.Agent != agent {
			continue
		}
		text, err := b.Sessions.Output(ctx, st.Name, lines)
		if st.Alive || err == nil {
			return text, AsProblem(err)
		}
	}
	text, err := folder.LastWords(b.Dir, agent, lines)
	if err == nil && text == "" && unknown != nil { // it may be among the others
		return "", unknown
	}
	if err == nil && text == "" {
		err = exit.NotRunning("agent %q has no living session, nothing of its output is kept, "+
			"and no controller runs that would start it", agent)
	}
	return text, err
}

// Watch implements city.Control.
func (b *Aside) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		st, err := b.Session(ctx, agent)
		if err != nil {
			yield(city.Frame{}, err)
			return
		}
		w, ok := b.Sessions.(session.Watcher)
		if !ok {
			yield(city.Frame{}, Cannot("watch", agent))
			return
		}
		for f, err := range w.Watch(ctx, st.Name) {
			frame := city.Frame{Reset: f.Reset, Cols: f.Cols, Rows: f.Rows, Data: f.Data,
				Dropped: f.Dropped}
			if !yield(frame, AsProblem(err)) {
				return
			}
		}
	}
}

// Attach implements city.Control.
func (b *Aside) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	st, err := b.Session(ctx, agent)
	if err != nil {
		return nil, err
	}
	at, ok := b.Sessions.(session.Attacher)
	if !ok {
		return nil, Cannot("attach to", agent)
	}
	t, err := at.Attach(ctx, st.Name, v.Cols, v.Rows)
	if err != nil {
		return nil, AsProblem(err)
	}
	if v.Raw {
		return t, nil
	}
	var classes []string
	if b.config != nil {
		classes = b.config.Session.Passthrough
	}
	return session.Filtered(t, classes)
}

// list is all sessions of the city, dead ones whose end nobody has recorded included.
func (b *Aside) list(ctx context.Context) ([]session.Status, error) {
	all, unknown, err := b.whole(ctx)
	if err = errors.Join(unknown, err); err != nil {
		return nil, err
	}
	return all, nil
}

// whole is seen for who acts on it: those who are late are waited for.
func (b *Aside) whole(ctx context.Context) (all []session.Status, unknown, err error) {
	all, err = b.Sessions.List(ctx)
	all, err = session.Await(ctx, all, err)
	return b.part(all, err)
}

// seen is list for who can do with a part: unknown says why it is one, nil = it is all.
func (b *Aside) seen(ctx context.Context) (all []session.Status, unknown, err error) {
	all, err = b.Sessions.List(ctx)
	return b.part(all, err)
}

func (b *Aside) part(these []session.Status, failed error) (all []session.Status, unknown,
	err error) {
	if failed == nil {
		return these, nil, nil
	}
	err = fmt.Errorf("cannot list the sessions of %s: %w", b.Dir, failed)
	if _, partly := errors.AsType[*session.Partial](failed); partly {
		return these, err, nil
	}
	return nil, nil, err
}

// Session finds the living session of an agent, by its qualified name or the last part of it if only one lives that has
// it.
func (b *Aside) Session(ctx context.Context, agent string) (session.Status, error) {
	all, unknown, err := b.whole(ctx)
	if err != nil {
		return session.Status{}, err
	}
	var same []session.Status
	for _, st := range all {
		switch {
		case !st.Alive:
		case st.Agent == agent:
			return st, nil
		case strings.HasSuffix(st.Agent, "/"+agent):
			same = append(same, st)
		}
	}
	if len(same) == 1 {
		return same[0], nil
	}
	if unknown != nil { // it may be among the others
		return session.Status{}, unknown
	}
	return session.Status{}, exit.NotRunning("agent %q has no living session, and no controller "+
		"runs that would start one", agent)
}

// Cannot returns the error for what a session provider has no way to do.
func Cannot(what, agent string) error {
	return &city.Error{Code: city.Unavailable,
		Message: fmt.Sprintf("cannot %s agent %q: its session provider has no way to", what, agent)}
}

// AsProblem gives a provider's error the class that the contract knows.
func AsProblem(err error) error {
	code := city.Unavailable
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*city.Error)):
		return err
	case errors.Is(err, session.ErrNotFound):
		code = city.NotFound
	case errors.Is(err, session.ErrRefused):
		code = city.Invalid
	}
	return &city.Error{Code: code, Message: err.Error()}
}
