package api

import (
	"context"
	"iter"
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
)

// pendingCalls limits the number of hung calls to cities.
type pendingCalls struct {
	mu sync.Mutex
	of map[string]map[*waiting]bool // by city name
}

type waiting struct {
	left time.Time // when the caller gave up; zero while it waits
}

func (c *pendingCalls) begin(ctx context.Context, name string) (end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.of[name] {
		if !w.left.IsZero() && time.Since(w.left) > snapshotTime {
			return nil, &city.Error{Code: city.Unavailable, Message: name + " has not " +
				"responded to an earlier request yet"}
		}
	}
	if c.of == nil {
		c.of = map[string]map[*waiting]bool{}
	}
	if c.of[name] == nil {
		c.of[name] = map[*waiting]bool{}
	}
	w := &waiting{}
	c.of[name][w] = true
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		w.left = time.Now()
	})
	return func() {
		stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.of[name], w); len(c.of[name]) == 0 {
			delete(c.of, name)
		}
	}, nil
}

type limitedDirectory struct {
	city.Directory
	calls *pendingCalls
}

// City implements city.Directory.
func (p limitedDirectory) City(name string) (city.Control, error) {
	c, err := p.Directory.City(name)
	if err != nil {
		return nil, err
	}
	return &limitedControl{c, name, p.calls}, nil
}

type limitedControl struct {
	city.Control
	name  string
	calls *pendingCalls
}

func (a *limitedControl) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	end, err := a.calls.begin(ctx, a.name)
	if err != nil {
		return nil, err
	}
	defer end()
	return a.Control.History(ctx, q)
}

func (a *limitedControl) Output(ctx context.Context, agent string, lines int) (string, error) {
	end, err := a.calls.begin(ctx, a.name)
	if err != nil {
		return "", err
	}
	defer end()
	return a.Control.Output(ctx, agent, lines)
}

func (a *limitedControl) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		end, err := a.calls.begin(ctx, a.name)
		if err != nil {
			yield(events.Event{}, err)
			return
		}
		defer end()
		a.Control.Events(ctx, after)(yield)
	}
}

// inTime returns the result of ask, which must not panic. ok is false if ctx ends first.
func inTime[T any](ctx context.Context, ask func() T) (answer T, ok bool) {
	answers := make(chan T, 1)
	go func() { answers <- ask() }()
	select {
	case answer = <-answers:
		return answer, true
	case <-ctx.Done():
		return answer, false
	}
}
