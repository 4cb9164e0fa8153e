package perform

import (
	"context"

	"gcity/session"
)

// paced lets only so many starts at the provider at a time: a wave of a thousand is a queue, not a storm. What
// follows a start, readiness above all, waits for nobody.
type paced struct {
	session.Provider
	slots    chan struct{}
	forked   func(agent string)
	answered func(*session.Spec, session.Dialog)
	asks     func(context.Context, *session.Spec, *session.Dialog)
}

func (p *paced) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots; p.forked(s.Agent) }()
		return p.Provider.Start(ctx, s)
	case <-ctx.Done():
		return session.Status{}, context.Cause(ctx)
	}
}

// Look passes on what the provider says of one session, so that a launch does not ask for all.
func (p *paced) Look(ctx context.Context, name string) (session.Status, error) {
	return session.LookAt(ctx, p.Provider, name)
}

// SetMeta passes the mark of readiness on, where the provider keeps such things.
func (p *paced) SetMeta(ctx context.Context, name, key, value string) error {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.SetMeta(ctx, name, key, value)
	}
	return nil
}

// SendKeys passes keys on, where the provider can press some.
func (p *paced) SendKeys(ctx context.Context, name string, keys ...string) error {
	if k, ok := p.Provider.(session.Keyer); ok {
		return k.SendKeys(ctx, name, keys...)
	}
	return session.ErrUnsupported
}

// Answered implements session.Listener.
func (p *paced) Answered(s *session.Spec, d session.Dialog) { p.answered(s, d) }

// Asks is the other half of session.Listener.
func (p *paced) Asks(ctx context.Context, s *session.Spec, d *session.Dialog) { p.asks(ctx, s, d) }

// Meta is the other half of session.Marker.
func (p *paced) Meta(ctx context.Context, name, key string) (string, error) {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.Meta(ctx, name, key)
	}
	return "", nil
}
