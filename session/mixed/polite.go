package mixed

import (
	"context"
	"time"

	"gcity/session"
)

// SendPolitely implements session.PoliteSender. The text is sent immediately if the session's provider cannot detect
// typing.
func (p *Provider) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return err
	}
	if q, ok := m.p.(session.PoliteSender); ok {
		return q.SendPolitely(ctx, name, text, quiet)
	}
	return m.p.Send(ctx, name, text)
}

// Look implements session.Looker.
func (p *Provider) Look(ctx context.Context, name string) (session.Status, error) {
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return session.Status{}, err
	}
	if q, ok := m.p.(session.Looker); ok {
		st, err := q.Look(ctx, name)
		st.Provider = m.name
		return st, err
	}
	all, err := p.list(ctx, m)
	if err != nil {
		return session.Status{}, err
	}
	return session.Named(all, name)
}
