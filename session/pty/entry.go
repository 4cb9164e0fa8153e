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
)

// entry is what the provider knows about one name.
type entry struct {
	name string
	turn chan struct{} // holds a token: see Concurrency

	mu       sync.Mutex
	link     *link // nil: no holder is connected
	known    bool  // rec is set
	rec      wire.Record
	print    session.Fingerprint // of rec; decoded once because List reads it at every patrol
	pid      int
	exit     *session.Exit // nil: alive, if known
	acked    bool
	activity activityRecord
	silence  silence
	// drain marks of a holder that does not publish them, see recall; else nil
	marks map[string]string
}

func newEntry(name string) *entry {
	e := &entry{name: name, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	return e
}

// take waits for the turn of the name.
func (e *entry) take(ctx context.Context) (release func(), err error) {
	select {
	case <-e.turn:
		return func() { e.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("session %q is still busy with a start: %w", e.name,
			context.Cause(ctx))
	}
}

// turn waits for the turn of a name; release ends it. It creates the entry if necessary.
func (p *Provider) turn(ctx context.Context, name string) (e *entry, release func(), err error) {
	for {
		e := p.entry(name)
		release, err := e.take(ctx)
		if err != nil {
			return nil, nil, err
		}
		if p.find(name) == e { // otherwise it was forgotten in the meantime
			return e, func() { p.forget(e); release() }, nil
		}
		release()
	}
}

// link is the held connection to a holder.
type link struct {
	conn    *net.UnixConn
	holder  int  // pid
	child   bool // a child of this process, which must reap it
	replies chan wire.Message

	sameBuild bool // the holder runs the program that this gcity has embedded

	gone chan struct{} // closed when the connection has ended
}

// over reports whether the connection has ended.
func (l *link) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// alive reports whether the agent is running as far as the provider knows.
func (e *entry) alive() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known && e.exit == nil
}

// awaitEnd waits until the held connection has reported the end of the current life.
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
			return // no connection will report it
		}
		<-tick.C
	}
}

// set stores the state that a holder reported. The caller holds e.mu.
func (e *entry) set(s wire.State) {
	e.setRecord(s.Record)
	e.pid, e.exit, e.acked = s.PID, (*session.Exit)(s.Exit), s.Acked
}

// setRecord keeps a session's record. An unreadable fingerprint counts as unknown. The caller holds e.mu.
func (e *entry) setRecord(rec wire.Record) {
	e.known, e.rec, e.print = true, rec, session.Fingerprint{}
	if json.Unmarshal(rec.Fingerprint, &e.print) != nil {
		e.print = session.Fingerprint{}
	}
}

// hangUp closes the held connection, which ends its reader.
func (e *entry) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link != nil {
		e.link.conn.Close()
	}
	e.activity.close()
}

// status returns the session as List reports it. It is not ok if there is nothing to report.
func (p *Provider) status(e *entry) (st session.Status, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil && e.acked {
		return st, false
	}
	st = session.Status{
		Name: e.name, Agent: e.rec.Agent, City: e.rec.City, ID: e.rec.ID,
		Alive: e.exit == nil, PID: e.pid, Exit: e.exit,
		Fingerprint: e.print,
	}
	if e.rec.Boot == p.files.boot {
		st.Started = p.clock.Time(e.rec.Born)
	} else if e.exit != nil {
		st.Started = e.exit.At.Add(-e.exit.Uptime)
	}
	p.addActivity(e, &st)
	if st.Alive {
		st.Silent = e.silence.confirmed()
	}
	return st, true
}

// addActivity adds the activity record. The caller holds e.mu.
func (p *Provider) addActivity(e *entry, st *session.Status) {
	a, ok := e.lastActivity()
	if !ok {
		return
	}
	st.Ready, st.Frozen, st.Attached = a.Ready && st.Alive, a.Frozen && st.Alive, int(a.Attached)
	st.Draft = a.Draft && st.Alive
	if st.Alive && st.PID == 0 { // a holder that does not answer has not sent it
		st.PID = int(a.PID)
	}
	if st.Alive {
		st.Drain = e.drain(&a)
	}
	st.Activity = p.clock.Time(max(a.Started, a.Output, a.Input, a.Typed))
	st.Output = a.Bytes
	st.TypedAt = p.clock.Time(a.Typed)
}

// lastActivity returns the activity record if it belongs to the current life. The caller holds e.mu.
func (e *entry) lastActivity() (a wire.Activity, ok bool) {
	a, ok = e.activity.read()
	return a, ok && a.Life == wire.LifeHash(e.rec.ID)
}

// connect stores the state that a holder reported over its held connection, and reports an end that was not known.
func (p *Provider) connect(e *entry, s wire.State, started bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := s.Exit != nil && (started || e.known && e.exit == nil && e.rec.ID == s.Record.ID)
	e.set(s)
	if news {
		p.reportExit(session.Exit(*s.Exit))
	}
	p.files.openActivity(e)
	e.silence.broken()
	e.marks = nil
	if a, ok := e.lastActivity(); ok && !a.Marked {
		e.marks = make(map[string]string)
	}
}

// read handles the messages of a holder until the connection ends. Only this function changes the state, in the
// order of the messages.
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
	if l.child && p.ctx.Err() == nil {
		p.reapHolder(e.name, l.holder)
	}
	p.lost(e, l)
}

// reapHolder reaps a holder that is a child of this process.
func (p *Provider) reapHolder(name string, pid int) {
	if !proc.WaitPid(pid, reapWait) {
		p.log.Error("a session's holder hung up but does not exit", "session", name, "pid", pid)
		return
	}
	if err := proc.Reap(pid); err != nil {
		p.log.Error("cannot reap a session's holder", "session", name, "pid", pid, "err", err)
	}
}

// drain returns the drain state from the marks of a living session. The caller holds e.mu.
func (e *entry) drain(a *wire.Activity) session.Drain {
	if e.marks == nil {
		return session.ParseDrain(a.Drain.Mark)
	}
	return session.ParseDrain(func(key string) string { return e.marks[key] })
}

// note keeps a mark that the holder of this life does not publish.
func (e *entry) note(life, key, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.marks != nil && e.rec.ID == life {
		e.marks[key] = value
	}
}
