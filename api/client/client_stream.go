package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tmaxmax/go-sse"

	"gcity/api/wire"
	"gcity/city"
	"gcity/events"
)

const (
	maxItem = 64 << 20
	// maximum number of consecutive reconnections without a new item
	maxResume = 3
)

var errResume = errors.New("the stream was cut off")

// Snapshots implements city.Control.
func (c *Client) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return resumed(ctx, c, func() (string, url.Values) { return "/v0/snapshot/stream", nil },
		func(*city.Snapshot) {})
}

// Events implements city.Control.
func (c *Client) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return resumed(ctx, c,
		func() (string, url.Values) {
			return "/v0/events/stream", url.Values{"after_seq": {strconv.FormatUint(after, 10)}}
		},
		func(e events.Event) { after = e.Seq })
}

// Watch implements city.Control.
func (c *Client) Watch(ctx context.Context, name string) iter.Seq2[city.Frame, error] {
	path, err := wire.Path(wire.KindAgent, name, wire.KindWatchStream)
	if err != nil {
		return func(yield func(city.Frame, error) bool) { yield(city.Frame{}, err) }
	}
	return resumed(ctx, c, func() (string, url.Values) { return path, nil }, func(city.Frame) {})
}

// resumed yields the items of a stream until the city ends it. It reconnects if the connection is lost.
func resumed[T any](ctx context.Context, c *Client, resumePath func() (string, url.Values),
	onItem func(T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.life, cancel)()
		var zero T
		for tries := 0; tries < maxResume; tries++ {
			path, q := resumePath()
			stopped := false
			err := readStream(ctx, c, path, q, func(v T) bool {
				tries = 0
				onItem(v)
				stopped = !yield(v, nil)
				return !stopped
			})
			switch {
			case stopped || err == nil || ctx.Err() != nil:
				return
			case !errors.Is(err, errResume):
				yield(zero, err)
				return
			}
		}
		yield(zero, city.Errorf(city.Unavailable, "the city's controller does not respond"))
	}
}

// readStream returns errResume if the connection is lost.
func readStream[T any](ctx context.Context, c *Client, path string, q url.Values,
	each func(T) bool) error {
	resp, err := c.request(ctx, request{method: http.MethodGet, path: path, query: q,
		stream: true})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for ev, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: maxItem}) {
		if err != nil {
			return errResume
		}
		switch ev.Type {
		case wire.EventEnd:
			return nil
		case wire.EventError:
			e := new(city.Error)
			if json.Unmarshal([]byte(ev.Data), e) != nil {
				return errResume
			}
			return e
		}
		var v T
		if err := json.Unmarshal([]byte(ev.Data), &v); err != nil {
			return errResume // the connection was lost in the middle of an item
		}
		if !each(v) {
			return nil
		}
	}
	return errResume
}
