package mixed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"gcity/internal/recovery"
	"gcity/session"
)

const listLimit = 5 * time.Second

// Start implements session.Provider. It fails if another provider has or might have a live session with this name.
func (p *Provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	m, q, err := p.provider(ctx, cmp.Or(s.Provider, p.o.DefaultProvider))
	if err != nil {
		return session.Status{}, session.Missing(fmt.Errorf("cannot start %q: %w", s.Name, err))
	}
	if err := p.checkNoOther(ctx, m, s.Name); err != nil {
		return session.Status{}, err
	}
	if err := p.mark(ctx, m); err != nil {
		return session.Status{}, fmt.Errorf("cannot start %q: %w", s.Name, err)
	}
	st, err := q.Start(ctx, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	m.starts--
	m.gen++
	if err != nil {
		return st, err
	}
	st.Provider = m.name
	here := slices.DeleteFunc(p.held[s.Name], func(h location) bool { return h.provider == m })
	p.held[s.Name] = append(here, location{m, st.ID, st.Exit == nil, m.gen})
	return st, nil
}

func (p *Provider) checkNoOther(ctx context.Context, m *member, name string) error {
	for _, o := range p.inUse() {
		if o == m || p.hasNoLive(o, name) {
			continue
		}
		if _, err := p.list(ctx, o); err != nil {
			return fmt.Errorf("cannot start %q: it might already be running in %s, and that "+
				"provider cannot list its sessions: %w", name, o.name, err)
		}
		if !p.hasNoLive(o, name) {
			return fmt.Errorf("cannot start %q in %s, because it is running in %s: %w", name,
				m.name, o.name, session.ErrExists)
		}
	}
	return nil
}

func (p *Provider) hasNoLive(o *member, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return o.listed && !slices.ContainsFunc(p.held[name], func(h location) bool {
		return h.provider == o && h.alive
	})
}

// Stop implements session.Provider. It stops the session in all providers that have it.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	first, err := p.providerOf(ctx, name)
	if err != nil {
		return err
	}
	these := []*member{first}
	p.mu.Lock()
	for _, h := range p.held[name] {
		if h.alive && !slices.Contains(these, h.provider) {
			these = append(these, h.provider)
		}
	}
	p.mu.Unlock()
	var wg recovery.Group
	errs := make([]error, len(these))
	for i, m := range these {
		wg.Go(func() {
			if errs[i] = m.p.Stop(ctx, name, grace); errs[i] != nil {
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			for j := range p.held[name] {
				if h := &p.held[name][j]; h.provider == m {
					h.alive = false
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// List implements session.Provider. If some providers fail, the error is a session.PartialError.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	used := p.inUse()
	if len(used) == 1 {
		return p.list(ctx, used[0])
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	lists, errs := make([][]session.Status, len(used)), make([]error, len(used))
	var wg recovery.Group
	for i, m := range used {
		wg.Go(func() { lists[i], errs[i] = p.list(ctx, m) })
	}
	wg.Wait()
	partial := &session.PartialError{Unknown: map[string]error{}}
	var all []session.Status
	for i, m := range used {
		if errs[i] != nil {
			partial.Unknown[m.name] = errs[i]
			continue
		}
		all = append(all, lists[i]...)
	}
	session.Order(all)
	if len(partial.Unknown) > 0 {
		return all, partial
	}
	return all, nil
}

// Interrupt implements session.Provider.
func (p *Provider) Interrupt(ctx context.Context, name string) error {
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return err
	}
	return m.p.Interrupt(ctx, name)
}

// Send implements session.Provider.
func (p *Provider) Send(ctx context.Context, name, text string) error {
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return err
	}
	return m.p.Send(ctx, name, text)
}

// Output implements session.Provider.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return "", err
	}
	return m.p.Output(ctx, name, lines)
}

func withAbility[T any](ctx context.Context, p *Provider, name string, a session.Ability) (T,
	error) {
	var none T
	m, err := p.providerOf(ctx, name)
	if err != nil {
		return none, err
	}
	q, ok := m.p.(T)
	if !ok {
		return none, m.lacks(a)
	}
	return q, nil
}

func (m *member) lacks(a session.Ability) error {
	return &session.LackError{Provider: m.name, Ability: a, Why: session.LimitsOf(m.p).Why}
}

// Attach implements session.Attacher.
func (p *Provider) Attach(ctx context.Context, name string, cols, rows int) (session.Terminal,
	error) {
	q, err := withAbility[session.Attacher](ctx, p, name, session.Attaching)
	if err != nil {
		return nil, err
	}
	return q.Attach(ctx, name, cols, rows)
}

// Watch implements session.Watcher.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		q, err := withAbility[session.Watcher](ctx, p, name, session.Watching)
		if err != nil {
			yield(session.Frame{}, err)
			return
		}
		q.Watch(ctx, name)(yield)
	}
}

// SendKeys implements session.Keyer.
func (p *Provider) SendKeys(ctx context.Context, name string, keys ...string) error {
	q, err := withAbility[session.Keyer](ctx, p, name, session.SendingKeys)
	if err != nil {
		return err
	}
	return q.SendKeys(ctx, name, keys...)
}

// SetMeta implements session.Marker.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	q, err := withAbility[session.Marker](ctx, p, name, session.Marking)
	if err != nil {
		return err
	}
	return q.SetMeta(ctx, name, key, value)
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	q, err := withAbility[session.Marker](ctx, p, name, session.Marking)
	if err != nil {
		return "", err
	}
	return q.Meta(ctx, name, key)
}

// Clear implements session.Clearer.
func (p *Provider) Clear(ctx context.Context, name string) error {
	q, err := withAbility[session.Clearer](ctx, p, name, session.Clearing)
	if err != nil {
		return err
	}
	return q.Clear(ctx, name)
}

// Capture implements session.Capturer.
func (p *Provider) Capture(ctx context.Context, name, id string) ([]byte, error) {
	m, err := p.find(ctx, name, id)
	if err != nil {
		return nil, err
	}
	q, ok := m.p.(session.Capturer)
	if !ok {
		return nil, m.lacks(session.Capturing)
	}
	return q.Capture(ctx, name, id)
}

// Acknowledge implements session.Acknowledger.
func (p *Provider) Acknowledge(ctx context.Context, name, id string) error {
	m, err := p.find(ctx, name, id)
	if err != nil {
		return err
	}
	if q, ok := m.p.(session.Acknowledger); ok {
		return q.Acknowledge(ctx, name, id)
	}
	return nil
}

// Usage implements session.Meter. It fails only if all providers that measure usage fail.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	all, first := map[string]session.Usage{}, error(&session.LackError{Ability: session.Measuring})
	measured := false
	for _, m := range p.inUse() {
		opened, _ := p.opened(m) // nil if the provider could not be opened
		q, ok := opened.(session.Meter)
		if !ok {
			continue
		}
		some, err := q.Usage(ctx)
		if err != nil {
			p.o.Logger.Warn("cannot measure the resource usage of sessions", "provider", m.name,
				"err", err)
			first = err
			continue
		}
		measured = true
		maps.Copy(all, some)
	}
	if !measured {
		return nil, first
	}
	return all, nil
}
