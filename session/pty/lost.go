package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

func (p *Provider) lost(e *entry, l *link) {
	release, err := e.take(p.ctx)
	if err != nil {
		return
	}
	defer release()
	defer p.forget(e)
	e.mu.Lock()
	if e.link != l {
		e.mu.Unlock()
		return
	}
	e.link = nil
	rec, known, exit, acked := e.record, e.known, e.exit, e.acked
	if exit != nil && acked {
		e.known = false
	}
	e.mu.Unlock()
	if p.ctx.Err() != nil || !known {
		return
	}
	if p.reconnect(p.ctx, e) == nil {
		return
	}
	if exit != nil && acked {
		if !p.files.observe {
			p.files.removeFolder(e.name)
		}
		return
	}
	if exit != nil { // the holder might have been killed before it saved the exit
		p.files.saveExit(rec, exit)
		return
	}
	p.recordEnd(e, rec)
}

// recordEnd records and reports the exit of a session after its holder has died or has saved an exit. If the holder may
// be alive but does not respond, recordEnd logs an error and treats the session as alive. If the files or the processes
// of the session cannot be read, it does so as well, so that the next List tries again. The caller must hold the name's
// lock.
func (p *Provider) recordEnd(e *entry, rec wire.Record) {
	// a holder that has saved an exit but does not respond is about to exit
	x, err := p.files.exitRecord(rec)
	if err == nil && x == nil && rec.Boot == p.files.boot {
		if !proc.Ended(rec.Holder, rec.HolderStart) {
			err = errors.New("the holder is alive but does not respond")
		} else if !p.files.observe {
			_, err = p.files.sweepSession(rec)
		}
	}
	if err != nil {
		p.unreachable(e, rec, err)
		return
	}
	if x == nil {
		now := time.Now()
		x = &session.Exit{Name: rec.Name, Agent: rec.Agent, ID: rec.ID, Code: -1, Lost: true,
			At: now}
		if rec.Boot == p.files.boot {
			x.Uptime = now.Sub(p.clock.Time(rec.Born))
		}
		p.files.saveExit(rec, x)
	}
	e.mu.Lock()
	news := e.known && e.exit == nil
	e.setRecord(rec)
	e.pid, e.exit, e.acked = 0, x, false
	e.activity.close()
	e.mu.Unlock()
	if news { // otherwise, List reports the exit
		p.reg.Report(*x)
	}
}

// unswept describes the result of a failed sweep.
func unswept(left []int, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("pids %v", left)
}

func (p *Provider) unreachable(e *entry, rec wire.Record, why error) {
	p.log.Error("cannot connect to a session; the next patrol will try again", "session", rec.Name,
		"holder", rec.Holder, "err", why)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setRecord(rec)
	e.exit, e.acked = nil, false
	p.files.openActivity(e)
}

// freeLock connects to a live holder that was not found before, or kills the processes of a dead one. The caller must
// hold the name's lock.
func (p *Provider) freeLock(ctx context.Context, e *entry) error {
	if p.reconnect(ctx, e) == nil {
		if e.alive() {
			return fail("start", e.name, session.ErrExists, "it is already running")
		}
		return nil
	}
	rec, err := p.files.record(e.name)
	if errors.Is(err, os.ErrNotExist) && p.files.removeFolder(e.name) {
		return nil // a waiting holder has just exited
	}
	if proc.Exhausted(err) {
		return fail("start", e.name, session.ErrExhausted, "cannot read its record: %v", err)
	}
	if err != nil {
		return fail("start", e.name, session.ErrExists, "its lock is held by %v, but the session "+
			"has no record: end these processes", p.files.lockHolders(e.name))
	}
	x, err := p.files.exitRecord(rec)
	leaving := err == nil && x != nil
	if rec.Boot == p.files.boot && !proc.Ended(rec.Holder, rec.HolderStart) &&
		!(leaving && proc.WaitPid(rec.Holder, reapWait)) {
		return fail("start", e.name, session.ErrExists, "its holder, pid %d, is alive but does "+
			"not respond: run kill -9 %d", rec.Holder, rec.Holder)
	}
	if left, err := p.files.sweepSession(rec); err != nil || len(left) > 0 {
		return fail("start", e.name, session.ErrExists, "cannot kill the remaining processes of "+
			"its last session: %s", unswept(left, err))
	}
	return nil
}
