package perform

import (
	"context"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

// answered reports to the machine that a question was answered. The report arrives before any consequence of the
// answer.
func (sr *sessions) answered(s *session.Spec, d session.Dialog) {
	sr.deliver(effect.DialogAnswered{Agent: s.Agent, Session: s.ID, Dialog: d})
}

// asks reports to the machine that a start is waiting for a user to answer a question, or that the question was
// answered if d is nil.
func (sr *sessions) asks(ctx context.Context, s *session.Spec, d *session.Dialog) {
	in := effect.Asking{Agent: s.Agent, Status: session.Status{Name: s.Name, Agent: s.Agent,
		ID: s.ID}}
	if d != nil {
		in.About = d.Name
	}
	if l, ok := sr.w.Provider.(session.Looker); ok {
		if st, err := l.Look(ctx, s.Name); err == nil && st.ID == s.ID {
			in.Status = st
		}
	}
	sr.deliver(in)
}

// checkProvider checks whether a provider can run sessions.
func (sr *sessions) checkProvider(ctx context.Context, f effect.CheckProvider) effect.Input {
	in := effect.ProviderChecked{Provider: f.Provider}
	if m, ok := sr.w.Provider.(session.MultiProvider); ok {
		in.Err = m.CheckOf(ctx, f.Provider)
	}
	return in
}

// measure samples the resource usage of all sessions. The sample's time is when it began, because sampling many
// processes takes a while.
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

// measureLimit is the timeout for one sample.
const measureLimit = 10 * time.Second
