package api

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gcity/api/openapi"
	"gcity/city"
)

// Guard checks requests over TCP. The unix socket needs no Guard, because the kernel identifies its clients.
type Guard struct {
	// additional host names to accept
	Hosts []string
	// token that every request needs; "" = none
	Token string
	// ReadToken is a second token that permits only reading; "" = none. It has no effect without Token.
	ReadToken string
	Fleet     bool // the guard protects the API for all cities of a machine

	// by name; a tenant's token permits /v0/tenant/NAME
	Tenants map[string]Tenant

	keys *atomic.Pointer[keyring] // if not nil, replaces the tokens above
}

// requestHeader marks a request from a program. Pages from other sites cannot set it.
const requestHeader = openapi.RequestHeader

const allMethods = "GET, POST, PATCH, DELETE"

// lingerTime is how long to read the body of a rejected request, so that the client gets the response.
const lingerTime = time.Second

func (g Guard) guarded(s *server, next http.Handler) http.Handler {
	if g.keys == nil {
		g.keys = &atomic.Pointer[keyring]{}
		g.keys.Store(g.keyring())
	}
	log := &audit{log: s.o.Log, seen: map[auditKey]*auditLine{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		// an earlier request on this connection might have set a deadline
		_ = rc.SetWriteDeadline(time.Time{})
		if r.ContentLength != 0 {
			// the deadline applies even if the handler does not read the body
			_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		r = r.WithContext(city.WithPeer(r.Context(),
			city.Peer{Actor: "api", From: "tcp " + r.RemoteAddr, Remote: true}))
		by, status, msg := g.check(r)
		switch {
		case status != 0:
			log.note("rejected", r, status, msg)
		case r.Method != http.MethodGet:
			log.note("changed", r, 0, "")
		}
		if status == 0 && by == nil {
			next.ServeHTTP(w, r)
			return
		}
		if status == 0 {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer by.onRevoke(func() {
				cancel()
				if r.ContentLength != 0 {
					_ = rc.SetReadDeadline(time.Now())
				}
			})()
			r = r.WithContext(ctx)
			r.Body = revocableBody{r.Body, by}
			next.ServeHTTP(w, r)
			return
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			_ = rc.SetReadDeadline(time.Now().Add(lingerTime))
		}
		code := city.Forbidden
		if status == http.StatusBadRequest {
			code = city.Invalid
		}
		if status == http.StatusMethodNotAllowed {
			code = city.Invalid
			w.Header().Set("Allow", allMethods)
		}
		s.reply(w, status, &city.Error{Code: code, Message: msg})
	})
}

// check returns status 0 if a request is permitted. by is nil if the request needs no key.
func (g Guard) check(r *http.Request) (by *key, status int, msg string) {
	this, file, shows := "city", "[api] hosts in city.toml", "gcity status"
	if g.Fleet {
		this, file, shows = "supervisor", "[supervisor] hosts in supervisor.toml",
			"gcity supervisor status"
	}
	if !g.knownHost(r) {
		return nil, http.StatusForbidden, "this " + this + " does not accept that host name: use " +
			"127.0.0.1 or localhost, or add the name to " + file
	}
	if !sameOrigin(r) {
		return nil, http.StatusForbidden, "pages from other sites cannot send requests to " +
			"this " + this
	}
	reads := r.Method == http.MethodGet
	if !slices.Contains(strings.Split(allMethods, ", "), r.Method) {
		return nil, http.StatusMethodNotAllowed, "the API accepts only " + allMethods
	}
	if r.ContentLength < 0 {
		return nil, http.StatusBadRequest, "a request with a body needs the header " +
			"Content-Length; Transfer-Encoding is not accepted, because a proxy could read " +
			"such a request differently"
	}
	if reads && r.ContentLength != 0 {
		return nil, http.StatusForbidden, "a GET must not have a body"
	}
	if g.Token != "" || len(g.Tenants) > 0 {
		by = keyOf(r, g.keys.Load())
	}
	if by == nil && (g.Token != "" || len(g.Tenants) > 0) {
		return nil, http.StatusUnauthorized, "this request needs the " + this + "'s token: -H " +
			"\"Authorization: Bearer …\"; `" + shows + "` shows the file that contains the token"
	}
	if !reads && by != nil && by.reads {
		return nil, http.StatusForbidden, "this token permits only reading: a " + r.Method +
			" needs the " +
			this + "'s other token, the one in token_file"
	}
	if !reads && len(r.Header.Values(requestHeader)) == 0 {
		return nil, http.StatusForbidden, "a request that changes something needs " +
			"the header " + requestHeader + ": -H '" + requestHeader + ": 1'"
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); r.ContentLength != 0 &&
		!strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, http.StatusForbidden, "a body must be JSON, with the header for it: -H " +
			"'Content-Type: application/json'"
	}
	return by, 0, ""
}

// knownHost reports whether a request names this machine or a configured host. This prevents DNS rebinding.
func (g Guard) knownHost(r *http.Request) bool {
	host, ok := hostOf(r.Host)
	if !ok {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return slices.ContainsFunc(g.Hosts, func(h string) bool {
			return strings.EqualFold(h, host)
		})
	}
	if addr = addr.Unmap(); addr.Zone() == "" && (addr.IsLoopback() || addr == localAddr(r)) {
		return true
	}
	return slices.ContainsFunc(g.Hosts, func(h string) bool {
		own, err := netip.ParseAddr(h)
		return err == nil && own.Unmap() == addr
	})
}

func localAddr(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// hostOf returns the host in a Host header, and whether the header is valid. Any port is valid, because users can
// forward ports.
func hostOf(hostport string) (string, bool) {
	host := hostport
	if strings.Contains(strings.TrimPrefix(hostport, "["), ":") {
		var port string
		switch inner, ok := strings.CutSuffix(hostport, "]"); {
		case ok && strings.HasPrefix(inner, "["):
			host = inner[1:]
		default:
			var err error
			if host, port, err = net.SplitHostPort(hostport); err != nil ||
				strings.Trim(port, "0123456789") != "" {
				return "", false
			}
		}
	}
	return host, host != "" && len(host) <= 255
}

func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return false
	}
	for _, from := range r.Header.Values("Origin") {
		u, err := url.Parse(from)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			!strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	return true
}

// The running time of keyOf reveals nothing about any token.
func keyOf(r *http.Request, keys *keyring) *key {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return nil
	}
	scheme, token, ok := strings.Cut(given[0], " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	by := keys.findKey(r.URL.EscapedPath(), sum)
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return by
}
