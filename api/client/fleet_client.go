package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"sync"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/suggest"
)

const findTime = 5 * time.Second

// Fleet is a client for all cities of a machine, over the supervisor's socket.
type Fleet struct {
	c *Client

	mu     sync.Mutex
	cities map[string]*Client
}

var (
	_ city.Directory = (*Fleet)(nil)
	_ city.Registrar = (*Fleet)(nil)
)

// DialFleet connects to the supervisor with this socket. It fails with ErrNotRunning if no process listens there. An
// ErrUnresponsive names pid, because the process of a socket that accepts no connection is unknown.
func DialFleet(path string, pid int) (*Fleet, error) {
	c, err := dialFor(SupervisorName, path)
	if errors.Is(err, ErrUnresponsive) {
		err = unresponsive(SupervisorName, pid, "")
	}
	if err != nil {
		return nil, err
	}
	return &Fleet{c: c, cities: map[string]*Client{}}, nil
}

// Close ends all streams and terminals, including those of the fleet's cities.
func (f *Fleet) Close() error { return f.c.Close() }

// Cities implements city.Directory.
func (f *Fleet) Cities(ctx context.Context) ([]city.Info, error) {
	var a wire.Cities
	err := f.c.get(ctx, "/v0/cities", nil, &a)
	return a.Items, err
}

// Troubles returns the supervisor's own problems.
func (f *Fleet) Troubles(ctx context.Context) ([]string, error) {
	var a wire.Cities
	err := f.c.get(ctx, "/v0/cities", url.Values{"limit": {"1"}}, &a)
	return a.Troubles, err
}

// Watch implements city.Directory.
func (f *Fleet) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		lists := resumed(ctx, f.c, func() (string, url.Values) {
			return "/v0/cities/stream", nil
		}, func(wire.Cities) {})
		for a, err := range lists {
			if !yield(a.Items, err) {
				return
			}
		}
	}
}

// City implements city.Directory. It returns a *Client. Closing that Client ends only the streams and terminals of this
// city.
func (f *Fleet) City(name string) (city.Control, error) {
	if !wire.ValidPart(name) {
		return nil, city.Missing(suggest.NoSuch(suggest.City, name))
	}
	ctx, cancel := context.WithTimeout(f.c.life, findTime)
	defer cancel()
	all, err := f.Cities(ctx)
	if err != nil {
		return nil, err
	}
	if wire.Find(all, name) == nil {
		return nil, wire.UnknownCity(name, all)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.cities[name]; one != nil && one.life.Err() == nil {
		return one, nil
	}
	one := *f.c
	one.below = "/v0/city/" + name
	one.life, one.end = context.WithCancel(f.c.life)
	f.cities[name] = &one
	return &one, nil
}

// Register implements city.Registrar.
func (f *Fleet) Register(ctx context.Context, path string) (city.Info, error) {
	var info city.Info
	body, err := json.Marshal(wire.Registration{Path: path})
	if err != nil {
		return info, err
	}
	return info, f.c.call(ctx,
		request{method: http.MethodPost, path: "/v0/cities", body: body}, &info)
}

// Unregister implements city.Registrar.
func (f *Fleet) Unregister(ctx context.Context, name string) (city.Receipt, error) {
	var receipt city.Receipt
	if !wire.ValidPart(name) {
		return receipt, city.Missing(suggest.NoSuch(suggest.City, name))
	}
	return receipt, f.c.call(ctx, request{method: http.MethodPost,
		path: "/v0/city/" + name + "/unregister"}, &receipt)
}
