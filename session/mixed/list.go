package mixed

import (
	"context"
	"slices"
	"time"

	"gcity/session"
)

// sharedList is a call to a slow provider. All concurrent callers use its result.
type sharedList struct {
	began time.Time
	done  chan struct{} // closed when the call ends; the other fields are then immutable
	all   []session.Status
	err   error
}

// Patience implements session.Patient. If the session's provider is unknown, it returns the longest patience of all.
func (p *Provider) Patience(name string) time.Duration {
	these := p.inUse()
	if m := p.findHolder(name, ""); m != nil {
		these = []*member{m}
	}
	most := time.Duration(0)
	for _, m := range these {
		q, _ := p.opened(m) // nil if the provider could not be opened
		if patient, ok := q.(session.Patient); ok {
			most = max(most, patient.Patience(name))
		}
	}
	return most
}

// If a patient provider is late, or a provider is still being opened, the error is a session.LateError.
func (p *Provider) list(ctx context.Context, m *member) ([]session.Status, error) {
	q, err := p.opened(m)
	if err != nil {
		o := p.open(m.name)
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, &session.LateError{Waited: time.Since(o.began).Round(time.Second),
				Result: func(ctx context.Context) ([]session.Status, error) {
					return p.listOpened(ctx, m, o)
				}}
		}
		if q, err = p.opened(m); err != nil {
			return nil, err
		}
	}
	patient, ok := q.(session.Patient)
	if !ok || patient.Patience("") == 0 {
		return p.ask(ctx, m, q)
	}
	l, err := p.shared(m, q, patient.Patience(""))
	if err != nil {
		return nil, err
	}
	select {
	case <-l.done:
		return slices.Clone(l.all), l.err
	case <-ctx.Done():
		return nil, &session.LateError{Waited: time.Since(l.began).Round(time.Second),
			Result: l.rest}
	}
}

// listOpened waits for a call of Options.Open, and lists the sessions if it succeeds.
func (p *Provider) listOpened(ctx context.Context, m *member, o *opening) ([]session.Status,
	error) {
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if _, err := p.opened(m); err != nil {
		return nil, err
	}
	return p.list(ctx, m)
}

func (l *sharedList) rest(ctx context.Context) ([]session.Status, error) {
	select {
	case <-l.done:
		return slices.Clone(l.all), l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *Provider) shared(m *member, q session.Provider, limit time.Duration) (*sharedList, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if m.list != nil {
		return m.list, nil
	}
	l := &sharedList{began: time.Now(), done: make(chan struct{})}
	m.list = l
	p.wg.Go(func() {
		ctx, cancel := context.WithTimeout(p.life, limit)
		defer cancel()
		defer func() {
			p.mu.Lock()
			m.list = nil
			p.mu.Unlock()
			close(l.done)
		}()
		l.err = errBroken
		l.all, l.err = p.ask(ctx, m, q)
	})
	return l, nil
}

func (p *Provider) ask(ctx context.Context, m *member, q session.Provider) ([]session.Status,
	error) {
	p.mu.Lock()
	gen := m.gen
	p.mu.Unlock()
	all, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Provider = m.name
	}
	if len(all) == 0 {
		p.unmark(ctx, m, q, gen)
	}
	p.note(m, all, gen)
	return all, nil
}

// note replaces the known locations of m's sessions with those in a list. It keeps locations that are newer than the
// list.
func (p *Provider) note(m *member, all []session.Status, gen int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 1 {
		return
	}
	m.listed = true
	for name, places := range p.held {
		places = slices.DeleteFunc(places, func(h location) bool {
			return h.provider == m &&
				h.gen <= gen
		})
		if p.held[name] = places; len(places) == 0 {
			delete(p.held, name)
		}
	}
	for i := range all {
		st := &all[i]
		if !slices.ContainsFunc(p.held[st.Name], func(h location) bool { return h.provider == m }) {
			p.held[st.Name] = append(p.held[st.Name], location{m, st.ID, st.Alive, gen})
		}
	}
}
