package pty

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
	"gcity/session/registry"
)

type entry struct {
	name string
	lock registry.NameLock // see Concurrency in the package comment

	mu     sync.Mutex
	link   *link
	known  bool // record is valid
	record wire.Record
	// decoded from record once, because every List needs it
	fingerprint   session.Fingerprint
	pid           int
	exit          *session.Exit // nil while the session is alive
	acked         bool
	activity      activityRecord
	responseCheck responseCheck
	// drain marks of an older holder; nil = the holder publishes them
	marks map[string]string
}

func newEntry(name string) *entry {
	return &entry{name: name, lock: registry.NewNameLock()}
}

func (e *entry) take(ctx context.Context) (release func(), err error) {
	if release, err = e.lock.Lock(ctx); err != nil {
		err = fmt.Errorf("session %q is still starting: %w", e.name, err)
	}
	return release, err
}

// lock takes the lock of a session name. The caller must call release.
func (p *Provider) lock(ctx context.Context, name string) (e *entry, release func(), err error) {
	for {
		e := p.reg.Entry(name)
		release, err := e.take(ctx)
		if err != nil {
			return nil, nil, err
		}
		if p.reg.Find(name) == e { // the entry may have been removed while lock waited
			return e, func() { p.forget(e); release() }, nil
		}
		release()
	}
}

type link struct {
	conn    *net.UnixConn
	holder  int  // PID
	child   bool // the holder is a child of this process, which must therefore reap it
	replies chan wire.Message

	sameBuild bool // the holder is the program that this gcity embeds

	gone chan struct{}
}

func (l *link) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// idle reports whether the holder exits when the provider hangs up.
func (e *entry) idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.known || e.exit != nil && (e.acked || e.exit.Asked)
}

func (e *entry) alive() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known && e.exit == nil
}

func (e *entry) awaitEnd(ctx context.Context) {
	if !e.alive() {
		return
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for e.alive() && ctx.Err() == nil {
		e.mu.Lock()
		l := e.link
		e.mu.Unlock()
		if l == nil || l.over() {
			return
		}
		<-tick.C
	}
}

// set stores a state that the holder has reported. The caller must hold e.mu.
func (e *entry) set(s wire.State) {
	e.setRecord(s.Record)
	e.pid, e.exit, e.acked = s.PID, (*session.Exit)(s.Exit), s.Acked
}

// setRecord treats an undecodable fingerprint as unknown. The caller must hold e.mu.
func (e *entry) setRecord(rec wire.Record) {
	e.known, e.record, e.fingerprint = true, rec, session.Fingerprint{}
	if json.Unmarshal(rec.Fingerprint, &e.fingerprint) != nil {
		e.fingerprint = session.Fingerprint{}
	}
}

// hangUp closes the permanent connection, which also ends the goroutine that reads from it.
func (e *entry) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link != nil {
		e.link.conn.Close()
	}
	e.activity.close()
}

func (p *Provider) status(e *entry) (st session.Status, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil && e.acked {
		return st, false
	}
	st = session.Status{
		Name: e.name, Agent: e.record.Agent, City: e.record.City, ID: e.record.ID,
		Alive: e.exit == nil, PID: e.pid, Exit: e.exit,
		Fingerprint: e.fingerprint,
	}
	if e.record.Boot == p.files.boot {
		st.Started = p.clock.Time(e.record.Born)
	} else if e.exit != nil {
		st.Started = e.exit.At.Add(-e.exit.Uptime)
	}
	p.addActivity(e, &st)
	if st.Alive {
		st.Silent = e.responseCheck.silentSince()
	}
	return st, true
}

// addActivity adds the content of the activity record to st. The caller must hold e.mu.
func (p *Provider) addActivity(e *entry, st *session.Status) {
	a, ok := e.lastActivity()
	if !ok {
		return
	}
	st.Ready, st.Frozen, st.Attached = a.Ready && st.Alive, a.Frozen && st.Alive, int(a.Attached)
	st.Draft = a.Draft && st.Alive
	if st.Alive && st.PID == 0 {
		st.PID = int(a.PID)
	}
	if st.Alive {
		st.Drain = e.drain(&a)
	}
	st.Activity = p.clock.Time(max(a.Started, a.Output, a.Input, a.Typed))
	st.Output = a.Bytes
	st.TypedAt = p.clock.Time(a.Typed)
}

// lastActivity returns false for another session's record. The caller must hold e.mu.
func (e *entry) lastActivity() (a wire.Activity, ok bool) {
	a, ok = e.activity.read()
	return a, ok && a.Life == wire.LifeHash(e.record.ID)
}

func (p *Provider) connect(e *entry, s wire.State, started bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := s.Exit != nil && (started || e.known && e.exit == nil && e.record.ID == s.Record.ID)
	e.set(s)
	if news {
		p.reg.Report(session.Exit(*s.Exit))
	}
	p.files.openActivity(e)
	e.responseCheck.reset()
	e.marks = nil
	if a, ok := e.lastActivity(); ok && !a.Marked {
		e.marks = make(map[string]string)
	}
}

// read handles a holder's messages until the connection ends. No other code changes the state, so messages take effect
// in order.
func (p *Provider) read(e *entry, l *link) {
	r := wire.NewReader(l.conn)
	for {
		m, err := r.Next()
		if err != nil {
			break
		}
		switch m.Kind {
		case wire.Exited:
			p.exited(e, l, m.Data)
		case wire.Done, wire.Failed:
			p.replied(e, l, m)
		}
	}
	l.conn.Close()
	close(l.gone)
	switch {
	case !l.child:
	case p.ctx.Err() == nil:
		p.reapHolder(e.name, l.holder)
	default:
		orphans.add(l.holder, e.idle())
	}
	p.lost(e, l)
}

func (p *Provider) reapHolder(name string, pid int) {
	if !proc.WaitPid(pid, reapWait) {
		p.log.Error("a session's holder closed its connection but is still running",
			"session", name, "pid", pid)
		orphans.add(pid, false)
		return
	}
	// another provider may have added the PID, which a new child can reuse from now on
	orphans.remove(pid)
	if err := proc.Reap(pid); err != nil {
		p.log.Error("cannot reap a session's holder", "session", name, "pid", pid, "err", err)
	}
}

func (e *entry) drain(a *wire.Activity) session.Drain {
	if e.marks == nil {
		return session.ParseDrain(a.Drain.Mark)
	}
	return session.ParseDrain(func(key string) string { return e.marks[key] })
}

func (e *entry) note(life, key, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.marks != nil && e.record.ID == life {
		e.marks[key] = value
	}
}
