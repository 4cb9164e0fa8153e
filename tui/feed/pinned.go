package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"gcity/city"
	"gcity/events"
)

// listDeadline is the time limit for reading the list of cities before a switch to a city.
const listDeadline = 5 * time.Second

// pinned is a city in the list that is tied to its folder. If the city's name starts to refer to a different city, the
// methods of pinned return errors.
type pinned struct {
	city.Control
	r          *Runner
	dir        city.Directory
	name, path string
}

// pin returns the city with the given name, provided that it is in the given folder.
func (r *Runner) pin(ctx context.Context, d city.Directory, name, path string) (city.Control,
	error) {
	ctx, cancel := context.WithTimeout(ctx, listDeadline)
	defer cancel()
	err := r.checkCityFolder(ctx, d, name, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("the list of cities did not arrive within %s", listDeadline)
	}
	if err != nil {
		return nil, err
	}
	c, err := d.City(name)
	if err != nil {
		return nil, err
	}
	return pinned{c, r, d, name, path}, nil
}

func (p pinned) checkFolder(ctx context.Context) error {
	return p.r.checkCityFolder(ctx, p.dir, p.name, p.path)
}

func (p pinned) checkSnapshot(ctx context.Context, s *city.Snapshot) error {
	if s.Path == p.path {
		return nil
	}
	return p.checkFolder(ctx)
}

func (p pinned) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	s, err := p.Control.Snapshot(ctx)
	if err == nil {
		err = p.checkSnapshot(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (p pinned) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for s, err := range p.Control.Snapshots(ctx) {
			if err == nil {
				err = p.checkSnapshot(ctx, s)
			}
			if err != nil {
				s = nil
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func (p pinned) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		if err := p.checkFolder(ctx); err != nil {
			yield(events.Event{}, err)
			return
		}
		p.Control.Events(ctx, after)(yield)
	}
}

func (p pinned) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		if err := p.checkFolder(ctx); err != nil {
			yield(city.Frame{}, err)
			return
		}
		p.Control.Watch(ctx, agent)(yield)
	}
}

func (p pinned) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	if err := p.checkFolder(ctx); err != nil {
		return nil, err
	}
	return p.Control.Attach(ctx, agent, v)
}

func (p pinned) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	if err := p.checkFolder(ctx); err != nil {
		return city.Receipt{}, err
	}
	return p.Control.Do(ctx, c)
}
