package pty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/recovery"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

const (
	adoptAtOnce  = 16
	helloTimeout = 2 * time.Second
	sweepTimeout = 2 * time.Second
)

func newLink(conn *net.UnixConn, pid int, child bool) *link {
	return &link{conn: conn, holder: pid, child: child, replies: make(chan wire.Message, 1),
		gone: make(chan struct{})}
}

func (p *Provider) scan(ctx context.Context) error {
	info, err := disk.Lstat(p.files.at)
	// the folder was deleted, but the connections to known sessions stay open
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list the sessions: %w", err)
	}
	p.mu.Lock()
	same := p.scanned.Equal(info.ModTime())
	p.mu.Unlock()
	if same {
		return nil
	}
	folders, err := disk.ReadDir(p.files.at)
	if err != nil {
		return fmt.Errorf("cannot read the sessions' folder: %w", err)
	}
	var g errgroup.Group
	g.SetLimit(adoptAtOnce)
	for _, f := range folders {
		if f.IsDir() && p.reg.Find(f.Name()) == nil {
			g.Go(func() (err error) {
				fault := recovery.Catch(func() { err = p.adopt(ctx, f.Name()) })
				return errors.Join(fault, err)
			})
		}
	}
	err = g.Wait()
	complete := true
	// also after an error: a session that cannot be adopted must not freeze the others
	for _, e := range p.reg.All() {
		complete = p.files.updateActivity(e) && complete
	}
	if errors.Is(err, errNoRecord) || err == nil && !complete {
		return nil // the next scan tries again
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scanned = info.ModTime()
	return nil
}

var errNoRecord = errors.New("a session is about to start")

func (p *Provider) adopt(ctx context.Context, name string) error {
	e, release, err := p.lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	e.mu.Lock()
	known := e.known || e.link != nil
	e.mu.Unlock()
	if known || p.reconnect(ctx, e) == nil {
		return nil
	}
	rec, err := p.files.record(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if !p.files.observe && p.files.removeFolder(name) {
			return nil
		}
		return errNoRecord
	case proc.Exhausted(err):
		return fmt.Errorf("cannot read the record of session %q: %w", name, err)
	case err != nil:
		p.log.Error("cannot read a session's record", "session", name, "err", err)
		return nil
	case rec.City != p.files.city || p.files.movedAway(rec):
		p.log.Warn("ignoring a session of another city", "session", name, "city", rec.City)
		return nil
	}
	p.recordEnd(e, rec)
	return nil
}

// reconnect connects to the holder of a session, if the holder responds. The caller must hold the name's lock.
func (p *Provider) reconnect(ctx context.Context, e *entry) error {
	conn, pid, state, err := p.greet(ctx, e.name)
	if err != nil && p.resumeWaiting(e.name, pid) {
		conn, pid, state, err = p.greet(ctx, e.name)
	}
	if err != nil {
		return err
	}
	st, statErr := proc.ReadStat(pid)
	l := newLink(conn, pid, statErr == nil && st.PPID == os.Getpid())
	if l.child {
		orphans.remove(pid)
	}
	e.mu.Lock()
	e.link = l
	e.mu.Unlock()
	p.connect(e, p.files.movedHere(state), false)
	p.recall(ctx, e)
	p.reg.Async(func() { p.read(e, l) })
	return nil
}

// greet connects to a holder and requests its state. If no holder listens, pid is 0.
func (p *Provider) greet(ctx context.Context, name string) (conn *net.UnixConn, pid int,
	state wire.State, err error) {
	if conn, err = dial(p.files.at+"/"+name, wire.SocketFile); err != nil {
		return nil, 0, state, err
	}
	if pid, err = peer(conn); err == nil {
		state, err = hello(ctx, conn, p.files.observe)
	}
	if err == nil {
		err = p.files.verifyHolder(name, pid, state)
	}
	if err != nil {
		conn.Close()
	}
	return conn, pid, state, err
}

// resumeWaiting resumes the holder of a name if it is stopped and the name has no session record. It reports whether it
// has done so. Such a holder is waiting for a session, and would otherwise block the name.
func (p *Provider) resumeWaiting(name string, holder int) bool {
	if st, err := proc.ReadStat(holder); holder == 0 || err != nil || st.State != 'T' {
		return false
	}
	_, err := p.files.record(name)
	if p.files.observe || !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return proc.Signal(holder, syscall.SIGCONT, func(pid int) bool {
		dir, ok := p.files.holderFolder(pid)
		return ok && dir == p.files.dir+"/"+name
	})
}

// hello requests the state of a holder. If readOnly is true, the connection does not keep the holder alive.
func hello(ctx context.Context, conn *net.UnixConn, readOnly bool) (s wire.State, err error) {
	deadline := time.Now().Add(helloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	conn.SetDeadline(deadline)
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpHold, Look: readOnly}); err !=
		nil {
		return s, err
	}
	m, err := wire.NewReader(conn).Next()
	if err != nil {
		return s, err
	}
	if m.Kind != wire.Done {
		return s, errGone
	}
	conn.SetDeadline(time.Time{})
	return s, json.Unmarshal(m.Data, &s)
}

// recall reads the drain marks of an older holder, which does not publish them. It does not detect marks that other
// processes set later.
func (p *Provider) recall(ctx context.Context, e *entry) {
	e.mu.Lock()
	silent, life := e.marks != nil && e.exit == nil, e.record.ID
	e.mu.Unlock()
	if !silent {
		return
	}
	for _, key := range []string{session.DrainMark, session.DrainByMark, session.DrainAckMark} {
		value, err := p.Meta(ctx, e.name, key)
		if err != nil {
			p.log.Warn("cannot determine whether a session is draining", "session", e.name, "err",
				err)
			return
		}
		e.note(life, key, value)
	}
}
