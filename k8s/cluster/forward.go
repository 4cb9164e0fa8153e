package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// sessionHeader is a copy of city.SessionHeader. It names the session that a request comes from.
const sessionHeader = "Gcity-Session"

// serveAgent forwards requests from the agent in a pod to the controller, until the stream ends.
func (p *Provider) serveAgent(l *link, id string) {
	controller := controller(p.o.City)
	defer controller.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport:     controller,
		FlushInterval: -1, // do not buffer streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "city"
			r.Out.Host = r.In.Host
			r.Out.Header.Set(sessionHeader, id)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusServiceUnavailable, "unavailable",
				fmt.Sprintf("the city's controller does not respond: %v", err))
		},
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if why := forbidden(r); why != "" {
				refuse(w, http.StatusForbidden, "forbidden", why)
				return
			}
			proxy.ServeHTTP(w, r)
		}),
	}
	defer server.Close()
	_ = server.Serve(l.mux) // Serve returns when the stream has ended
}

// forbidden returns why a request is not allowed, or "". An agent in a pod must not stop the city or use other agents'
// terminals.
func forbidden(r *http.Request) string {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodGet:
		return ""
	case path == "/v0/stop" || path == "/v0/shutdown":
		return "an agent in a pod cannot stop the city"
	case strings.HasSuffix(path, "/attach") || strings.HasSuffix(path, "/send-keys"):
		return "an agent in a pod cannot use the terminals of other agents"
	}
	return ""
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	data, err := json.Marshal(map[string]any{"code": code, "message": message})
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // fails if the agent's command has exited
}
