package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/registry"
)

const (
	startTimeout = 30 * time.Second
	// for another controller that is starting or cleaning up the same session
	lockTimeout = 2 * time.Second
	// for a lock that a new child process has inherited and will release
	lockWait    = 200 * time.Millisecond
	taskTimeout = 10 * time.Second
)

// Start implements session.Provider. The process that tmux creates requests its task over the startSocket, which keeps
// the agent's environment out of command lines, files and tmux.
func (p *Provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	if err := p.check(&s); err != nil {
		return session.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	e := p.reg.Entry(s.Name)
	release, err := e.take(ctx)
	if err != nil {
		return session.Status{}, err
	}
	defer release()
	if e.alive() {
		return session.Status{}, fail("start", s.Name, session.ErrExists, "it is already running")
	}
	if _, err := s.Preflight(); err != nil {
		return session.Status{}, fail("start", s.Name, err, "%v", err)
	}
	if err := disk.MkdirAll(filepath.Join(p.files.dir, s.Name), 0o700); err != nil {
		return session.Status{}, fail("start", s.Name, startError(err),
			"cannot create its folder: %v", err)
	}
	fd, err := proc.Lock(p.files.path(s.Name, startFile), time.Now().Add(lockTimeout))
	if err != nil {
		reason := "cannot take its start lock"
		if errors.Is(err, proc.ErrLocked) {
			reason = "another controller is starting it or cleaning it up"
		}
		return session.Status{}, fail("start", s.Name, startError(err), "%s: %v", reason,
			err)
	}
	defer proc.Close(fd)
	if err := p.endPrevious(ctx, e); err != nil {
		return session.Status{}, err
	}
	if err := p.create(ctx, e, &s); err != nil {
		return session.Status{}, err
	}
	st, ok := e.status()
	if !ok || st.ID != s.ID {
		return st, fail("start", s.Name, errOther, "it ended immediately after it started")
	}
	return st, nil
}

// startError returns session.ErrExists for a lock that another process holds, session.ErrExhausted for exhausted
// resources, and otherwise err.
func startError(err error) error {
	switch {
	case errors.Is(err, proc.ErrLocked):
		return session.ErrExists
	case proc.Exhausted(err):
		return session.ErrExhausted
	}
	return err
}

func (p *Provider) check(s *session.Spec) error {
	switch {
	case p.startSocket == nil || p.ctx.Err() != nil:
		return registry.ErrClosed
	case s.Name == "" || len(s.Name) > 200 || strings.ContainsAny(s.Name, "/\x00") ||
		s.Name[0] == '.':
		return fail("start", s.Name, session.ErrCommand, "its name is invalid (see session.Encode)")
	case s.City != p.files.city:
		return fail("start", s.Name, session.ErrCommand, "it belongs to the city %s, not to %s",
			s.City, p.files.city)
	case s.ID == "" || len(s.ID) > 200 || strings.ContainsAny(s.ID, "\x00\n"):
		return fail("start", s.Name, session.ErrCommand, "its ID is empty, longer than 200 bytes, "+
			"or more than one line")
	case !filepath.IsAbs(s.Dir):
		return fail("start", s.Name, session.ErrCommand, "its folder %q is not an absolute path",
			s.Dir)
	}
	return nil
}

// endPrevious kills the remaining processes of the previous session. It fails if that session is alive or a process
// cannot be killed. The caller must hold the name's lock and the start lock.
func (p *Provider) endPrevious(ctx context.Context, e *entry) error {
	rec, x, err := p.files.recall(e.name)
	if proc.Exhausted(err) {
		return fail("start", e.name, session.ErrExhausted, "%v", err)
	}
	if err == nil && x == nil {
		if found, err := p.tmux.paneExists(ctx, &rec); err != nil {
			return fail("start", e.name, err, "cannot check whether it is running: %v", err)
		} else if found && !rec.died(p.files.boot) {
			e.begin(rec, nil)
			p.watch(e)
			return fail("start", e.name, session.ErrExists, "it is already running as pid %d",
				rec.PID)
		}
	}
	fd, err := proc.Lock(p.files.path(e.name, lockFile), time.Now().Add(lockWait))
	if errors.Is(err, proc.ErrLocked) {
		if left := p.files.sweep(&rec, nil); len(left) > 0 {
			return fail("start", e.name, session.ErrExists, "cannot kill the remaining processes "+
				"of its last session: pids %v", left)
		}
		fd, err = proc.Lock(p.files.path(e.name, lockFile), time.Now().Add(lockWait))
	}
	if err != nil {
		return fail("start", e.name, startError(err), "cannot take its lock: %v", err)
	}
	proc.Close(fd)
	p.files.keepOutputs(e.name, rec.ID)
	return nil
}

func (p *Provider) create(ctx context.Context, e *entry, s *session.Spec) error {
	arrival, cancel := p.startSocket.expect(s.ID)
	defer cancel()
	cols, rows := s.Cols, s.Rows
	if cols < 1 || rows < 1 {
		cols, rows = 80, 24
	}
	pane, pid, err := p.newSession(ctx, s, cols, rows)
	if err != nil {
		if ctx.Err() == nil {
			return err
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		// tmux may have created the session despite the error
		return errors.Join(err, p.removeUnrecorded(late, s.Name))
	}
	rec, err := p.startAgent(ctx, s, paneTask{Spec: *s, Raw: newRaw(s),
		Dir: filepath.Join(p.files.dir, s.Name), Pane: pane,
		Cols: cols, Rows: rows, Boot: p.files.boot, Ready: !session.NeedsSettling(s)}, pid, arrival)
	if err != nil {
		return p.undoStart(s, pane, err)
	}
	e.begin(rec, nil)
	if !p.watch(e) {
		p.reg.Async(func() { p.recordEnd(e, rec.ID, true) })
	}
	return nil
}

// tmux expands only the name, which mangle has made safe
func (p *Provider) newSession(ctx context.Context, s *session.Spec, cols, rows int) (paneID string,
	pid int, err error) {
	name := mangle(s.Name)
	create := []string{"new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid} #{pid}", "-s", name,
		"-n", "agent",
		"-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "-c", "/",
		"-e", arg("GC_CITY_PATH=" + p.files.city), "-e", arg("GC_SESSION_ID=" + s.ID), "--",
		arg(p.binary), "pane", arg(p.startSocket.path), arg(s.ID), ";", "set-option", "-s",
		"exit-empty",
		"off"}
	out, err := p.tmux.run(ctx, nil, create...)
	if errors.Is(err, errNoServer) { // the previous server was still exiting, see Dismiss
		out, err = p.tmux.run(ctx, nil, create...)
	}
	if errors.Is(err, errNameTaken) {
		if err := p.removeUnrecorded(ctx, s.Name); err != nil {
			return "", 0, err
		}
		out, err = p.tmux.run(ctx, nil, create...)
	}
	if err != nil {
		return "", 0, fail("start", s.Name, startError(err),
			"tmux cannot create a session: %v", err)
	}
	f := strings.Fields(out)
	if len(f) != 3 {
		return "", 0, fail("start", s.Name, errOther, "tmux returned the invalid session ID "+
			"%q", out)
	}
	p.noteServer(number(f[2]))
	return f[0], number(f[1]), nil
}

// removeUnrecorded ends a session without a record. It returns an error if the session belongs to another city.
func (p *Provider) removeUnrecorded(ctx context.Context, name string) error {
	city, id, err := p.tmux.owner(ctx, mangle(name))
	if isGone(err) {
		return nil
	}
	if err != nil {
		return fail("start", name, err, "cannot ask tmux about a session with this name: %v", err)
	}
	if city != p.files.city || id == "" {
		return fail("start", name, session.ErrExists, "the tmux server %s has a session %s, which "+
			"does not belong to this city: kill that session", p.tmux.label, mangle(name))
	}
	p.log.Warn("undoing an unfinished start", "session", name)
	if _, err := p.tmux.run(ctx, nil, "kill-session", "-t", "="+mangle(name)); err != nil &&
		!errors.Is(err, errNoPane) {
		return fail("start", name, err, "cannot undo an unfinished start: %v",
			err)
	}
	if left := p.files.sweep(&record{Name: name, ID: id}, nil); len(left) > 0 {
		return fail("start", name, session.ErrExists, "cannot kill the processes of an earlier "+
			"start: pids %v", left)
	}
	return nil
}

func (c *client) owner(ctx context.Context, name string) (city, id string, err error) {
	out, err := c.run(ctx, nil, "show-environment", "-t", "="+name+":")
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, "GC_CITY_PATH="); ok {
			city = v
		}
		if v, ok := strings.CutPrefix(line, "GC_SESSION_ID="); ok {
			id = v
		}
	}
	return city, id, err
}

func (p *Provider) undoStarts(ctx context.Context) error {
	if p.files.observe || !p.tmux.serverLives() {
		return nil
	}
	v, err := p.snapshot(ctx, nil)
	if err != nil {
		return err
	}
	for mangled, panes := range v.panes {
		name, ok := unmangle(mangled)
		if !ok {
			continue
		}
		if e := p.reg.Find(name); e != nil {
			rec, _ := e.life()
			if _, ok := rec.paneIn(panes); ok {
				continue
			}
		}
		if city, id, err := p.tmux.owner(ctx, mangled); err != nil || city != p.files.city ||
			id == "" {
			continue
		}
		fd, err := proc.Lock(p.files.path(name, startFile), time.Now())
		// without the folder, no start is in progress
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // another process is starting the session
		}
		rec, _, unknown := p.files.recall(name)
		_, recorded := rec.paneIn(panes)
		if !proc.Exhausted(unknown) && (unknown != nil || !recorded) {
			if err := p.removeUnrecorded(ctx, name); err != nil {
				p.log.Warn("cannot undo an unfinished start", "session", name, "err", err)
			}
		}
		if err == nil {
			proc.Close(fd)
		}
	}
	return nil
}

func (p *Provider) undoStart(s *session.Spec, pane string, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), callTimeout)
	defer cancel()
	r := record{Name: s.Name, ID: s.ID, Pane: pane}
	var cleanupErrs []error
	if _, err := p.tmux.run(ctx, nil, "kill-pane", "-t", r.target()); err != nil &&
		!isGone(err) {
		cleanupErrs = append(cleanupErrs, err)
	}
	if left := p.files.sweep(&r, nil); len(left) > 0 {
		cleanupErrs = append(cleanupErrs, fmt.Errorf("cannot kill these processes of "+
			"the session: %v", left))
	}
	if rec, x, err := p.files.recall(s.Name); err == nil && x == nil && rec.ID == s.ID {
		// with a record, the session would count as lost
		disk.Remove(p.files.path(s.Name, recordFile))
	}
	var known *failure
	if !errors.As(cause, &known) {
		cause = fmt.Errorf("cannot start %q: %w", s.Name, cause)
	}
	return errors.Join(append([]error{cause}, cleanupErrs...)...)
}
