package script

import (
	"context"
	"slices"
	"strings"
	"time"

	"gcity/internal/proc"
	"gcity/internal/recovery"
	"gcity/session"
)

const (
	// awaitProcess is how long to wait for the process of a new session to appear on this machine.
	awaitProcess = 500 * time.Millisecond
	sweepLimit   = 5 * time.Second
	asksAtOnce   = 8
	asksLimit    = opLimit
)

// List implements session.Provider. A session keeps its last known state if the script takes too long.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	p.mu.Lock()
	names := p.sorted()
	ids := map[string]string{}
	for _, name := range names {
		if e := p.sessions[name]; e.rec.Exit == nil {
			ids[name] = e.rec.ID
		}
	}
	p.mu.Unlock()
	if len(ids) > 0 {
		out, _, err := p.call(ctx, "list-running", commonPrefix(names), nil, nil)
		if err != nil {
			return nil, err
		}
		p.lookAll(ctx, ids, strings.Fields(string(out)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []session.Status
	for _, name := range p.sorted() {
		all = append(all, p.status(p.sessions[name]))
	}
	return all, nil
}

// lookAll updates sessions. ids maps their names to IDs; running contains the names that the script listed.
func (p *Provider) lookAll(ctx context.Context, ids map[string]string, running []string) {
	ctx, cancel := context.WithTimeout(ctx, asksLimit)
	defer cancel()
	places := make(chan struct{}, asksAtOnce)
	var looks recovery.Group
	defer looks.Wait()
	for name, id := range ids {
		places <- struct{}{}
		looks.Go(func() {
			defer func() { <-places }()
			p.look(ctx, name, id, slices.Contains(running, name))
		})
	}
}

func (p *Provider) look(ctx context.Context, name, id string, listed bool) {
	p.mu.Lock()
	e := p.sessions[name]
	p.mu.Unlock()
	if e == nil {
		return
	}
	unlock, ok := e.lock.TryLock()
	if !ok {
		return
	}
	defer unlock()
	ctx, done := p.yielding(ctx, name, e)
	defer done()
	p.mu.Lock()
	rec := e.rec
	p.mu.Unlock()
	if rec.ID != id || rec.Exit != nil {
		return
	}
	if rec.Starting {
		p.abortStart(ctx, e, &rec)
		return
	}
	if p.checkRecord(e, &rec, listed) {
		if rec.Asked && !p.o.Observe { // a controller exited while it was stopping the session
			p.unask(e)
		}
		p.refresh(ctx, name, e, &rec)
		return
	}
	if p.o.Observe {
		return // an observer must not kill processes or record an exit
	}
	if err := sweep(sessionMark + rec.ID); err != nil {
		p.o.Logger.Warn("a session has ended, but some of its processes cannot be killed yet",
			"session", name, "err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended(e)
}

func (p *Provider) processes(e *entry, rec *record) bool {
	p.mu.Lock()
	pid, start := e.pid, e.start
	p.mu.Unlock()
	if pid > 0 && !proc.Ended(pid, start) {
		return true
	}
	pid, start = find(rec.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	e.pid, e.start = pid, start
	return pid > 0 || !rec.Local || rec.Boot != p.boot
}

func (p *Provider) refresh(ctx context.Context, name string, e *entry, rec *record) {
	marks := func(key string) string { return rec.Marks[key] }
	if d := session.ParseDrain(marks); d.On() && !d.Acked {
		if out, known, err := p.call(ctx, "get-meta", name, []string{session.DrainAckMark},
			nil); err == nil && known && strings.TrimSpace(string(out)) == "1" {
			p.mu.Lock()
			e.rec = e.rec.with(session.DrainAckMark, "1")
			p.mu.Unlock()
		}
	}
	if !rec.Idle {
		return
	}
	var at time.Time // an agent with unknown activity must not count as idle
	if out, _, err := p.call(ctx, "get-last-activity", name, nil, nil); err == nil {
		at, _ = time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// a start in the future was recorded before the wall clock was set back
	if e.activity = at; !at.IsZero() && at.Before(rec.Started) &&
		!rec.Started.After(time.Now().Round(0)) {
		e.activity = rec.Started
	}
}

// ended records that a session has ended. The caller must hold p.mu.
func (p *Provider) ended(e *entry) {
	now := time.Now()
	e.rec.Starting = false
	e.rec.Exit = &session.Exit{
		Name: e.rec.Name, Agent: e.rec.Agent, ID: e.rec.ID, Code: -1, Asked: e.rec.Asked, At: now,
		Uptime: max(0, now.Sub(e.rec.Started)), // the wall clock may have been set back
	}
	if e.rec.Local && e.rec.Boot != p.boot { // the machine was off for an unknown time
		e.rec.Exit.Uptime = 0
	}
	e.pid = 0
	if err := p.write(e.rec); err != nil {
		p.o.Logger.Warn("cannot record that a session has ended", "session", e.rec.Name, "err", err)
	}
}

// status returns the last known status of a session. The caller must hold p.mu.
func (p *Provider) status(e *entry) session.Status {
	r := &e.rec
	st := session.Status{
		Name: r.Name, Agent: r.Agent, City: r.City, ID: r.ID, Alive: r.Exit == nil,
		Started: r.Started, Exit: r.Exit,
		Fingerprint: r.Fingerprint,
	}
	if !st.Alive {
		return st
	}
	marks := func(key string) string { return r.Marks[key] }
	st.Ready, st.Drain, st.PID = marks(session.ReadyMark) == "1" && !r.Starting,
		session.ParseDrain(marks), e.pid
	st.Activity, st.Attached, st.TypedAt = e.activity, e.attached, e.typed
	if own, err := proc.ReadStat(e.pid); e.pid > 0 && err == nil {
		st.Frozen = own.State == 'T'
	}
	return st
}

func (p *Provider) await(ctx context.Context, id string) (pid int, start uint64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.Now().Add(awaitProcess)
	for {
		if pid, start = find(id); pid > 0 || time.Now().After(end) {
			return pid, start
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, 0
		}
	}
}

// find searches for the session's processes that have no parent in the session. It returns the oldest of them, or 0.
func find(id string) (pid int, start uint64) {
	mark := sessionMark + id
	pids, err := proc.All()
	if err != nil {
		return 0, 0
	}
	stats := map[int]proc.Stat{}
	for _, q := range pids {
		if !proc.HasEnv(proc.Environ(q), mark, false) {
			continue
		}
		if st, err := proc.ReadStat(q); err == nil && !st.Exited() {
			stats[q] = st
		}
	}
	for q, st := range stats {
		if _, below := stats[st.PPID]; below {
			continue
		}
		if pid == 0 || st.Start < start || st.Start == start && q < pid {
			pid, start = q, st.Start
		}
	}
	return pid, start
}
