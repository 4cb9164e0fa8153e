package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/session"
)

// aside is a city without a controller: what its files say and what its sessions answer. Sessions outlive controllers,
// so there may be living agents to look at, to type to and to end.
type aside struct {
	dir      string
	now      func() time.Time
	config   *config.City // nil if it is refused
	refused  error        // why
	sessions session.Provider
	close    func()
}

// newAside reads a city's files. A refused configuration hinders only what needs one. Who has the city's lock need not
// merely observe.
func newAside(dir string, observe bool, now func() time.Time) (*aside, error) {
	b := &aside{dir: dir, now: now}
	b.config, b.refused = loadCity(dir)
	var err error
	b.sessions, b.close, err = openSessions(dir, b.config, observe, quietLogger())
	if err != nil {
		return nil, fmt.Errorf("cannot look at the sessions of %s: %w", dir, err)
	}
	return b, nil
}

// Snapshot implements city.Control.
func (b *aside) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if b.refused != nil {
		return nil, b.refused
	}
	alive, err := b.sessions.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list the sessions of %s: %w", b.dir, err)
	}
	now := b.now()
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	s := &city.Snapshot{
		Name: b.config.Workspace.Name, Path: b.dir, Host: host, At: now, Suspended: b.config.Workspace.Suspended,
		Config: city.ConfigInfo{Revision: short(b.config.Revision), Warnings: problemLines(b.config.Warnings)},
	}
	stopped := b.lastStop(ctx, now)
	if last, err := b.History(ctx, events.Query{Limit: 1}); err == nil && len(last) > 0 {
		s.Seq = last[len(last)-1].Seq
	}
	byName := map[string]session.Status{}
	for _, st := range alive {
		byName[st.Agent] = st
	}
	for _, w := range plan(b.config, b.dir) {
		st, known := byName[w.Name]
		delete(byName, w.Name)
		s.Agents = append(s.Agents, b.agent(w, st, known, stopped))
	}
	for _, st := range byName {
		if st.Alive {
			s.Agents = append(s.Agents, stranger(st))
		}
	}
	slices.SortFunc(s.Agents, func(x, y city.Agent) int { return strings.Compare(x.Name, y.Name) })
	return s, nil
}

// lastStop is since when no controller runs, as far as the log knows.
func (b *aside) lastStop(ctx context.Context, now time.Time) time.Time {
	last, err := b.History(ctx, events.Query{Types: []string{events.ControllerStopped}, Limit: 1})
	if err != nil || len(last) == 0 {
		return now
	}
	return last[len(last)-1].TS
}

// agent tells how one wanted agent stands.
func (b *aside) agent(w agent.Want, st session.Status, known bool, stopped time.Time) city.Agent {
	a := city.Agent{
		Name: w.Name, Description: w.Description, Rig: w.Rig, Provider: w.Provider, Source: w.Source,
		Command: w.Spec.Command, Dir: w.Spec.Dir, Suspended: w.Suspended != "", Since: stopped,
	}
	if known && st.Exit != nil {
		a.Exit = &city.Exit{Code: st.Exit.Code, Signal: st.Exit.Signal, At: st.Exit.At, Uptime: st.Exit.Uptime}
	}
	switch {
	case known && st.Alive:
		occupy(&a, st)
		a.State, a.Since, a.Reason = city.Running, st.Started, "alive, but no controller watches it"
		a.Drift = st.Fingerprint.Drift(w.Spec.Fingerprint)
	case w.Suspended != "":
		a.State, a.Reason = city.Suspended, w.Suspended
	case w.Problem != "":
		a.State, a.Reason = city.Failed, w.Problem
	default:
		a.State, a.Reason = city.Exited, "no controller runs"
		if a.Exit != nil {
			a.Since, a.Reason = a.Exit.At, "no controller runs; ended while none did"
		}
	}
	if !a.Available {
		a.UnavailableReason = a.Reason
	}
	return a
}

// stranger is a living session that the configuration does not name.
func stranger(st session.Status) city.Agent {
	a := city.Agent{Name: st.Agent, State: city.Running, Since: st.Started, Reason: "alive, but not in the configuration"}
	occupy(&a, st)
	return a
}

func occupy(a *city.Agent, st session.Status) {
	a.Running, a.Available, a.PID, a.Frozen = true, true, st.PID, st.Frozen
	a.Session = &city.Session{Name: st.Name, ID: st.ID, Started: st.Started, Attached: st.Attached > 0, Viewers: st.Attached}
	if !st.Activity.IsZero() {
		at := st.Activity
		a.Session.LastActivity = &at
	}
}

// Snapshots implements city.Control by looking every second.
func (b *aside) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
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
func (b *aside) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return readEvents(ctx, b.dir, q)
}

// Events implements city.Control.
func (b *aside) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return followEvents(ctx, b.dir, after)
}

// Output implements city.Control.
func (b *aside) Output(ctx context.Context, agent string, lines int) (string, error) {
	st, err := b.session(ctx, agent)
	if err != nil {
		return "", err
	}
	text, err := b.sessions.Output(ctx, st.Name, lines)
	return text, asProblem(err)
}

// Watch implements city.Control.
func (b *aside) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		st, err := b.session(ctx, agent)
		if err != nil {
			yield(city.Frame{}, err)
			return
		}
		w, ok := b.sessions.(session.Watcher)
		if !ok {
			yield(city.Frame{}, cannot("watch", agent))
			return
		}
		for f, err := range w.Watch(ctx, st.Name) {
			frame := city.Frame{Reset: f.Reset, Cols: f.Cols, Rows: f.Rows, Data: f.Data, Dropped: f.Dropped}
			if !yield(frame, asProblem(err)) {
				return
			}
		}
	}
}

// Attach implements city.Control.
func (b *aside) Attach(ctx context.Context, agent string, cols, rows int) (city.Terminal, error) {
	st, err := b.session(ctx, agent)
	if err != nil {
		return nil, err
	}
	at, ok := b.sessions.(session.Attacher)
	if !ok {
		return nil, cannot("attach to", agent)
	}
	t, err := at.Attach(ctx, st.Name, cols, rows)
	if err != nil {
		return nil, asProblem(err)
	}
	return t, nil
}

// session finds the living session of an agent.
func (b *aside) session(ctx context.Context, agent string) (session.Status, error) {
	all, err := b.sessions.List(ctx)
	if err != nil {
		return session.Status{}, fmt.Errorf("cannot list the sessions of %s: %w", b.dir, err)
	}
	for _, st := range all {
		if st.Agent == agent && st.Alive {
			return st, nil
		}
	}
	return session.Status{}, notRunning("agent %q has no living session, and no controller runs that would start one", agent)
}

func cannot(what, agent string) error {
	return &city.Error{Code: city.Unavailable, Message: fmt.Sprintf("cannot %s agent %q: its session provider has no way to", what, agent)}
}

// asProblem gives a provider's error the class that the contract knows.
func asProblem(err error) error {
	code := city.Unavailable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNotFound):
		code = city.NotFound
	case errors.Is(err, session.ErrRefused):
		code = city.Invalid
	}
	return &city.Error{Code: code, Message: err.Error()}
}

func problemLines(problems []config.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// short is a revision as it is shown.
func short(revision string) string { return revision[:min(12, len(revision))] }

// binDir is first on every agent's PATH.
func binDir(dir string) string { return filepath.Join(dir, ".gc", "bin") }
