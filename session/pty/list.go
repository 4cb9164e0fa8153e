package pty

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/registry"
)

// List implements session.Provider.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	if p.ctx.Err() != nil {
		return nil, registry.ErrClosed
	}
	if err := p.scan(ctx); err != nil {
		return nil, err
	}
	entries := p.reg.All()
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	p.checkHolders(entries)
	list := p.hidden(entries)
	for _, e := range entries {
		if st, ok := p.status(e); ok {
			list = append(list, st)
			p.retryConnect(e)
		}
	}
	return list, nil
}

type responseCheck struct {
	since     time.Time // when the holder stopped responding; zero while it responds
	failures  int
	checkedAt time.Time
}

const (
	silentFailures = 2
	silentEvery    = 5 * time.Second // minimum interval between checks of the same holder
	// silentBatch is the maximum number of holders without failed checks that one List checks, because a check takes
	// three system calls.
	silentBatch = 64
)

func (s *responseCheck) silentSince() time.Time {
	if s.failures < silentFailures {
		return time.Time{}
	}
	return s.since
}

func (s *responseCheck) reset() { s.since, s.failures = time.Time{}, 0 }

// checkHolders checks whether the holders respond. It sends no requests, because they would wake every holder.
func (p *Provider) checkHolders(entries []*entry) {
	first, now, budget := int(p.nextCheck.Load()), time.Now(), silentBatch
	for i := range entries {
		e := entries[(first+i)%len(entries)]
		e.mu.Lock()
		rec, linked := e.record, e.link != nil
		due := e.known && e.exit == nil && now.Sub(e.responseCheck.checkedAt) >= p.silentEvery
		// a holder without failed checks is checked only if the batch has room
		if due && linked && e.responseCheck.failures == 0 {
			if due = budget > 0; due {
				budget--
				p.nextCheck.Store(int64((first + i + 1) % len(entries)))
			}
		}
		if due {
			e.responseCheck.checkedAt = now
		}
		e.mu.Unlock()
		if due {
			e.noteResponse(now, linked && !p.files.stopped(rec))
		}
	}
}

func (e *entry) noteResponse(now time.Time, responds bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if responds {
		e.responseCheck.reset()
		return
	}
	if e.responseCheck.failures == 0 {
		e.responseCheck.since = now
	}
	e.responseCheck.failures++
}

// Look implements session.Looker.
func (p *Provider) Look(_ context.Context, name string) (session.Status, error) {
	if e := p.reg.Find(name); e != nil {
		if st, ok := p.status(e); ok {
			return st, nil
		}
	}
	return session.Status{}, missing("look at", name)
}

func (p *Provider) retryConnect(e *entry) {
	e.mu.Lock()
	stray := e.known && e.exit == nil && e.link == nil
	rec := e.record
	e.mu.Unlock()
	if !stray {
		return
	}
	p.reg.Async(func() {
		release, ok := e.lock.TryLock()
		if !ok {
			return
		}
		defer release()
		if e.reusable() == nil && p.reconnect(p.ctx, e) != nil {
			p.recordEnd(e, rec)
		}
	})
}

// Usage implements session.Meter. It does not count the holders.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	if p.ctx.Err() != nil {
		return nil, registry.ErrClosed
	}
	entries := p.reg.All()
	roots := make(map[int]proc.Root, len(entries))
	names := make(map[int]string, len(entries))
	links := make(map[int]*link, len(entries))
	for _, e := range entries {
		e.mu.Lock()
		if e.known && e.exit == nil && e.record.Boot == p.files.boot {
			connected := e.link != nil && e.link.holder == e.record.Holder && !e.link.over()
			roots[e.record.Holder] = proc.Root{Start: e.record.HolderStart, Alive: connected}
			names[e.record.Holder], links[e.record.Holder] = e.name, e.link
		}
		e.mu.Unlock()
	}
	if len(roots) == 0 {
		return map[string]session.Usage{}, nil
	}
	trees, err := proc.Trees(ctx, roots)
	if err != nil {
		return nil, fmt.Errorf("cannot measure the resource usage of the sessions: %w", err)
	}
	all := make(map[string]session.Usage, len(trees))
	for pid, t := range trees {
		// after the holder's exit, its PID could belong to another process
		over := roots[pid].Alive && links[pid].over()
		if t.Procs > 0 && !over {
			all[names[pid]] = session.Usage{CPU: t.CPU, RSS: t.RSS, Procs: t.Procs}
		}
	}
	return all, nil
}
