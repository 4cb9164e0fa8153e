package client

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"strings"
	"sync"

	"gcity/api/wire"
	"gcity/city"
)

const maxBuffered = 128 << 10 // in bytes

// RunOutput implements city.Control. It drops pieces if the caller is too slow, so that the city does not disconnect
// the stream.
func (c *Client) RunOutput(ctx context.Context, id string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.life, cancel)()
		r, err := city.GetRun(ctx, c, id)
		if err != nil {
			if ctx.Err() == nil {
				yield(city.Piece{}, err)
			}
			return
		}
		path, err := wire.Path(wire.KindAutomation, r.Automation, wire.KindRun)
		if err != nil {
			yield(city.Piece{}, err)
			return
		}
		path += "/" + url.PathEscape(r.ID) + "/" + string(wire.KindWatchStream)
		h := &pieceQueue{news: make(chan struct{}, 1)}
		var reading sync.WaitGroup
		defer reading.Wait()
		defer cancel()
		reading.Go(func() { h.end(readStream(ctx, c, path, nil, h.put)) })
		for {
			p, ok, err := h.take(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				yield(city.Piece{}, err)
				return
			case !ok || !yield(p, nil):
				return
			}
		}
	}
}

type pieceQueue struct {
	mu     sync.Mutex
	pieces []city.Piece
	size   int
	inner  bool
	over   bool
	err    error // why the stream ended; nil if the run has ended
	news   chan struct{}
}

func (h *pieceQueue) put(p city.Piece) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pieces = append(h.pieces, p)
	h.size += len(p.Text)
	for len(h.pieces) > 1 && h.size > maxBuffered {
		old := h.pieces[0]
		h.pieces = h.pieces[1:]
		h.size -= len(old.Text)
		h.pieces[0].Dropped += old.Dropped + int64(len(old.Text))
	}
	h.wakeReader()
	return true
}

func (h *pieceQueue) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if errors.Is(err, errResume) {
		err = city.Errorf(city.Unavailable, "lost the connection to the city's controller; the "+
			"rest of the run's output is missing")
	}
	h.over, h.err = true, err
	h.wakeReader()
}

func (h *pieceQueue) wakeReader() {
	select {
	case h.news <- struct{}{}:
	default:
	}
}

func (h *pieceQueue) take(ctx context.Context) (p city.Piece, ok bool, err error) {
	for {
		p, ok, over, err := h.next()
		if ok || over {
			return p, ok, err
		}
		select {
		case <-h.news:
		case <-ctx.Done():
			return p, false, ctx.Err()
		}
	}
}

func (h *pieceQueue) next() (p city.Piece, ok, over bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pieces) == 0 {
		return p, false, h.over, h.err
	}
	p = h.pieces[0]
	h.pieces = h.pieces[1:]
	h.size -= len(p.Text)
	if p.Dropped > 0 && h.inner && !strings.HasPrefix(p.Text, "\n") {
		p.Text = "\n" + p.Text
	}
	if p.Text != "" {
		h.inner = !strings.HasSuffix(p.Text, "\n")
	}
	return p, true, false, nil
}
