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

// entry is what the provider knows of one name.
type entry struct {
	name string
	turn chan struct{} // holds a token: see Concurrency

	mu       sync.Mutex
	link     *link // nil: no holder is connected
	known    bool  // rec is set
	rec      wire.Record
	print    session.Fingerprint // of rec, decoded once because List reads it at every patrol
	pid      int
	exit     *session.Exit // nil: alive, if known
	acked    bool
	activity activityRecord
	silence  silence
	marks    map[string]string // of a holder that does not tell them, see recall; nil: it does
}

func newEntry(name string) *entry {
	e := &entry{name: name, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	return e
}

// take waits for the name's turn.
func (e *entry) take(ctx context.Context) (release func(), err error) {
	select {
	case <-e.turn:
		return func() { e.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("session %q is still busy with a start: %w", e.name,
			context.Cause(ctx))
	}
}

// turn waits for a name's turn, which release gives back. The entry is made if need be.
func (p *Provider) turn(ctx context.Context, name string) (e *entry, release func(), err error) {
	for {
		e := p.entry(name)
		release, err := e.take(ctx)
		if err != nil {
			return nil, nil, err
		}
		if p.find(name) == e { // else it was forgotten while we waited
			return e, func() { p.forget(e); release() }, nil
		}
		release()
	}
}

// link is the held connection to a holder.
type link struct {
	conn    *net.UnixConn
	holder  int  // pid
	child   bool // of this process, to be reaped
	replies chan wire.Message

	sameBuild bool // the holder runs the program that this gcity has embedded

	gone chan struct{} // closed when nothing more comes
}

// over reports whether nothing more comes.
func (l *link) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// alive reports whether the session's agent runs, as far as is known.
func (e *entry) alive() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known && e.exit == nil
}

// awaitEnd waits until the end of a life that is over has been told over the held connection.
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
			return // nobody will tell
		}
		<-tick.C
	}
}

// set takes over what a holder says of itself. Under e.mu.
func (e *entry) set(s wire.State) {
	e.setRecord(s.Record)
	e.pid, e.exit, e.acked = s.PID, (*session.Exit)(s.Exit), s.Acked
}

// setRecord keeps a session's record. A fingerprint that cannot be read counts as unknown. Under e.mu.
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

// status is the session as List reports it; not ok if there is nothing to report.
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
		st.Silent = e.silence.told()
	}
	return st, true
}

// addActivity reads the activity record. Under e.mu.
func (p *Provider) addActivity(e *entry, st *session.Status) {
	a, ok := e.lastActivity()
	if !ok {
		return
	}
	st.Ready, st.Frozen, st.Attached = a.Ready && st.Alive, a.Frozen && st.Alive, int(a.Attached)
	st.Draft = a.Draft && st.Alive
	if st.Alive && st.PID == 0 { // a holder that does not answer has not told
		st.PID = int(a.PID)
	}
	if st.Alive {
		st.Drain = e.drain(&a)
	}
	st.Activity = p.clock.Time(max(a.Started, a.Output, a.Input, a.Typed))
	st.Output = a.Bytes
	st.TypedAt = p.clock.Time(a.Typed)
}

// lastActivity is the activity record, if there is one of the current life. Under e.mu.
func (e *entry) lastActivity() (a wire.Activity, ok bool) {
	a, ok = e.activity.read()
	return a, ok && a.Life == wire.LifeHash(e.rec.ID)
}

// connect takes over what a holder says of itself over its held connection. An end that is news is told.
func (p *Provider) connect(e *entry, s wire.State, started bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := s.Exit != nil && (started || e.known && e.exit == nil && e.rec.ID == s.Record.ID)
	e.set(s)
	if news {
		p.tell(session.Exit(*s.Exit))
	}
	p.files.openActivity(e)
	e.silence.broken()
	e.marks = nil
	if a, ok := e.lastActivity(); ok && !a.Marked {
		e.marks = make(map[string]string)
	}
}

// read takes what a holder tells until it is gone. State changes only here, in the order in which it is told.
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

// reapHolder takes the exit of a holder that is our child, so that it does not stay a zombie.
func (p *Provider) reapHolder(name string, pid int) {
	if !proc.WaitPid(pid, reapWait) {
		p.log.Error("a session's holder hung up and does not end", "session", name, "pid", pid)
		return
	}
	if err := proc.Reap(pid); err != nil {
		p.log.Error("cannot reap a session's holder", "session", name, "pid", pid, "err", err)
	}
}

// drain is what the drain marks of a living session say: its holder has them in its record. Under e.mu.
func (e *entry) drain(a *wire.Activity) session.Drain {
	if e.marks == nil {
		return session.ParseDrain(a.Drain.Mark)
	}
	return session.ParseDrain(func(key string) string { return e.marks[key] })
}

// note keeps a mark that the holder of this life does not tell.
func (e *entry) note(life, key, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.marks != nil && e.rec.ID == life {
		e.marks[key] = value
	}
}
