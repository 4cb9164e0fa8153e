package offline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
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
	"gcity/controller/perform"
	"gcity/describe"
	"gcity/events"
	"gcity/session"
	"gcity/trust"
)

// City is a city without a controller. Its agents might still be running.
type City struct {
	Dir      string
	now      func() time.Time
	config   *config.City // nil if the configuration is invalid
	invalid  error
	grant    trust.Grant
	known    *folder.ConfigCache // nil = nothing is cached
	held     *folder.HeldError   // as in env.Link
	Sessions session.Provider
	// the city's store is first; empty if no stores are known
	stores  []*depot.Store
	scanner automation.Scanner
	close   func()

	slow env.Slowly // may be nil
}

// newCity does not fail if the configuration is invalid; only commands that need a valid one do. observe must be true
// unless the caller holds the city's lock. If onPanic is nil, a panic in another goroutine ends the program.
func newCity(dir string, observe bool, now func() time.Time, onPanic func(error)) (*City, error) {
	b := &City{Dir: dir, now: now}
	if b.config, b.invalid = folder.LoadCity(dir); b.invalid != nil {
		b.known = folder.LoadConfigCache(dir)
	}
	b.grant = folder.Trusted(dir, b.config)
	var err error
	b.Sessions, b.close, err = sessions.OpenSessions(sessions.SessionOptions{Dir: dir,
		Grant:   b.grant,
		Observe: observe, Logger: folder.QuietLogger(), Broken: onPanic})
	if err != nil {
		return nil, fmt.Errorf("cannot open the sessions of %s: %w", dir, err)
	}
	undo := folder.Closers{b.close}
	b.close = func() { undo.Close() }
	if err := b.openStores(); err != nil {
		b.close()
		return nil, err
	}
	for _, d := range b.stores {
		// the store was only read, so nothing is lost if Close fails
		undo.Add(func() { _ = d.Close() })
	}
	return b, nil
}

// Snapshots implements city.Control. It takes a snapshot every second.
func (b *City) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		var last *city.Snapshot
		for {
			s, err := b.Snapshot(ctx)
			if ctx.Err() != nil {
				return
			}
			if now := timeless(s); err != nil || !reflect.DeepEqual(now, last) {
				if last = now; !yield(s, err) || err != nil {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

func timeless(s *city.Snapshot) *city.Snapshot {
	if s == nil {
		return nil
	}
	out := *s
	out.At = time.Time{}
	out.Automations = slices.Clone(s.Automations)
	for i := range out.Automations {
		if a := &out.Automations[i]; a.Next != nil {
			a.Reason, a.Next = "", nil
		}
	}
	return &out
}

// History implements city.Control.
func (b *City) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return folder.ReadEvents(ctx, b.Dir, q)
}

// Events implements city.Control.
func (b *City) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return folder.FollowEvents(ctx, b.Dir, after)
}

// Output implements city.Control. For an agent without a session, it returns the last output if the agent crashed.
func (b *City) Output(ctx context.Context, agent string, lines int) (string, error) {
	all, unknown, err := b.listAvailable(ctx)
	if err != nil {
		return "", err
	}
	for _, st := range all {
		if st.Agent != agent {
			continue
		}
		text, err := b.Sessions.Output(ctx, st.Name, lines)
		if st.Alive || err == nil {
			return text, AsProblem(session.ForAgent(err, st.Name, st.Agent))
		}
	}
	text, err := perform.LastOutput(b.Dir, agent, lines)
	if text != "" && !b.crashedLast(ctx, agent) {
		text = ""
	}
	// the provider of the agent's session might be unable to list sessions
	if err == nil && text == "" && unknown != nil {
		return "", unknown
	}
	if err == nil && text == "" {
		err = b.withoutSession(agent, "has no live session and no stored output")
	}
	return text, err
}

// crashedLast reports whether the agent's last session crashed, or is not in the event log. Otherwise, the newest
// stored output is that of an earlier session.
func (b *City) crashedLast(ctx context.Context, agent string) bool {
	newest, err := b.History(ctx, events.Query{Subject: agent, Limit: 1,
		Types: []string{events.AgentStarted, events.AgentStopped, events.AgentCrashed}})
	return err != nil || len(newest) == 0 || newest[0].Type == events.AgentCrashed
}

// Watch implements city.Control.
func (b *City) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
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
			err = session.ForAgent(err, st.Name, st.Agent)
			if !yield(frame, AsProblem(err)) {
				return
			}
		}
	}
}

// Attach implements city.Control.
func (b *City) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
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
		return nil, AsProblem(session.ForAgent(err, st.Name, st.Agent))
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

func (b *City) list(ctx context.Context) ([]session.Status, error) {
	all, unknown, err := b.listAll(ctx)
	if err = errors.Join(unknown, err); err != nil {
		return nil, err
	}
	return all, nil
}

// listAll lists the sessions, and waits for slow providers. unknown is why the list is partial, or nil.
func (b *City) listAll(ctx context.Context) (all []session.Status, unknown, err error) {
	all, err = b.Sessions.List(ctx)
	all, err = session.Await(ctx, all, err)
	return b.allowPartial(all, err)
}

// listAvailable is like listAll, but does not wait for slow providers.
func (b *City) listAvailable(ctx context.Context) (all []session.Status, unknown, err error) {
	all, err = b.Sessions.List(ctx)
	return b.allowPartial(all, err)
}

func (b *City) allowPartial(these []session.Status, failed error) (all []session.Status, unknown,
	err error) {
	if failed == nil {
		return these, nil, nil
	}
	err = fmt.Errorf("cannot list the sessions of %s: %w", b.Dir, failed)
	if _, partly := errors.AsType[*session.PartialError](failed); partly {
		return these, err, nil
	}
	return nil, nil, err
}

// Session returns an agent's live session. agent is the qualified name or its unique last part.
func (b *City) Session(ctx context.Context, agent string) (session.Status, error) {
	all, unknown, err := b.listAll(ctx)
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
	if unknown != nil { // the provider of the agent's session might be unable to list sessions
		return session.Status{}, unknown
	}
	return session.Status{}, b.withoutSession(agent, "has no live session")
}

func (b *City) withoutSession(agent, what string) error {
	config := b.config
	if config == nil {
		config, _ = folder.LoadCity(b.Dir)
	}
	if config != nil {
		if _, err := env.WantOf(folder.Plan(config, b.Dir), agent); err != nil {
			return err
		}
	}
	if b.held != nil {
		return folder.NoController(b.Dir, fmt.Sprintf("agent %q %s", agent, what), b.held)
	}
	return exit.NotRunning("agent %q %s, and no controller is running to start it; %s", agent,
		what, describe.HowToStart)
}

// Cannot returns the error for an operation that the session provider does not support.
func Cannot(what, agent string) error {
	return city.Errorf(city.Unavailable, "cannot %s agent %q: its session provider does not "+
		"support that", what, agent)
}

// AsProblem converts a provider's error to a city.Error with a code.
func AsProblem(err error) error {
	code := city.Unavailable
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*city.Error)):
		return err
	case errors.Is(err, session.ErrNotFound):
		code = city.NotFound
	case errors.Is(err, session.ErrRejected):
		code = city.Invalid
	}
	return city.Errorf(code, "%v", err)
}
