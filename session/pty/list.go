package pty

import (
	"cmp"
	"context"
	"slices"

	"gcity/session"
)

// List implements session.Provider. It asks no holder: ends are pushed; activity and marks are read from a record of each.
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
		if st, ok := p.status(e); ok {
			list = append(list, st)
			p.mind(e)
		}
	}
	return list, nil
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
