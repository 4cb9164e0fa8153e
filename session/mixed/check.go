package mixed

import (
	"cmp"
	"context"
	"slices"

	"gcity/session"
)

// CheckOf implements session.MultiProvider.
func (p *Provider) CheckOf(ctx context.Context, provider string) error {
	_, q, err := p.provider(ctx, cmp.Or(provider, p.o.DefaultProvider))
	if err != nil {
		return err
	}
	if c, ok := q.(session.Checker); ok {
		return c.Check(ctx)
	}
	return nil
}

// Forwards implements session.Forwarder.
func (p *Provider) Forwards(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.order, func(m *member) bool {
		f, ok := m.p.(session.Forwarder)
		return ok && f.Forwards(pid)
	})
}

// IsLocal implements session.Local. A provider that cannot be opened, or not within a few seconds, counts as not local.
func (p *Provider) IsLocal(provider string) bool {
	ctx, cancel := context.WithTimeout(p.life, openLimit)
	defer cancel()
	_, q, err := p.provider(ctx, cmp.Or(provider, p.o.DefaultProvider))
	return err == nil && session.IsLocal(q, provider)
}
