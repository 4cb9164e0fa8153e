package perform

import (
	"context"
	"sync"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

func (sr *sessions) checkProvider(ctx context.Context, f effect.CheckProvider) effect.Input {
	in := effect.ProviderChecked{Provider: f.Provider}
	if m, ok := sr.w.Provider.(session.MultiProvider); ok {
		in.Err = m.CheckOf(ctx, f.Provider)
	}
	return in
}

// measure samples the resource usage. The sample's time is when sampling began, because sampling takes a while.
func (sr *sessions) measure(ctx context.Context) effect.Input {
	p, ok := sr.w.Provider.(session.Meter)
	if !ok {
		return effect.Measured{Err: session.ErrUnsupported}
	}
	at := time.Now()
	usage, err := p.Usage(ctx)
	if err != nil {
		return effect.Measured{Err: err}
	}
	return effect.Measured{Usage: usage, At: at}
}

const measureLimit = 10 * time.Second

// limitedProvider limits concurrent starts. A start releases its slot when it first reports why it is still waiting.
type limitedProvider struct {
	session.Provider
	sessions *sessions // delivers the progress of starts
	slots    chan struct{}
}

func (p *limitedProvider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	select {
	case p.slots <- struct{}{}:
		release := sync.OnceFunc(func() { <-p.slots })
		defer func() { release(); p.sessions.startForked(s.Agent) }()
		st, err := p.Provider.Start(session.WithProgress(ctx, func(why string) {
			release()
			session.Progress(ctx, why)
		}), s)
		if err == nil && session.NeedsSettling(&s) {
			p.sessions.deliver(effect.StartProgress{Agent: s.Agent, Status: st})
		}
		return st, err
	case <-ctx.Done():
		return session.Status{}, context.Cause(ctx)
	}
}

// Look returns the state of one session.
func (p *limitedProvider) Look(ctx context.Context, name string) (session.Status, error) {
	return session.LookAt(ctx, p.Provider, name)
}

// SetMeta sets a mark if the provider supports marks.
func (p *limitedProvider) SetMeta(ctx context.Context, name, key, value string) error {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.SetMeta(ctx, name, key, value)
	}
	return nil
}

// SendKeys sends keys if the provider supports them.
func (p *limitedProvider) SendKeys(ctx context.Context, name string, keys ...string) error {
	if k, ok := p.Provider.(session.Keyer); ok {
		return k.SendKeys(ctx, name, keys...)
	}
	return session.ErrUnsupported
}

// DialogAnswered implements session.DialogListener.
func (p *limitedProvider) DialogAnswered(s *session.Spec, d session.Dialog) {
	p.sessions.deliver(effect.DialogAnswered{Agent: s.Agent, Session: s.ID, Dialog: d})
}

// DialogPending implements session.DialogListener.
func (p *limitedProvider) DialogPending(ctx context.Context, s *session.Spec, d *session.Dialog) {
	in := effect.StartProgress{Agent: s.Agent, Status: session.Status{Name: s.Name, Agent: s.Agent,
		ID: s.ID}}
	if d != nil {
		in.Question, in.About = d.Reason(), d.Name
	}
	if st, err := p.Look(ctx, s.Name); err == nil && st.ID == s.ID {
		in.Status = st
	}
	p.sessions.deliver(in)
}

// Meta implements session.Marker.
func (p *limitedProvider) Meta(ctx context.Context, name, key string) (string, error) {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.Meta(ctx, name, key)
	}
	return "", nil
}
