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

// Guard is what a request over TCP has to get past before anybody looks at what it asks for. A socket needs none:
// the kernel says whose the other end is.
type Guard struct {
	// names that requests may be made to, besides loopback ones and the address they came in at
	Hosts []string
	Token string // every request brings it; "" = none is asked for, where there are no tenants
	// ReadToken is a second token, which allows reading only; "" = none. It takes effect only beside Token.
	ReadToken string
	Fleet     bool // it is before all cities of a machine

	// of a fleet, by name; each opens with its own token what is below /v0/tenant/NAME
	Tenants map[string]Tenant

	keys *atomic.Pointer[keyring] // that count instead of the tokens here; nil = these do
}

// requestHeader marks what is sent by a program: a page of another site cannot set it without asking first, and nobody
// here says yes to that.
const requestHeader = openapi.RequestHeader

// allMethods lists the methods that some path takes, as the header Allow does.
const allMethods = "GET, POST, PATCH, DELETE"

// lingerTime is how long the body of a refused request is still taken in, so that the refusal is not lost.
const lingerTime = time.Second

// guarded lets requests through to next that may be answered at all.
func (g Guard) guarded(s *server, next http.Handler) http.Handler {
	if g.keys == nil {
		g.keys = &atomic.Pointer[keyring]{}
		g.keys.Store(g.keyring())
	}
	log := &audit{log: s.o.Log, seen: map[auditKey]*auditLine{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		_ = rc.SetWriteDeadline(time.Time{}) // of the request before on this connection
		if r.ContentLength != 0 {
			_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // whoever wants the body or not
		}
		r = r.WithContext(city.WithPeer(r.Context(),
			city.Peer{Actor: "api", From: "tcp " + r.RemoteAddr, Remote: true}))
		by, status, msg := g.refuse(r)
		switch {
		case status != 0:
			log.note("refused", r, status, msg)
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
			defer by.lend(func() {
				cancel()
				if r.ContentLength != 0 {
					_ = rc.SetReadDeadline(time.Now()) // nobody waits for the rest of it
				}
			})()
			r = r.WithContext(ctx)
			r.Body = lent{r.Body, by}
			next.ServeHTTP(w, r)
			return
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if r.ContentLength != 0 { // nobody waits for the rest of it
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

// refuse says why a request is not answered, 0 = it may be: by a key, where one is asked for.
func (g Guard) refuse(r *http.Request) (by *key, status int, msg string) {
	this, file, shows := "city", "[api] hosts of city.toml", "gcity status"
	if g.Fleet {
		this, file, shows = "supervisor", "[supervisor] hosts of supervisor.toml",
			"gcity supervisor status"
	}
	if !g.knows(r) {
		return nil, http.StatusForbidden, "this " + this + " is not asked by that name: use " +
			"127.0.0.1 or localhost, or write the name into " + file
	}
	if !sameOrigin(r) {
		return nil, http.StatusForbidden, "pages of other sites may not ask this " + this
	}
	reads := r.Method == http.MethodGet
	if !slices.Contains(strings.Split(allMethods, ", "), r.Method) {
		return nil, http.StatusMethodNotAllowed, "possible here: " + allMethods
	}
	if r.ContentLength < 0 {
		return nil, http.StatusBadRequest, "a body needs a Content-Length here, and no " +
			"Transfer-Encoding: with both, a proxy may see another request"
	}
	if reads && r.ContentLength != 0 {
		return nil, http.StatusForbidden, "a GET has no body here"
	}
	if g.Token != "" || len(g.Tenants) > 0 {
		by = bears(r, g.keys.Load())
	}
	if by == nil && (g.Token != "" || len(g.Tenants) > 0) {
		return nil, http.StatusUnauthorized, "this needs the " + this + "'s token: -H " +
			"\"Authorization: Bearer …\"; `" + shows + "` shows the file that holds it"
	}
	if !reads && by != nil && by.reads {
		return nil, http.StatusForbidden, "this token only reads: a " + r.Method + " needs the " +
			this + "'s other token, that of token_file"
	}
	if !reads && len(r.Header.Values(requestHeader)) == 0 {
		return nil, http.StatusForbidden, "whatever changes something needs " +
			"the header " + requestHeader + ": -H '" + requestHeader + ": 1'"
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); r.ContentLength != 0 &&
		!strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, http.StatusForbidden, "a body has to be JSON and say so: -H 'Content-Type: " +
			"application/json'"
	}
	return by, 0, ""
}

// knows says whether a request is made to a name of this city. What a page of another site has a browser resolve is
// none, wherever that name leads by now.
func (g Guard) knows(r *http.Request) bool {
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
	if addr = addr.Unmap(); addr.Zone() == "" && (addr.IsLoopback() || addr == cameTo(r)) {
		return true
	}
	return slices.ContainsFunc(g.Hosts, func(h string) bool {
		own, err := netip.ParseAddr(h)
		return err == nil && own.Unmap() == addr
	})
}

// cameTo is the address of ours that a request came in at.
func cameTo(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// hostOf takes the port off, which may be any: people forward ports.
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

// sameOrigin says whether a request is made by this city's own page, or by no page at all.
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

// bears is the key of the token that a request brings and that opens its path, found in a time that says nothing
// about any token.
func bears(r *http.Request, keys *keyring) *key {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return nil
	}
	scheme, token, ok := strings.Cut(given[0], " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	by := keys.opens(r.URL.EscapedPath(), sum)
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return by
}
