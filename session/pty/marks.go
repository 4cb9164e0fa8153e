package pty

import (
	"context"

	"gcity/session"
	"gcity/session/pty/internal/wire"
)

// SetMeta implements session.Marker. Values live in the holder, as long as the session.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	e := p.find(name)
	if e == nil {
		return missing("mark", name)
	}
	e.mu.Lock()
	life := e.rec.ID
	e.mu.Unlock()
	err := p.do(ctx, "mark", name, wire.Request{Op: wire.OpSetMeta, Key: key, Value: value})
	if err == nil {
		e.note(life, key, value)
	}
	return err
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data, err := p.call(ctx, "read a mark of", name, wire.Request{Op: wire.OpMeta, Key: key})
	return string(data), err
}

// drain is what the drain marks of a living session say: its holder has them in its record. Under e.mu.
func (e *entry) drain(a *wire.Activity) session.Drain {
	if e.marks == nil {
		return session.ParseDrain(a.Drain.Mark)
	}
	return session.ParseDrain(func(key string) string { return e.marks[key] })
}

// recall asks a holder of an earlier build, which keeps marks and does not tell them, for those of a drain. From then
// on what is written through this provider is noted here; what others write is seen by the next one that adopts.
func (p *Provider) recall(ctx context.Context, e *entry) {
	e.mu.Lock()
	silent, life := e.marks != nil && e.exit == nil, e.rec.ID
	e.mu.Unlock()
	if !silent {
		return
	}
	for _, key := range []string{session.DrainMark, session.DrainByMark, session.DrainAckMark} {
		value, err := p.Meta(ctx, e.name, key)
		if err != nil {
			p.log.Warn("cannot ask whether a session was told to finish", "session", e.name, "err",
				err)
			return
		}
		e.note(life, key, value)
	}
}

// note keeps a mark that the holder of this life does not tell.
func (e *entry) note(life, key, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.marks != nil && e.rec.ID == life {
		e.marks[key] = value
	}
}
