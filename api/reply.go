package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/recovery"
)

func page[T any](r *http.Request, items []T, name func(*T) string) (gascity.List[T], error) {
	return pageBy(r, items, name, strings.Compare)
}

func pageBy[T any](r *http.Request, items []T, name func(*T) string,
	order func(a, b string) int) (gascity.List[T], error) {
	limit, err := number(r, "limit", wire.MaxLines)
	if err != nil {
		return gascity.List[T]{}, err
	}
	all := gascity.ListOf(items)
	if after := r.URL.Query().Get("cursor"); after != "" {
		from := slices.IndexFunc(items, func(v T) bool { return order(name(&v), after) > 0 })
		if from < 0 {
			from = len(items)
		}
		all.Items = all.Items[from:]
	}
	if n := int(limit); n > 0 && n < len(all.Items) {
		all.Items = all.Items[:n]
		all.Next = name(&all.Items[n-1])
	}
	return all, nil
}

// query is a request for data, with a snapshot that is at least as new as the request requires.
type query struct {
	*http.Request
	wire.Route
	snap *city.Snapshot
}

// answer returns the handler that responds with the result of get.
func (s *server) answer(get func(*query) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
		return s.read(w, r, func(snap *city.Snapshot) (any, error) {
			return get(&query{r, rt, snap})
		})
	}
}

// read responds with the result of get, which must not change anything. If the request has to wait for a newer
// snapshot, read first calls get with the current one, so that an invalid request fails immediately.
func (s *server) read(w http.ResponseWriter, r *http.Request,
	get func(*city.Snapshot) (any, error)) error {
	snap, err := s.requestedSnapshot(r, func(current *city.Snapshot) error {
		_, err := get(current)
		return err
	})
	if err != nil {
		return err
	}
	v, err := get(snap)
	if err == nil {
		s.ok(w, snap, v)
	}
	return err
}

type responder struct{ o Options }

// reply sends v as JSON. It flushes the response, so that it is not lost if the server exits.
func (s *responder) reply(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.o.Log.Error("cannot encode a response as JSON", "err", err)
		code, body = http.StatusInternalServerError,
			[]byte(`{"code":"unavailable",`+
				`"message":"cannot encode the response as JSON; see the log"}`)
	}
	s.write(w, code, "application/json", append(body, '\n'))
}

func (s *responder) write(w http.ResponseWriter, code int, kind string, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	writeHead(w, code, kind)
	// the client might have disconnected
	_ = writePieces(w, body, &writeLimit{timeout: s.o.WriteTimeout})
}

func writeHead(w http.ResponseWriter, code int, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
}

// pieceSize is how many bytes a client must read within the timeout of one write.
const pieceSize = 32 << 10

const lastWriteTimeout = 500 * time.Millisecond

type writeLimit struct {
	mu      sync.Mutex
	timeout time.Duration
}

func (l *writeLimit) start(w http.ResponseWriter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(l.timeout))
}

// shorten reduces the timeout of the current write and of later ones, so that a slow client cannot delay the shutdown.
func (l *writeLimit) shorten(w http.ResponseWriter) {
	l.mu.Lock()
	l.timeout = min(l.timeout, lastWriteTimeout)
	l.mu.Unlock()
	l.start(w)
}

func writePieces(w http.ResponseWriter, b []byte, limit *writeLimit) error {
	rc := http.NewResponseController(w)
	for piece := range slices.Chunk(b, pieceSize) {
		limit.start(w)
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return rc.Flush()
}

func (s *responder) ok(w http.ResponseWriter, snap *city.Snapshot, v any) {
	w.Header().Set("X-GC-Index", strconv.FormatUint(snap.Index(), 10))
	s.reply(w, http.StatusOK, v)
}

// result responds with v if err is nil, and returns err.
func (s *responder) result(w http.ResponseWriter, v any, err error) error {
	if err == nil {
		s.reply(w, http.StatusOK, v)
	}
	return err
}

func (s *responder) fail(w http.ResponseWriter, err error) {
	e := wire.ErrorOf(err)
	code := http.StatusInternalServerError
	switch e.Code {
	case city.NotFound:
		code = http.StatusNotFound
	case city.Conflict:
		code = http.StatusConflict
	case city.Invalid, city.CityRequired:
		code = http.StatusBadRequest
	case city.Unavailable:
		code = http.StatusServiceUnavailable
	case city.Forbidden:
		code = http.StatusForbidden
	case city.Unsupported:
		code = http.StatusNotImplemented
	}
	s.reply(w, code, e)
}

func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, wire.Invalid("the request's body is larger than %d MiB", maxBody>>20)
		}
		return nil, wire.Invalid("cannot read the request's body: %v", err)
	}
	if b = bytes.TrimSpace(b); len(b) > 0 && !json.Valid(b) {
		return nil, wire.Invalid("the request's body is not JSON")
	}
	if key := duplicateKey(b); key != "" {
		return nil, wire.Invalid("the request's body contains the key %.100q twice: send it "+
			"only once", key)
	}
	return b, rc.SetReadDeadline(time.Time{})
}

func number(r *http.Request, name string, limit uint64) (uint64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n > limit {
		return 0, wire.Invalid("%s=%.40q is invalid: use a number from 0 to %d", name, v, limit)
	}
	return n, nil
}

func flag(r *http.Request, name string) (value, set bool, err error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return false, false, nil
	}
	value, err = strconv.ParseBool(v)
	if err != nil {
		return false, false, wire.Invalid("%s=%.40q is invalid: use true or false", name, v)
	}
	return value, true, nil
}

// catchPanic calls handle without a write deadline. If handle panics, it logs the panic and closes the connection,
// because the response might have started.
func (s *responder) catchPanic(w http.ResponseWriter, handle func()) {
	// an earlier request on this connection might have set a deadline
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if fault := recovery.Catch(handle); fault != nil {
		s.logPanic(fault)
		panic(http.ErrAbortHandler)
	}
}

func (s *responder) logPanic(fault error) {
	if p, ok := errors.AsType[*recovery.Panic](fault); ok && p.Value != http.ErrAbortHandler {
		s.o.Log.Error("the handler of a request panicked", "err", fault, "stack", string(p.Stack()))
	}
}
