package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"gcity/internal/recovery"
	"gcity/session"
)

// Opened is a provider that a helper has opened for a city.
type Opened struct {
	Name     string // name of the provider, for messages
	Version  string
	Provider session.Provider
	Close    func() // releases the provider without stopping its sessions; can be nil
}

// Server is an http.Handler that serves the protocol with a session.Provider. Until the first open call, it rejects all
// other calls.
type Server struct {
	open func(ctx context.Context, r OpenRequest) (Opened, error)
	mux  *http.ServeMux
	wg   recovery.Group

	opening sync.Mutex // held while the provider is being opened

	mu   sync.Mutex
	made *Opened
	subs map[chan ExitLine]bool
}

// NewServer returns a server. The first open call opens the provider, and later open calls use the same one.
func NewServer(open func(ctx context.Context, r OpenRequest) (Opened, error)) *Server {
	s := &Server{open: open, mux: http.NewServeMux(), subs: map[chan ExitLine]bool{}}
	s.mux.HandleFunc("POST /v1/open", s.serveOpen)
	for name, do := range calls() {
		serve := func(w http.ResponseWriter, r *http.Request) { s.serveCall(w, r, do) }
		s.mux.HandleFunc("POST /v1/"+name, serve)
	}
	s.mux.HandleFunc("POST /v1/start", s.serveStart)
	s.mux.HandleFunc("POST /v1/exits", s.serveExits)
	s.mux.HandleFunc("POST /v1/watch", s.serveWatch)
	s.mux.HandleFunc("POST /v1/attach", s.serveAttach)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close releases the provider. Its sessions keep running.
func (s *Server) Close() {
	s.mu.Lock()
	made := s.made
	s.mu.Unlock()
	if made != nil && made.Close != nil {
		made.Close()
	}
}

func (s *Server) serveOpen(w http.ResponseWriter, r *http.Request) {
	var q OpenRequest
	if !readJSON(w, r, &q) {
		return
	}
	if !slices.Contains(q.Protocols, Version) {
		fail(w, fmt.Errorf("this helper uses version %d of the session protocol, "+
			"but gcity uses %v: install a matching helper", Version, q.Protocols))
		return
	}
	ctx, cancel := callContext(r)
	defer cancel()
	s.opening.Lock()
	defer s.opening.Unlock()
	made, err := s.provider()
	if err != nil {
		var fresh Opened
		if fresh, err = s.open(ctx, q); err != nil {
			fail(w, err)
			return
		}
		made = &fresh
		s.mu.Lock()
		s.made = made
		s.mu.Unlock()
		s.followExits(made.Provider)
	}
	limits := session.LimitsOf(made.Provider)
	response := OpenResponse{
		Protocol: Version, Name: made.Name, Version: made.Version, Why: limits.Why,
	}
	for _, a := range limits.Lacks {
		response.Lacks = append(response.Lacks, abilities()[a])
	}
	if p, ok := made.Provider.(session.Patient); ok {
		response.Patience = p.Patience("").Milliseconds()
	}
	reply(w, http.StatusOK, response)
}

func (s *Server) provider() (*Opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		return nil, errors.New("the helper has not been opened: call open first")
	}
	return s.made, nil
}

func callContext(r *http.Request) (context.Context, context.CancelFunc) {
	ms, err := strconv.ParseInt(r.Header.Get(TimeoutHeader), 10, 64)
	if err != nil || ms <= 0 {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), time.Duration(ms)*time.Millisecond)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request, request any) (*Opened, bool) {
	if !readJSON(w, r, request) {
		return nil, false
	}
	made, err := s.provider()
	if err != nil {
		fail(w, err)
	}
	return made, err == nil
}

func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, do call) {
	var t Target
	made, ok := s.begin(w, r, &t)
	if !ok {
		return
	}
	ctx, cancel := callContext(r)
	defer cancel()
	response, err := do(ctx, made.Provider, &t)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, response)
}

func (s *Server) serveStart(w http.ResponseWriter, r *http.Request) {
	var spec session.Spec
	made, ok := s.begin(w, r, &spec)
	if !ok {
		return
	}
	ctx, cancel := callContext(r)
	defer cancel()
	var out *lines
	ctx = session.WithProgress(ctx, func(why string) {
		// a line without a reason would end the response
		if why == "" || r.Header.Get("Accept") != linesType {
			return
		}
		if out == nil {
			out = newLines(w)
		}
		// if this fails, the client has disconnected and the call ends too
		out.put(StartLine{Waits: why})
	})
	st, err := made.Provider.Start(ctx, spec)
	switch {
	case err != nil && out == nil:
		fail(w, err)
	case err != nil:
		e, _ := wireError(err)
		out.put(StartLine{Error: e})
	case out == nil:
		reply(w, http.StatusOK, Response{Session: &st})
	default:
		out.put(StartLine{Session: &st})
	}
}

// maxRequest is the maximum size of a request in bytes. A Spec can have a large environment.
const maxRequest = 8 << 20

func readJSON(w http.ResponseWriter, r *http.Request, to any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(to); err != nil {
		text := "cannot decode the request: " + err.Error()
		reply(w, http.StatusBadRequest, Response{Error: &Error{Kind: "failed", Message: text}})
		return false
	}
	return true
}

func fail(w http.ResponseWriter, err error) {
	e, status := wireError(err)
	reply(w, status, Response{Error: e})
}

func reply(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		status = http.StatusInternalServerError
		data = []byte(`{"error":{"kind":"failed","message":"cannot encode the response"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // fails if the client has disconnected
}
