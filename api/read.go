package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/city"
	"gcity/events"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 5 * time.Minute
	// how long a long poll can wait if there is an event after its index that the counts of work do not include
	uncountedWait = time.Second
)

// waitContext parses ?index=N&wait=30s.
func (s *server) waitContext(r *http.Request) (ctx context.Context, cancel func(), index uint64,
	asked bool, err error) {
	q := r.URL.Query()
	index, err = number(r, "index", math.MaxUint64)
	wait := defaultWait
	if err == nil {
		wait, err = waitOf(r)
	}
	ctx, end := context.WithTimeout(r.Context(), wait)
	unhook := context.AfterFunc(s.life, end)
	return ctx, func() { unhook(); end() }, index, q.Has("index"), err
}

func waitOf(r *http.Request) (time.Duration, error) {
	v := r.URL.Query().Get("wait")
	if v == "" {
		return defaultWait, nil
	}
	wait, err := time.ParseDuration(v)
	if err != nil || wait < 0 || wait > maxWait {
		return 0, wire.Invalid("wait=%.40q is invalid: use a duration from 0s to %s", v, maxWait)
	}
	return wait, nil
}

// requestedSnapshot returns a snapshot that is as new as the request asks. Before it waits, it calls check, unless
// check is nil. If the error of check means that the request is invalid, requestedSnapshot returns it immediately.
func (s *server) requestedSnapshot(r *http.Request,
	check func(current *city.Snapshot) error) (*city.Snapshot, error) {
	ctx, cancel, index, asked, err := s.waitContext(r)
	defer cancel()
	if err != nil {
		return nil, err
	}
	if !asked {
		return s.city.Snapshot(r.Context())
	}
	leave, err := s.acquireStream()
	if err != nil {
		return nil, err
	}
	defer leave()
	// A later snapshot counts as new even if its Seq is still index: an event is logged before the snapshot that
	// contains its effect.
	first := true
	for snap, err := range s.city.Snapshots(ctx) {
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err == nil && (snap.Index() > index || !first) {
			return snap, nil
		}
		if err == nil && check != nil {
			if err := check(snap); city.HasCode(err, city.Invalid) {
				return nil, err
			}
		}
		// the client may have missed a snapshot since its last request, because its index was lowered
		if err == nil && snap.Seq > index {
			defer time.AfterFunc(uncountedWait, cancel).Stop()
		}
		first = false
	}
	return s.city.Snapshot(r.Context())
}

func (s *server) output(q *query) (any, error) {
	lines, err := number(q.Request, "lines", wire.MaxLines)
	if err != nil {
		return nil, err
	}
	text, err := s.city.Output(q.Context(), q.Target, int(lines))
	if q.Kind == wire.KindPeek {
		return gascity.Peek{Output: text}, err
	}
	return gascity.OutputOf(q.Target, text), err
}

func (s *server) events(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	q, err := eventQuery(r)
	if err != nil {
		return err
	}
	ctx, cancel, index, asked, err := s.waitContext(r)
	defer cancel()
	if err != nil {
		return err
	}
	if asked {
		if err := s.await(ctx, index); err != nil {
			return err
		}
	}
	// before the page, so that the page contains every event up to the index of the response
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	found, err := s.city.History(r.Context(), q)
	if err != nil {
		return err
	}
	page := gascity.ListOf(found)
	if n := len(found); n > 0 && (q.Forward || q.After > 0) {
		page.Next = strconv.FormatUint(found[n-1].Seq, 10)
	}
	w.Header().Set("X-GC-Index", strconv.FormatUint(snap.Seq, 10))
	s.reply(w, http.StatusOK, page)
	return nil
}

func (s *server) await(ctx context.Context, index uint64) error {
	leave, err := s.acquireStream()
	if err != nil {
		return err
	}
	defer leave()
	for _, err := range s.city.Events(ctx, index) {
		if err != nil && ctx.Err() == nil {
			return err
		}
		break
	}
	return nil
}

// eventQuery parses an event query. "cursor" is like "after_seq", but selects the oldest events first.
func eventQuery(r *http.Request) (events.Query, error) {
	v := r.URL.Query()
	q, err := selection(r)
	if err != nil {
		return q, err
	}
	q.Forward = v.Has("cursor")
	name := "after_seq"
	if v.Has("cursor") {
		name = "cursor"
	}
	if q.After, err = number(r, name, math.MaxUint64); err != nil {
		return q, err
	}
	if q.Before, err = number(r, "before_seq", math.MaxUint64); err != nil {
		return q, err
	}
	forward, _, err := flag(r, "forward")
	if err != nil {
		return q, err
	}
	asc, err := gascity.OldestFirst(v)
	if err != nil {
		return q, err
	}
	q.Forward = q.Forward || forward || asc
	limit, err := number(r, "limit", wire.MaxLines)
	if q.Limit = int(limit); limit == 0 && asc && !q.Since.IsZero() {
		q.Limit = wire.MaxLines // a smaller limit would cut off the newest events
	}
	return q, err
}

func selection(r *http.Request) (events.Query, error) {
	v := r.URL.Query()
	q := events.Query{Actor: v.Get("actor"), Subject: v.Get("subject")}
	for _, list := range v["type"] {
		for t := range strings.SplitSeq(list, ",") {
			if t != "" {
				q.Types = append(q.Types, t)
			}
		}
	}
	if since := v.Get("since"); since != "" {
		if ago, err := time.ParseDuration(since); err == nil {
			q.Since = time.Now().Add(-ago)
		} else if q.Since, err = time.Parse(time.RFC3339Nano, since); err != nil {
			return q, wire.Invalid("since=%.40q is invalid: use a time (2006-01-02T15:04:05Z) or "+
				"a duration (1h30m)", since)
		}
	}
	return q, nil
}
