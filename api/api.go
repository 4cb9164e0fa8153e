// Package api serves a running city over HTTP: Serve and Handler expose a city.Control, and client.Client implements a
// city.Control on top of the API. A Client behaves like the city.Control that is served, but is slower.
//
// The format is JSON and server-sent events. An attached terminal is an HTTP upgrade to frames (see wire.Framer). The
// API is served on the city's unix socket, for the city's user only, and optionally over TCP (KeepListening), behind a
// Guard.
//
// # Concurrency
//
// Handlers run in the goroutines of net/http. A stream has an additional goroutine, which reads from the city and
// buffers at most one item, or eventsAhead events. An attached terminal also has an additional goroutine, which reads
// from the terminal. KeepListening has one goroutine for its server. Serve and KeepListening return when all these
// goroutines have ended. A Client uses only goroutines of net/http; Close ends them.
package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/shutdown"
	"gcity/internal/suggest"
)

// Options configures a server. The zero value suits production.
type Options struct {
	Log       *slog.Logger  // nil = no logging
	KeepAlive time.Duration // how often a quiet stream sends a comment; 0 = 15 s
	// shutdown deadline of the whole program; nil = Serve has its own time limit
	Last *shutdown.Deadline
	// a client that reads nothing for this long is disconnected; 0 = 10 s
	WriteTimeout time.Duration
	// maximum number of streams, attached terminals and long polls together; 0 = 256
	MaxStreams int
	Version    string
	// checks requests over TCP; nil for a unix socket
	Guard *Guard
	// reports whether a process may set city.SessionHeader; nil = no process may
	Forwards func(pid int) bool
	// tenants' requests in progress, shared by the servers of a machine; nil = not shared
	Requests *TenantRequests
}

const (
	maxBody     = 4 << 20
	maxHeader   = 32 << 10
	maxConns    = 1024
	bodyTimeout = 30 * time.Second
	headTimeout = 5 * time.Second
	grace       = 5 * time.Second // how long Serve waits for requests in progress before it returns
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
	if o.Requests == nil {
		o.Requests = &TenantRequests{}
	}
	return o
}

type server struct {
	responder

	city     city.Control
	many     bool
	began    time.Time
	life     context.Context // all streams and attached terminals end with this context
	streams  chan struct{}
	document func() []byte
	// called when a connection that was taken over from net/http is closed
	release func(net.Conn)
	// valid query parameters by kind and method
	params func() map[string][]string
}

// Handler returns a handler for requests to a city. Streams end only with their request.
func Handler(c city.Control, o Options) http.Handler {
	return newServer(context.Background(), c, o)
}

func newServer(life context.Context, c city.Control, o Options) *server {
	o = o.withDefaults()
	return &server{
		responder: responder{o: o}, city: c, life: life, began: time.Now(),
		streams: make(chan struct{}, o.MaxStreams),
		document: sync.OnceValue(func() []byte {
			return openapi.Document(operations(), typeNames())
		}),
		params: sync.OnceValue(func() map[string][]string {
			return parametersOf(operations())
		}), release: func(net.Conn) {},
	}
}

type handler func(w http.ResponseWriter, r *http.Request, rt wire.Route) error

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.catchPanic(w, func() { s.respond(w, r) })
}

func (s *server) respond(w http.ResponseWriter, r *http.Request) {
	rt, err := wire.Parse(r.URL.EscapedPath())
	if err != nil {
		s.fail(w, err)
		return
	}
	if rt.Kind == wire.KindDebug {
		s.debug(w, r)
		return
	}
	if err := s.checkCity(r.Context(), rt); err != nil {
		s.fail(w, err)
		return
	}
	switch rt.Kind {
	case wire.KindRegister, wire.KindUnregister, wire.KindCitiesStream:
		s.fail(w, city.Errorf(city.Conflict, "this city runs without a supervisor, so it cannot "+
			"manage other cities: send this request to the socket or port of a running supervisor"))
		return
	}
	s.dispatch(w, r, rt, s.methods(rt.Kind))
}

func (s *server) dispatch(w http.ResponseWriter, r *http.Request, rt wire.Route, can methods) {
	handle := can.of(r.Method)
	if handle == nil {
		w.Header().Set("Allow", can.String())
		s.reply(w, http.StatusMethodNotAllowed,
			city.Errorf(city.Invalid, "this path accepts only %s", can.String()))
		return
	}
	err := gascity.CheckQuery(r.URL.RawQuery, s.params()[string(rt.Kind)+" "+r.Method])
	if err == nil {
		err = handle(w, r, rt)
	}
	if err != nil {
		s.fail(w, err)
	}
}

func (s *server) checkCity(ctx context.Context, rt wire.Route) error {
	if rt.City == "" {
		return nil
	}
	snap, err := s.city.Snapshot(ctx)
	if err != nil {
		return err
	}
	if snap.Name != rt.City {
		return city.Missing(suggest.NoSuch(suggest.City, rt.City).Then("this city is " +
			snap.Name))
	}
	return nil
}

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

// String lists the methods as in an Allow header.
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

func (s *server) methods(k wire.Kind) methods {
	work, mail := workHandlers{s}, mailHandlers{s}
	switch k {
	case wire.KindAttach:
		return methods{post: terminalHandler{s}.attach}
	case wire.KindEvents:
		return methods{get: s.events, post: s.emit}
	case wire.KindBeads:
		return methods{get: work.beads, post: work.createBead}
	case wire.KindBead:
		return methods{get: s.answer(work.bead), patch: work.patchBead}
	case wire.KindCloseBead:
		return methods{post: work.closeBead}
	case wire.KindUpdateBead:
		return methods{post: work.patchBead}
	case wire.KindMail:
		return methods{get: s.answer(mail.mail), post: mail.sendMail}
	case wire.KindMessage:
		return methods{get: s.answer(mail.message)}
	case wire.KindMarkRead, wire.KindArchive:
		return methods{post: mail.markMail}
	case wire.KindReply:
		return methods{post: mail.replyMail}
	case wire.KindSling:
		return methods{post: mail.sling}
	case wire.KindRegister, wire.KindUnregister, wire.KindCitiesStream:
		// only a supervisor serves these kinds
		return methods{}
	}
	if strings.HasPrefix(string(k), "/") {
		return gascityMethods(s, k)
	}
	if get := s.reader(k); get != nil {
		m := gascityMethods(s, k)
		m.get = get
		return m
	}
	return methods{post: s.do}
}

func (s *server) reader(k wire.Kind) handler {
	switch k {
	case wire.KindMetrics:
		return s.metrics
	case wire.KindOpenAPI:
		return s.openAPI
	case wire.KindSnapshotStream:
		return s.snapshots
	case wire.KindOutputStream:
		return s.streamOutput
	case wire.KindWatchStream:
		return s.watch
	case wire.KindEventStream:
		return s.eventStream
	case wire.KindRunStream:
		return listHandlers{s}.runOutput
	}
	if get := s.view(k); get != nil {
		return s.answer(get)
	}
	return nil
}

func (s *server) view(k wire.Kind) func(*query) (any, error) {
	list := listHandlers{s}
	switch k {
	case wire.KindHealth:
		return health
	case wire.KindCities:
		return cities
	case wire.KindStatus:
		return status
	case wire.KindSnapshot:
		return snapshot
	case wire.KindConfig, wire.KindConfigExplain:
		return s.config
	case wire.KindAgents:
		return list.agents
	case wire.KindAgent:
		return list.agent
	case wire.KindQuarantine:
		return list.quarantine
	case wire.KindPools:
		return pools
	case wire.KindPool:
		return one((*city.Snapshot).Pool)
	case wire.KindRigs:
		return rigs
	case wire.KindRig:
		return one((*city.Snapshot).Rig)
	case wire.KindAutomations:
		return automations
	case wire.KindAutomation:
		return one((*city.Snapshot).Automation)
	case wire.KindHistory:
		return list.history
	case wire.KindWatchdogs:
		return watchdogs
	case wire.KindWatchdog:
		return one((*city.Snapshot).Watchdog)
	case wire.KindInspect:
		return list.inspect
	case wire.KindOutput, wire.KindPeek:
		return s.output
	}
	return nil
}
