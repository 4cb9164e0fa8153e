package pty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/recovery"
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

// scan looks for sessions that are not known yet, if the folder changed since the last look.
func (p *Provider) scan(ctx context.Context) error {
	info, err := disk.Lstat(p.at)
	if errors.Is(err, os.ErrNotExist) { // deleted under us: what we know, we know from connections
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look at the sessions: %w", err)
	}
	p.mu.Lock()
	same := p.scanned.Equal(info.ModTime())
	p.mu.Unlock()
	if same {
		return nil
	}
	folders, err := disk.ReadDir(p.at)
	if err != nil {
		return fmt.Errorf("cannot read the folder of the sessions: %w", err)
	}
	var g errgroup.Group
	g.SetLimit(adoptAtOnce)
	for _, f := range folders {
		if f.IsDir() && p.find(f.Name()) == nil {
			g.Go(func() (err error) {
				fault := recovery.Catch(func() { err = p.adopt(ctx, f.Name()) })
				return errors.Join(fault, err)
			})
		}
	}
	err = g.Wait()
	if errors.Is(err, errUnborn) {
		return nil // the next look decides
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scanned = info.ModTime()
	return nil
}

// errUnborn means that a folder belongs to a holder that has not started its agent yet: the process that executed
// it died in the middle of a start.
var errUnborn = errors.New("a session is about to begin")

// adopt makes a session known that an earlier controller started.
func (p *Provider) adopt(ctx context.Context, name string) error {
	e, release, err := p.turn(ctx, name)
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
	rec, err := p.record(name)
	switch {
	case errors.Is(err, os.ErrNotExist): // a start that never came so far, or not yet
		if !p.look && p.removeFolder(name) {
			return nil
		}
		return errUnborn
	case err != nil: // set aside: it is not ours to judge
		p.log.Error("cannot read a session's record", "session", name, "err", err)
		return nil
	case rec.City != p.city || p.wentAway(rec):
		p.log.Warn("a session of another city is left alone", "session", name, "city", rec.City)
		return nil
	}
	p.bury(e, rec)
	return nil
}

// reconnect connects to the holder of a name, if one answers. Under the name's turn.
func (p *Provider) reconnect(ctx context.Context, e *entry) error {
	conn, err := dial(p.at+"/"+e.name, wire.SocketFile)
	if err != nil {
		return err
	}
	pid, err := peer(conn)
	if err != nil {
		conn.Close()
		return err
	}
	state, err := hello(ctx, conn, p.look)
	if err == nil {
		err = p.recognise(e.name, pid, state)
	}
	if err != nil {
		conn.Close()
		return err
	}
	st, statErr := proc.ReadStat(pid)
	l := newLink(conn, pid, statErr == nil && st.PPID == os.Getpid())
	e.mu.Lock()
	e.link = l
	e.mu.Unlock()
	p.connect(e, p.movedHere(state), false)
	p.recall(ctx, e)
	p.async(func() { p.read(e, l) })
	return nil
}

// hello asks a holder who it is, and not to count on us if we merely look.
func hello(ctx context.Context, conn *net.UnixConn, look bool) (s wire.State, err error) {
	deadline := time.Now().Add(helloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	conn.SetDeadline(deadline)
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpHold, Look: look}); err !=
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

// recognise makes sure that a holder is who its record says, and one of this city.
func (p *Provider) recognise(name string, pid int, s wire.State) error {
	r := s.Record
	switch {
	case r.City != p.city && !p.isIn(pid, name):
		return fmt.Errorf("session %q belongs to the city %s", name, r.City)
	case r.Name != name:
		return fmt.Errorf("the holder in the folder of %q holds %q", name, r.Name)
	case r.Boot != p.boot || r.Holder != pid || !proc.Lives(pid, r.HolderStart):
		return fmt.Errorf("the socket of %q is served by a stranger, pid %d", name, pid)
	}
	return nil
}

func (p *Provider) record(name string) (r wire.Record, err error) {
	data, err := disk.ReadFile(p.path(name, wire.RecordFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// rouse finds holders of this city whose socket is gone, because somebody deleted the folder of the sessions, and tells
// them to make it anew. One that has not yet entered its folder is about to make its socket, and not ready for signals.
func (p *Provider) rouse(ctx context.Context) error {
	if p.look {
		return nil
	}
	pids, err := proc.All()
	if err != nil {
		return fmt.Errorf("cannot look for sessions: %w", err)
	}
	for _, pid := range pids {
		dir, ok := p.holds(pid)
		if !ok {
			continue
		}
		if _, err := os.Stat(dir + "/" + wire.SocketFile); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		p.log.Warn("the folder of a living session is gone: its holder creates it again", "folder",
			dir, "pid", pid)
		if proc.Signal(pid, syscall.SIGHUP, func(pid int) bool {
			_, ok := p.holds(pid)
			return ok
		}) {
			p.awaitSocket(ctx, dir)
		}
	}
	return nil
}

// holds reports whether a process is a holder of this city that has entered its folder, and of which folder. It catches
// HUP since before that.
func (p *Provider) holds(pid int) (dir string, ok bool) {
	args := proc.Args(pid)
	if len(args) != 3 || args[1] != "hold" || !strings.HasPrefix(args[2], p.dir+"/") {
		return "", false
	}
	cwd, err := os.Readlink(cwdOf(pid))
	if err != nil || cwd == bornIn {
		return "", false
	}
	name := args[2][len(p.dir)+1:]
	return args[2], !strings.Contains(name, "/") && !p.elsewhere(cwd, name)
}

// awaitSocket gives a holder a moment to listen again.
func (p *Provider) awaitSocket(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := dial(dir, wire.SocketFile); err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.log.Error("a holder did not listen again after SIGHUP", "folder", dir)
			return
		}
	}
}

// removeFolder removes what a session left on disk, unless a process holds its lock. It reports whether nobody did.
func (p *Provider) removeFolder(name string) bool {
	fd, err := proc.Lock(p.path(name, wire.LockFile), time.Now().Add(50*time.Millisecond))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		p.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		return !errors.Is(err, proc.ErrLocked)
	}
	defer proc.Close(fd)
	for _, file := range wire.Files() {
		if err := disk.Remove(p.path(name, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
			p.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(p.at + "/" + name) // fails if another file is there
	return true
}
