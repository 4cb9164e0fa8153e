package tmux

import (
	"context"
	"fmt"

	"gcity/session"
)

// Look implements session.Looker, with one call of tmux about one session; with none of one that is known to be over.
func (p *Provider) Look(ctx context.Context, name string) (session.Status, error) {
	const verb = "look at"
	if p.ctx.Err() != nil {
		return session.Status{}, errClosed
	}
	e := p.find(name)
	if e == nil {
		return session.Status{}, missing(verb, name)
	}
	if rec, alive := e.life(); alive {
		v, err := p.view(ctx, &rec)
		if err != nil {
			return session.Status{}, fmt.Errorf("cannot %s %q: %w", verb, name, err)
		}
		if p.compare(e, v) {
			p.async(func() { p.bury(e, rec.ID, true) })
		}
	}
	st, ok := p.status(e)
	if !ok {
		return st, missing(verb, name)
	}
	return st, nil
}
