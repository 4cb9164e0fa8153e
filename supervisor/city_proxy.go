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

func asked[T any](p *proxy, ask func(city.Control) (T, error)) (T, error) {
	c, err := p.now()
	if err != nil {
		var none T
		return none, err
	}
	return ask(c)
}

func streamed[T any](p *proxy, stream func(city.Control) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c, err := p.now()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		stream(c)(yield)
	}
}

func (p *proxy) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	return asked(p, func(c city.Control) (*city.Snapshot, error) { return c.Snapshot(ctx) })
}

func (p *proxy) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return streamed(p, func(c city.Control) iter.Seq2[*city.Snapshot, error] {
		return c.Snapshots(ctx)
	})
}

func (p *proxy) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	return asked(p, func(c city.Control) (*city.Inspection, error) { return c.Inspect(ctx, agent) })
}

func (p *proxy) Output(ctx context.Context, agent string, lines int) (string, error) {
	return asked(p, func(c city.Control) (string, error) { return c.Output(ctx, agent, lines) })
}

func (p *proxy) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return asked(p, func(c city.Control) ([]events.Event, error) { return c.History(ctx, q) })
}

func (p *proxy) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return streamed(p, func(c city.Control) iter.Seq2[events.Event, error] {
		return c.Events(ctx, after)
	})
}

func (p *proxy) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return asked(p, func(c city.Control) ([]beads.Bead, error) { return c.Beads(ctx, q) })
}

func (p *proxy) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return streamed(p, func(c city.Control) iter.Seq2[city.Frame, error] {
		return c.Watch(ctx, agent)
	})
}

func (p *proxy) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return streamed(p, func(c city.Control) iter.Seq2[city.Piece, error] {
		return c.RunOutput(ctx, run)
	})
}

func (p *proxy) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	return asked(p, func(c city.Control) (city.Terminal, error) { return c.Attach(ctx, agent, v) })
}

func (p *proxy) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	return asked(p, func(c city.Control) (city.Receipt, error) { return c.Do(ctx, cmd) })
}

func (p *proxy) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return asked(p, func(c city.Control) (beads.Bead, error) { return c.Bead(ctx, id) })
}

// Locate implements city.StoreReader.
func (p *proxy) Locate(ctx context.Context, id string) (city.Located, error) {
	return supported(p, func(c city.StoreReader) (city.Located, error) { return c.Locate(ctx, id) })
}

// BeadsIn implements city.StoreReader.
func (p *proxy) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	return supported(p, func(c city.StoreReader) ([]beads.Bead, error) {
		return c.BeadsIn(ctx, rig, q)
	})
}

// Metrics implements city.MetricsSource. It returns the zero value if the city is not running.
func (p *proxy) Metrics() city.Metrics {
	c, err := p.now()
	if g, ok := c.(city.MetricsSource); err == nil && ok {
		return g.Metrics()
	}
	return city.Metrics{}
}

// supported is like asked, for requests that not every city.Control supports.
func supported[C, T any](p *proxy, ask func(C) (T, error)) (T, error) {
	return asked(p, func(c city.Control) (T, error) {
		if able, ok := c.(C); ok {
			return ask(able)
		}
		var none T
		return none, city.Errorf(city.Unavailable, "the city cannot report its configuration; run "+
			"`gcity config show` in its folder")
	})
}

// Config implements city.Configured.
func (p *proxy) Config(ctx context.Context) (string, error) {
	return supported(p, func(c city.Configured) (string, error) { return c.Config(ctx) })
}

// Explain implements city.Configured.
func (p *proxy) Explain(ctx context.Context, name string) (string, error) {
	return supported(p, func(c city.Configured) (string, error) { return c.Explain(ctx, name) })
}

// Validate implements city.Catalogued.
func (p *proxy) Validate(ctx context.Context) (city.Validation, error) {
	return supported(p, func(c city.Catalogued) (city.Validation, error) { return c.Validate(ctx) })
}

// Formulas implements city.Catalogued.
func (p *proxy) Formulas(ctx context.Context, rig string) ([]city.Formula, error) {
	return supported(p, func(c city.Catalogued) ([]city.Formula, error) {
		return c.Formulas(ctx, rig)
	})
}

// AddRig implements city.RigEditor.
func (p *proxy) AddRig(ctx context.Context, r city.NewRig) (city.Receipt, error) {
	return supported(p, func(c city.RigEditor) (city.Receipt, error) { return c.AddRig(ctx, r) })
}

// RemoveRig implements city.RigEditor.
func (p *proxy) RemoveRig(ctx context.Context, name string) (city.Receipt, error) {
	return supported(p, func(c city.RigEditor) (city.Receipt, error) {
		return c.RemoveRig(ctx, name)
	})
}
