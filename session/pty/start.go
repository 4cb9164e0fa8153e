package pty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
	"gcity/session/registry"
)

var (
	errHeld  = errors.New("the session's lock is held")
	errGone  = errors.New("the session's holder is gone")
	errOther = errors.New("the session's holder failed")
)

const (
	startTimeout = 30 * time.Second
	reapWait     = 5 * time.Second
	leaveWait    = time.Second // how long Close waits for an idle holder

	takeBackTimeout = 5 * time.Second
)

// Start implements session.Provider.
func (p *Provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	if err := p.check(&s); err != nil {
		return session.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	e, release, err := p.lock(ctx, s.Name)
	if err != nil {
		return session.Status{}, err
	}
	defer release()
	if e.alive() {
		return session.Status{}, fail("start", s.Name, session.ErrExists, "it is already running")
	}
	life, err := wireSpec(&s)
	if err != nil {
		return session.Status{}, err
	}
	err = errGone
	if l := e.reusable(); l != nil {
		err = p.begin(ctx, e, l, life)
	}
	if errors.Is(err, errGone) {
		err = p.startHolder(ctx, e, life)
	}
	if err != nil {
		return session.Status{}, err
	}
	st, ok := p.status(e)
	if !ok || st.ID != s.ID {
		return st, fail("start", s.Name, errOther, "it ended immediately after it started")
	}
	return st, nil
}

func (p *Provider) check(s *session.Spec) error {
	switch {
	case s.Name == "" || len(s.Name) > 200 || strings.ContainsAny(s.Name, "/\x00") ||
		s.Name[0] == '.':
		return fail("start", s.Name, session.ErrCommand, "its name is invalid (see session.Encode)")
	case s.City != p.files.city:
		return fail("start", s.Name, session.ErrCommand, "it belongs to the city %s, not to %s",
			s.City, p.files.city)
	case s.ID == "":
		return fail("start", s.Name, session.ErrCommand, "it has no ID")
	case !filepath.IsAbs(s.Dir):
		return fail("start", s.Name, session.ErrCommand, "its folder %q is not an absolute path",
			s.Dir)
	}
	return nil
}

func (e *entry) reusable() *link {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == nil || e.link.over() || e.record.Version != wire.Version {
		return nil
	}
	return e.link
}

func (e *entry) isNew() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.known
}

func (p *Provider) startHolder(ctx context.Context, e *entry, s *life) error {
	for attempt := 0; ; attempt++ {
		l := e.reusable()
		if l == nil {
			var err error
			if l, err = p.hold(ctx, e); err != nil {
				kind := err
				if proc.Exhausted(err) {
					kind = session.ErrExhausted
				}
				return fail("start", s.Name, kind, "cannot start its holder: %v", err)
			}
		}
		err := p.begin(ctx, e, l, s)
		if !errors.Is(err, errHeld) || attempt > 0 {
			return err
		}
		if err := p.freeLock(ctx, e); err != nil {
			return err
		}
	}
}

func (p *Provider) hold(ctx context.Context, e *entry) (*link, error) {
	select {
	case p.spawns <- struct{}{}:
		defer func() { <-p.spawns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p.ctx.Err() != nil {
		return nil, registry.ErrClosed
	}
	if err := disk.CheckDir(p.files.at + "/" + e.name); err != nil {
		return nil, fmt.Errorf("cannot use the session's folder: %w", err)
	}
	orphans.reap()
	l, err := p.launcher.execHolder(p.files.dir + "/" + e.name)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.link = l
	e.mu.Unlock()
	p.reg.Async(func() { p.read(e, l) })
	return l, nil
}

func (p *Provider) begin(ctx context.Context, e *entry, l *link, s *life) error {
	req := wire.Request{Op: wire.OpStart, Spec: &s.Spec, Ready: s.ready, Plain: p.plain}
	if deadline, ok := ctx.Deadline(); ok {
		l.conn.SetWriteDeadline(deadline)
	}
	if err := l.ask(&req); err != nil {
		if !errors.Is(err, unix.EPIPE) { // after EPIPE, a response of the holder may be unread
			l.conn.Close()
		}
		<-l.gone
	}
	asked, cancel := context.WithCancel(ctx)
	defer cancel()
	again := time.AfterFunc(resumeEvery, func() { p.reg.Async(func() { p.keepResumed(asked, e) }) })
	defer again.Stop() // most starts end before the first check
	var m wire.Message
	select {
	case m = <-l.replies:
	case <-l.gone:
		select {
		case m = <-l.replies: // a holder can respond and then exit
		default:
			return errGone
		}
	case <-ctx.Done():
		return p.abandonStart(e, l, context.Cause(ctx))
	}
	if m.Kind == wire.Done {
		return nil
	}
	if e.isNew() { // wait until the holder has exited and released its lock
		select {
		case <-l.gone:
		case <-ctx.Done():
		}
	}
	return refusal("start", s.Name, m.Data)
}

// ask sends a start request. JSON, which every holder understands, would change strings that are not UTF-8. A holder
// that is too old for Begin rejects it, and the start fails.
func (l *link) ask(req *wire.Request) error {
	if l.sameBuild || !isUTF8(req.Spec) {
		if data, ok := wire.EncodeBegin(req); ok {
			return wire.Write(l.conn, wire.Begin, data)
		}
	}
	return wire.WriteJSON(l.conn, wire.Ask, req)
}

func isUTF8(s *wire.Spec) bool {
	return !slices.ContainsFunc(slices.Concat([]string{s.Command, s.Path, s.Dir}, s.Args, s.Env),
		func(text string) bool { return !utf8.ValidString(text) })
}

type life struct {
	wire.Spec
	ready bool
}

func wireSpec(s *session.Spec) (*life, error) {
	program, err := s.Preflight()
	if err != nil {
		return nil, fail("start", s.Name, err, "%v", err)
	}
	print, err := json.Marshal(s.Fingerprint)
	if err != nil {
		return nil, fail("start", s.Name, session.ErrCommand,
			"its fingerprint cannot be sent: %v", err)
	}
	return &life{wire.Spec{
		Name: s.Name, Agent: s.Agent, City: s.City, ID: s.ID,
		Command: s.Command, Path: program.Path, Args: program.Args, Dir: s.Dir, Env: s.Env,
		Cols: s.Cols, Rows: s.Rows, Fingerprint: print,
		StopSignal: int(session.ParseSignal(s.StopSignal)),
	}, !session.NeedsSettling(s)}, nil
}

// abandonStart stops a session that starts after the caller has stopped waiting.
func (p *Provider) abandonStart(e *entry, l *link, cause error) error {
	gaveUp := fmt.Errorf("cannot start %q: the start was abandoned: %w", e.name, cause)
	ctx, cancel := context.WithTimeout(context.Background(), takeBackTimeout)
	defer cancel()
	select {
	case m := <-l.replies:
		if m.Kind != wire.Done {
			return gaveUp
		}
		if _, err := p.call(ctx, "stop", e.name, wire.Request{Op: wire.OpStop}); err != nil &&
			!errors.Is(err, session.ErrNotFound) {
			return errors.Join(gaveUp, err)
		}
		e.awaitEnd(ctx)
		return gaveUp
	case <-l.gone:
		return gaveUp
	case <-ctx.Done():
		// Close the connection, because the response may still arrive on it.
		l.conn.Close()
		return fmt.Errorf("cannot start %q: its holder does not respond: %w", e.name, cause)
	}
}

func (p *Provider) replied(e *entry, l *link, m wire.Message) {
	if m.Kind == wire.Done {
		var s wire.State
		if err := json.Unmarshal(m.Data, &s); err != nil {
			p.log.Error("cannot decode a message from a session's holder", "session", e.name,
				"err", err)
			l.conn.Close()
			return
		}
		p.connect(e, s, true)
	}
	l.replies <- wire.Message{Kind: m.Kind, Data: slices.Clone(m.Data)}
}

// exited handles a message that reports an exit. The message may arrive before the response to the start request.
func (p *Provider) exited(e *entry, l *link, data []byte) {
	var x session.Exit
	if err := json.Unmarshal(data, &x); err != nil {
		p.log.Error("cannot decode a message from a session's holder", "session", e.name, "err",
			err)
		l.conn.Close()
		return
	}
	e.mu.Lock()
	fresh := e.known && e.record.ID == x.ID && e.exit == nil
	if fresh {
		e.exit = &x
	}
	e.mu.Unlock()
	if fresh {
		p.reg.Report(x)
	}
}

func (p *Provider) forget(e *entry) {
	p.reg.Forget(e.name, e, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.known || e.link != nil {
			return false
		}
		e.activity.close()
		return true
	})
}
