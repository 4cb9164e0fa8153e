package supervisor

import (
	"context"
	"fmt"
	"iter"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// proxy is the city.Control of a registered city. The city need not be running.
type proxy struct {
	s    *Supervisor
	path string
}

var (
	_ city.Control       = (*proxy)(nil)
	_ city.StoreReader   = (*proxy)(nil)
	_ city.MetricsSource = (*proxy)(nil)
	_ city.Configured    = (*proxy)(nil)
	_ city.Catalogued    = (*proxy)(nil)
	_ city.RigEditor     = (*proxy)(nil)
)

func (p *proxy) now() (city.Control, error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	w := p.s.workers[p.path]
	if w == nil {
		return nil, city.Errorf(city.NotFound, "the city in %s is no longer registered", p.path)
	}
	if w.running != nil && (w.state == city.CityRunning || w.state == city.CityStopping) {
		return w.running.Control(), nil
	}
	text := fmt.Sprintf("the city %s is not running: it is %s", w.name, w.state)
	if w.why != "" {
		text += ": " + w.why
	}
	if !w.until.IsZero() {
		text += "; next attempt at " + w.nextAttempt().Local().Format("15:04:05")
	}
	return nil, &city.Error{Code: city.Unavailable, Message: text}
}

// call0, call1 and call2 call a method of the city that has 0, 1 or 2 parameters after the context. C is city.Control,
// or an optional interface that some cities do not implement.
func call0[C, T any](ctx context.Context, p *proxy, do func(C, context.Context) (T, error)) (T,
	error) {
	var none T
	c, err := p.now()
	if err != nil {
		return none, err
	}
	able, ok := c.(C)
	if !ok {
		return none, city.Errorf(city.Unavailable, "the city cannot report its configuration; run "+
			"`gcity config show` in its folder")
	}
	return do(able, ctx)
}

func call1[C, A, T any](ctx context.Context, p *proxy, do func(C, context.Context, A) (T, error),
	a A) (T, error) {
	return call0(ctx, p, func(c C, ctx context.Context) (T, error) { return do(c, ctx, a) })
}

func call2[C, A, B, T any](ctx context.Context, p *proxy,
	do func(C, context.Context, A, B) (T, error), a A, b B) (T, error) {
	return call0(ctx, p, func(c C, ctx context.Context) (T, error) { return do(c, ctx, a, b) })
}

// stream is like call1, for a method that returns a stream.
func stream[A, T any](ctx context.Context, p *proxy,
	do func(city.Control, context.Context, A) iter.Seq2[T, error], a A) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c, err := p.now()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		do(c, ctx, a)(yield)
	}
}

func (p *proxy) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	return call0(ctx, p, city.Control.Snapshot)
}

func (p *proxy) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		c, err := p.now()
		if err != nil {
			yield(nil, err)
			return
		}
		c.Snapshots(ctx)(yield)
	}
}

func (p *proxy) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	return call1(ctx, p, city.Control.Inspect, agent)
}

func (p *proxy) Output(ctx context.Context, agent string, lines int) (string, error) {
	return call2(ctx, p, city.Control.Output, agent, lines)
}

func (p *proxy) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return call1(ctx, p, city.Control.History, q)
}

func (p *proxy) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return stream(ctx, p, city.Control.Events, after)
}

func (p *proxy) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return call1(ctx, p, city.Control.Beads, q)
}

func (p *proxy) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return stream(ctx, p, city.Control.Watch, agent)
}

func (p *proxy) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return stream(ctx, p, city.Control.RunOutput, run)
}

func (p *proxy) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	return call2(ctx, p, city.Control.Attach, agent, v)
}

func (p *proxy) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	return call1(ctx, p, city.Control.Do, cmd)
}

func (p *proxy) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return call1(ctx, p, city.Control.Bead, id)
}

// Locate implements city.StoreReader.
func (p *proxy) Locate(ctx context.Context, id string) (city.Located, error) {
	return call1(ctx, p, city.StoreReader.Locate, id)
}

// BeadsIn implements city.StoreReader.
func (p *proxy) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	return call2(ctx, p, city.StoreReader.BeadsIn, rig, q)
}

// Metrics implements city.MetricsSource. It returns the zero value if the city is not running.
func (p *proxy) Metrics() city.Metrics {
	c, err := p.now()
	if g, ok := c.(city.MetricsSource); err == nil && ok {
		return g.Metrics()
	}
	return city.Metrics{}
}

// Config implements city.Configured.
func (p *proxy) Config(ctx context.Context) (string, error) {
	return call0(ctx, p, city.Configured.Config)
}

// Explain implements city.Configured.
func (p *proxy) Explain(ctx context.Context, name string) (string, error) {
	return call1(ctx, p, city.Configured.Explain, name)
}

// Validate implements city.Catalogued.
func (p *proxy) Validate(ctx context.Context) (city.Validation, error) {
	return call0(ctx, p, city.Catalogued.Validate)
}

// Formulas implements city.Catalogued.
func (p *proxy) Formulas(ctx context.Context, rig string) ([]city.Formula, error) {
	return call1(ctx, p, city.Catalogued.Formulas, rig)
}

// AddRig implements city.RigEditor.
func (p *proxy) AddRig(ctx context.Context, r city.NewRig) (city.Receipt, error) {
	return call1(ctx, p, city.RigEditor.AddRig, r)
}

// RemoveRig implements city.RigEditor.
func (p *proxy) RemoveRig(ctx context.Context, name string) (city.Receipt, error) {
	return call1(ctx, p, city.RigEditor.RemoveRig, name)
}
