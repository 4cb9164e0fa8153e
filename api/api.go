// Package api is the contract of a running city over HTTP: Serve and Handler offer a city.Control, Client is one. A
// caller cannot tell the two apart but by the time they take.
//
// The wire is JSON and server-sent events; an attached terminal is an HTTP upgrade to frames (see frame.go). It is
// served on the city's unix socket, to the user who runs the city and nobody else, and where that is wanted over TCP
// (Keep), behind a Guard.
//
// # Concurrency
//
// Handlers run in net/http's goroutines. A stream has one goroutine more, which reads the city, and holds at most one
// item that is not yet written, of events eventsAhead; an attached terminal has one more, which reads the terminal.
// Serve returns when all of them have ended; so does Keep, which has one for what it serves. A Client has none but
// those of net/http; Close ends them.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/city"
	"gcity/internal/recovery"
	"gcity/internal/shutdown"
)

// Options adjust a server. The zero value is right for production.
type Options struct {
	Log          *slog.Logger       // nothing is logged without
	KeepAlive    time.Duration      // a comment on a quiet stream, 0 = 15 s
	Last         *shutdown.Deadline // of the program, in which Serve ends; nil: it has its own time
	WriteTimeout time.Duration      // a reader that takes nothing for so long is cut off, 0 = 10 s
	MaxStreams   int                // streams, attached terminals and long polls in all, 0 = 256
	Version      string             // of the program, which a fleet tells
	// of what others than the city's user can connect to; nil: a socket
	Guard *Guard
}

const (
	maxBody     = 4 << 20
	maxHeader   = 32 << 10
	maxConns    = 1024
	bodyTimeout = 30 * time.Second
	headTimeout = 5 * time.Second
	idleTimeout = time.Minute
	grace       = 5 * time.Second // for requests in flight when Serve ends
)

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = 256
	}
	return o
}

// server answers for one city.
type server struct {
	city     city.Control
	many     bool // it is one of several, or all of them
	began    time.Time
	o        Options
	life     context.Context // ends streams and attached terminals
	streams  chan struct{}   // one token each
	document func() []byte   // in OpenAPI's words
	// is told when a connection that was taken from net/http is done with
	release func(net.Conn)
	params  func() map[string][]string // see parametersOf
}

// Handler answers requests for a city. Its streams end with their requests; Serve ends them with the city.
func Handler(c city.Control, o Options) http.Handler {
	return newServer(context.Background(), c, o)
}

func newServer(life context.Context, c city.Control, o Options) *server {
	o = o.withDefaults()
	return &server{
		city: c, o: o, life: life, began: time.Now(), streams: make(chan struct{}, o.MaxStreams),
		document: sync.OnceValue(func() []byte {
			return openapi.Document(operations(), typeNames())
		}),
		params: sync.OnceValue(func() map[string][]string {
			return parametersOf(operations())
		}), release: func(net.Conn) {},
	}
}

// handler answers one kind of request; an error is written as such unless the answer has begun.
type handler func(w http.ResponseWriter, r *http.Request, rt route) error

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.whole(func() { s.respond(w, r) })
}

// whole has a request answered, or its connection closed: by a panic nobody knows whether an answer has begun.
func (s *server) whole(answer func()) {
	if fault := recovery.Catch(answer); fault != nil {
		s.broke(fault)
		panic(http.ErrAbortHandler)
	}
}

// broke tells of a panic in a request, which is the request's end and nobody else's.
func (s *server) broke(fault error) {
	if p, ok := errors.AsType[*recovery.Panic](fault); ok && p.Value != http.ErrAbortHandler {
		s.o.Log.Error("a request could not be answered", "err", fault, "stack", string(p.Stack()))
	}
}

func (s *server) respond(w http.ResponseWriter, r *http.Request) {
	// of the request before on this connection
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	rt, err := parse(r.URL.EscapedPath())
	if err != nil {
		s.fail(w, err)
		return
	}
	if rt.kind == debug {
		s.debug(w, r)
		return
	}
	if err := s.here(r.Context(), rt); err != nil {
		s.fail(w, err)
		return
	}
	if rt.kind == enrolling || rt.kind == leaving || rt.kind == citiesStream {
		s.fail(w, &city.Error{Code: city.Conflict, Message: "this city runs by itself, and knows " +
			"no other: ask the supervisor, on its own socket or port"})
		return
	}
	s.dispatch(w, r, rt, s.methods(rt.kind))
}

// dispatch has a request answered by what answers its method.
func (s *server) dispatch(w http.ResponseWriter, r *http.Request, rt route, can methods) {
	handle := can.of(r.Method)
	if handle == nil {
		w.Header().Set("Allow", can.String())
		s.reply(w, http.StatusMethodNotAllowed,
			&city.Error{Code: city.Invalid, Message: "possible here: " + can.String()})
		return
	}
	err := gascity.CheckQuery(r.URL.Query(), s.params()[string(rt.kind)+" "+r.Method])
	if err == nil {
		err = handle(w, r, rt)
	}
	if err != nil {
		s.fail(w, err)
	}
}

// here refuses the name of another city.
func (s *server) here(ctx context.Context, rt route) error {
	if rt.city == "" {
		return nil
	}
	snap, err := s.city.Snapshot(ctx)
	if err != nil {
		return err
	}
	if snap.Name != rt.city {
		return &city.Error{Code: city.NotFound, Message: "no city " + rt.city + " here: this is " +
			snap.Name}
	}
	return nil
}

// methods are the answers to the methods that a kind takes.
type methods struct{ get, post, patch, del handler }

func (m methods) of(method string) handler {
	switch method {
	case http.MethodGet:
		return m.get
	case http.MethodPost:
		return m.post
	case http.MethodPatch:
		return m.patch
	case http.MethodDelete:
		return m.del
	}
	return nil
}

// String lists them as the header Allow does.
func (m methods) String() string {
	var names []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch,
		http.MethodDelete} {
		if m.of(method) != nil {
			names = append(names, method)
		}
	}
	return strings.Join(names, ", ")
}

// methods gives what answers a kind.
func (s *server) methods(k kind) methods {
	switch k {
	case attach:
		return methods{post: s.attach}
	case eventLog:
		return methods{get: s.events, post: s.emit}
	case work:
		return methods{get: s.beads, post: s.createBead}
	case bead:
		return methods{get: s.bead, patch: s.patchBead}
	case closing:
		return methods{post: s.closeBead}
	case updating:
		return methods{post: s.patchBead}
	case mailbox:
		return methods{get: s.mail, post: s.sendMail}
	case letter:
		return methods{get: s.letter}
	case reading, archiving:
		return methods{post: s.markMail}
	case replying:
		return methods{post: s.replyMail}
	case slinging:
		return methods{post: s.sling}
	case enrolling, leaving, citiesStream: // a supervisor's
		return methods{}
	}
	if strings.HasPrefix(string(k), "/") {
		return others(s, k)
	}
	if get := s.reader(k); get != nil {
		return methods{get: get}
	}
	return methods{post: s.do}
}

// reader gives what answers a kind that can only be read; nil = it is none of these.
func (s *server) reader(k kind) handler {
	switch k {
	case health:
		return s.health
	case cities:
		return s.cities
	case figured:
		return s.metrics
	case described:
		return s.openAPI
	case status:
		return s.status
	case snapshot:
		return s.snapshot
	case configured, explained:
		return s.config
	case snapshots:
		return s.snapshots
	case agents:
		return s.agents
	case agent:
		return s.agent
	case quarantine:
		return s.quarantine
	case pools:
		return s.pools
	case pool:
		return s.pool
	case rigs:
		return s.rigs
	case rig:
		return s.rig
	case automations:
		return s.automations
	case automated:
		return s.automation
	case history:
		return s.history
	case watchdogs:
		return s.watchdogs
	case watchdog:
		return s.watchdog
	case inspect:
		return s.inspect
	case output:
		return s.output
	case outputs:
		return outputStream(s)
	case watch:
		return s.watch
	case eventStream:
		return s.eventStream
	case running:
		return s.runOutput
	}
	return nil
}
