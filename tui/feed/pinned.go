package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

const listDeadline = 5 * time.Second

// pinned is a city that is tied to its folder. Its methods fail if the city's name refers to a different city.
type pinned struct {
	r          *Runner
	dir        city.Directory
	name, path string

	mu      sync.Mutex
	current city.Control
	lost    bool
}

func (r *Runner) pin(ctx context.Context, d city.Directory, name, path string) (city.Control,
	error) {
	p := &pinned{r: r, dir: d, name: name, path: path}
	if err := p.reconnect(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// reconnect gets the city from the list again, because a different process might be running it now.
func (p *pinned) reconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listDeadline)
	defer cancel()
	err := p.checkFolder(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the list of cities did not arrive within %s", listDeadline)
	}
	if err != nil {
		return err
	}
	c, err := p.dir.City(p.name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.lost = c, false
	return nil
}

func (p *pinned) found(ctx context.Context) city.Control {
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	if lost {
		_ = p.reconnect(ctx) // on error, the current control reports why the city cannot be reached
	}
	return p.control()
}

func (p *pinned) setLost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
}

func (p *pinned) control() city.Control {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (p *pinned) checkFolder(ctx context.Context) error {
	return p.r.checkCityFolder(ctx, p.dir, p.name, p.path)
}

func (p *pinned) checkSnapshot(ctx context.Context, s *city.Snapshot) error {
	if s.Path == p.path {
		return nil
	}
	return p.checkFolder(ctx)
}

func (p *pinned) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	s, err := p.found(ctx).Snapshot(ctx)
	if err == nil {
		err = p.checkSnapshot(ctx, s)
	}
	if err != nil {
		p.setLost()
		return nil, err
	}
	return s, nil
}

func (p *pinned) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for s, err := range p.found(ctx).Snapshots(ctx) {
			if err == nil {
				err = p.checkSnapshot(ctx, s)
			}
			if err != nil {
				p.setLost()
				s = nil
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		p.setLost() // the controller has exited
	}
}

func (p *pinned) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		if err := p.checkFolder(ctx); err != nil {
			yield(events.Event{}, err)
			return
		}
		p.control().Events(ctx, after)(yield)
	}
}

func (p *pinned) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		if err := p.checkFolder(ctx); err != nil {
			yield(city.Frame{}, err)
			return
		}
		p.control().Watch(ctx, agent)(yield)
	}
}

func (p *pinned) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	if err := p.checkFolder(ctx); err != nil {
		return nil, err
	}
	return p.control().Attach(ctx, agent, v)
}

func (p *pinned) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	if err := p.checkFolder(ctx); err != nil {
		return city.Receipt{}, err
	}
	return p.control().Do(ctx, c)
}

func (p *pinned) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	return p.control().Inspect(ctx, agent)
}

func (p *pinned) Output(ctx context.Context, agent string, lines int) (string, error) {
	return p.control().Output(ctx, agent, lines)
}

func (p *pinned) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return p.control().History(ctx, q)
}

func (p *pinned) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return p.control().Beads(ctx, q)
}

func (p *pinned) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return p.control().Bead(ctx, id)
}

func (p *pinned) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return p.control().RunOutput(ctx, run)
}
