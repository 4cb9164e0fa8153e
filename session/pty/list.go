package pty

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gcity/session"
)

// List implements session.Provider. It asks no holder: ends are pushed; activity and marks are read from a record
// of each.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	if p.ctx.Err() != nil {
		return nil, errClosed
	}
	if err := p.scan(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	entries := p.entries()
	p.mu.Unlock()
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	list := make([]session.Status, 0, len(entries))
	for _, e := range entries {
		p.listen(e)
		if st, ok := p.status(e); ok {
			list = append(list, st)
			p.mind(e)
		}
	}
	return list, nil
}

// silence is since when a holder has not answered.
type silence struct {
	since  time.Time // zero: it answers
	looks  int       // looks in a row that found it silent
	looked time.Time
}

const (
	silentLooks = 2               // looks that have to agree before a session counts as silent
	silentEvery = 5 * time.Second // between two looks at one holder
)

// told returns since when the holder is silent, if enough looks agree.
func (s *silence) told() time.Time {
	if s.looks < silentLooks {
		return time.Time{}
	}
	return s.since
}

func (s *silence) broken() { s.since, s.looks = time.Time{}, 0 }

// listen finds out whether a holder can answer, without asking it: that would wake each holder at every patrol. A
// holder is silent while a signal or a debugger keeps it from running, or while nothing connects to it.
func (p *Provider) listen(e *entry) {
	now := time.Now()
	e.mu.Lock()
	rec, alive, linked := e.rec, e.known && e.exit == nil, e.link != nil
	due := alive && now.Sub(e.silence.looked) >= p.silentEvery
	if due {
		e.silence.looked = now
	}
	e.mu.Unlock()
	if !due {
		return
	}
	silent := !linked || p.stopped(rec)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !silent {
		e.silence.broken()
		return
	}
	if e.silence.looks == 0 {
		e.silence.since = now
	}
	e.silence.looks++
}

// Look implements session.Looker.
func (p *Provider) Look(_ context.Context, name string) (session.Status, error) {
	if e := p.find(name); e != nil {
		if st, ok := p.status(e); ok {
			return st, nil
		}
	}
	return session.Status{}, missing("look at", name)
}

// mind tries again to reach a holder that did not answer.
func (p *Provider) mind(e *entry) {
	e.mu.Lock()
	stray := e.known && e.exit == nil && e.link == nil
	rec := e.rec
	e.mu.Unlock()
	if !stray {
		return
	}
	p.async(func() {
		select {
		case <-e.turn:
		default:
			return // a start or another try is under way
		}
		defer func() { e.turn <- struct{}{} }()
		if e.reusable() == nil && p.reconnect(p.ctx, e) != nil {
			p.bury(e, rec)
		}
	})
}
