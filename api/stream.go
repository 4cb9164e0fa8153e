package api

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/city"
	"gcity/events"
	"gcity/internal/recovery"
)

type stream struct {
	w     http.ResponseWriter
	limit writeLimit
	ahead int

	gathers  bool
	gathered []byte
}

func (s *server) open(w http.ResponseWriter) (st *stream, done func(), err error) {
	done, err = s.acquireStream()
	if err != nil {
		return nil, nil, err
	}
	st = &stream{w: w, limit: writeLimit{timeout: s.o.WriteTimeout}}
	leave, unhook := done, context.AfterFunc(s.life, func() { st.limit.shorten(w) })
	done = func() { unhook(); leave() }
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if err := st.write(": open\n\n"); err != nil {
		done()
		return nil, nil, err
	}
	return st, done, nil
}

func (s *server) acquireStream() (leave func(), err error) {
	select {
	case s.streams <- struct{}{}:
		return func() { <-s.streams }, nil
	default:
		return nil, city.Errorf(city.Unavailable, "%d streams are already open: close some",
			cap(s.streams))
	}
}

func (st *stream) write(s string) error {
	if st.gathers {
		st.gathered = append(st.gathered, s...)
		return nil
	}
	return writePieces(st.w, []byte(s), &st.limit)
}

func (st *stream) flush() error {
	st.gathers = false
	if len(st.gathered) == 0 {
		return nil
	}
	err := writePieces(st.w, st.gathered, &st.limit)
	st.gathered = st.gathered[:0]
	return err
}

func (st *stream) send(event, id string, v any) error {
	data, err := json.Marshal(v) // has no line breaks; one would end the event's data
	if err != nil {
		return err
	}
	var b strings.Builder
	if event != "" && !strings.ContainsAny(event, "\r\n") {
		b.WriteString("event: " + event + "\n")
	}
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return st.write(b.String())
}

func (s *server) errStopped() error {
	name := "the city's controller"
	if s.many {
		name = "the supervisor"
	}
	return &city.Error{Code: city.Unavailable, Message: name + " has stopped", Details: city.Ended}
}

var errCut = errors.New("the client has disconnected or is too slow")

const eventsAhead = 64

// serveStream sends the items that from yields as a stream.
func serveStream[T any](s *server, w http.ResponseWriter, r *http.Request,
	from func(context.Context) iter.Seq2[T, error], send func(*stream, T) error) error {
	st, done, err := s.open(w)
	if err != nil {
		return err
	}
	defer done()
	pump(s, st, r, from, func(v T) error { return send(st, v) })
	return nil
}

func pump[T any](s *server, st *stream, r *http.Request,
	from func(context.Context) iter.Seq2[T, error], send func(T) error) {
	err := pumpItems(s, st, r, from, send)
	switch {
	case errors.Is(err, errCut) || r.Context().Err() != nil:
		return
	case s.life.Err() != nil:
		err = st.send(wire.EventError, "", s.errStopped())
	case err != nil:
		err = st.send(wire.EventError, "", wire.ErrorOf(err))
	default:
		err = st.send(wire.EventEnd, "", struct{}{})
	}
	if err != nil {
		s.o.Log.Debug("cannot notify the client that its stream has ended", "err", err)
	}
}

func pumpItems[T any](s *server, st *stream, r *http.Request,
	from func(context.Context) iter.Seq2[T, error], send func(T) error) error {
	type item struct {
		v   T
		err error
	}
	ctx, cancel := context.WithCancel(r.Context())
	items := make(chan item, st.ahead)
	var wg recovery.Group
	defer wg.Wait()
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	wg.Go(func() {
		defer close(items)
		for v, err := range from(ctx) {
			select {
			case items <- item{v, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	quiet := time.NewTicker(s.o.KeepAlive)
	defer quiet.Stop()
	for {
		select {
		case it, more := <-items:
			st.gathers = st.ahead > 0
			for again := true; again; {
				if !more || it.err != nil {
					if st.flush() != nil {
						return errCut
					}
					return it.err
				}
				if send(it.v) != nil {
					return errCut
				}
				if again = len(st.gathered) < pieceSize; again {
					select {
					case it, more = <-items:
					default:
						again = false
					}
				}
			}
			if st.flush() != nil {
				return errCut
			}
		case <-quiet.C:
			if st.write(": quiet\n\n") != nil {
				return errCut
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *server) snapshots(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	return serveStream(s, w, r, s.city.Snapshots, func(st *stream, snap *city.Snapshot) error {
		return st.send("snapshot", strconv.FormatUint(snap.Rev, 10), snap)
	})
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	if _, ok := snap.Agent(rt.Target); !ok {
		return missing(snap, wire.KindAgent, rt.Target)
	}
	return serveStream(s, w, r, func(ctx context.Context) iter.Seq2[city.Frame, error] {
		return s.city.Watch(ctx, rt.Target)
	}, func(st *stream, f city.Frame) error { return st.send("frame", "", f) })
}

func (s *server) eventStream(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	q, err := selection(r)
	if err != nil {
		return err
	}
	newest, err := s.city.History(r.Context(), events.Query{Limit: 1})
	if err != nil {
		return err
	}
	var last uint64
	if len(newest) > 0 {
		last = newest[0].Seq
	}
	after, asked, gap := last, gascity.Cursor(r), false
	if asked != "" {
		n, ok := ownCursor(r.Context(), s.city, asked)
		if gap = !ok || n > last; !gap {
			after = n
		}
	}
	st, done, err := s.open(w)
	if err != nil {
		return err
	}
	defer done()
	if gap && st.sendEvent(city.BeyondLog(asked, last)) != nil {
		return nil
	}
	if asked == "" && st.write("id: "+strconv.FormatUint(last, 10)+"\n\n") != nil {
		return nil
	}
	at := after
	st.ahead = eventsAhead
	pump(s, st, r, func(ctx context.Context) iter.Seq2[events.Event, error] {
		return s.city.Events(ctx, after)
	},
		func(e events.Event) error {
			if e.Seq > at+1 && !city.IsInsertedGap(&e) {
				if err := st.sendEvent(city.GapEvent(at+1, e.Seq-1, e.TS)); err != nil {
					return err
				}
			}
			at = e.Seq
			if !q.Match(&e) {
				return nil
			}
			return st.sendEvent(e)
		})
	return nil
}

func (st *stream) sendEvent(e events.Event) error {
	return st.send(eventName(e.Type), strconv.FormatUint(e.Seq, 10), e)
}

func eventName(kind string) string {
	if strings.HasPrefix(kind, "!") {
		return ""
	}
	return kind
}

func ownCursor(ctx context.Context, c city.Control, text string) (seq uint64, ok bool) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, true
	}
	all, err := city.ParseCursor(text)
	if err != nil {
		return 0, false
	}
	snap, err := c.Snapshot(ctx)
	if err != nil {
		return 0, false
	}
	seq, ok = all[snap.Name]
	return seq, ok
}

func (s *server) streamOutput(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	lines, err := number(r, "lines", wire.MaxLines)
	if err != nil {
		return err
	}
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	if _, ok := snap.Agent(rt.Target); !ok {
		return missing(snap, wire.KindAgent, rt.Target)
	}
	n := uint64(0)
	from := func(ctx context.Context) iter.Seq2[gascity.Output, error] {
		return gascity.Outputs(ctx, s.city, rt.Target, int(lines))
	}
	return serveStream(s, w, r, from, func(st *stream, a gascity.Output) error {
		n++
		return st.send("turn", strconv.FormatUint(n, 10), a)
	})
}
