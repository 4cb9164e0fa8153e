package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

// Foreign requests get no data about the city. A request without the header does not change anything.
func FuzzGuard(f *testing.F) {
	for _, seed := range [][5]string{
		{"GET", "/v0/agents", "localhost", "", ""}, {"GET", "/v0/agents", "evil.example", "", ""}, {"POST", "/v0/agent/worker/restart", "127.0.0.1:80", "1", ""},
		{"POST", "/v0/agent/worker/nudge", "[::1]:8080", "1", `{"text":"x"}`}, {"POST", "/v0/agent/worker/nudge", "localhost", "", `{"text":"x"}`},
		{"PATCH", "/v0/bead/tw-1", "city.example", "1", `{}`}, {"GET", "/v0/events?since=1h&limit=x", "localhost:", "", ""}, {"GET", "/debug/pprof/heap", "localhost", "", ""},
		{"GET", "/v0/city/town/agent/%2e%2e/output", "LOCALHOST", "", ""}, {"get", "/v0/agents", "localhost", "", ""}, {"POST", "/v0/beads", "localhost", "1", `{"title":"x"}`},
	} {
		for _, origin := range []string{"", "http://localhost", "null"} {
			for _, auth := range []string{"", "Bearer 0123456789abcdef"} {
				f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], origin, auth)
			}
		}
	}
	f.Fuzz(func(t *testing.T, method, path, host, asks, body, origin, auth string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !word(method) || strings.Contains(path, "stream") || strings.Contains(path, "attach") || strings.Contains(path, "index") {
			return // net/http rejects these requests, or their handlers block
		}
		fake := citytest.NewFake("town", city.Agent{Name: citytest.Worker, Running: true})
		s := newServer(t.Context(), fake, Options{Guard: &Guard{Hosts: []string{"city.example"}, Token: "0123456789abcdef"}})
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL, r.Host, r.RequestURI = method, u, host, path
		r.Header.Set("Content-Type", "application/json")
		for name, value := range map[string]string{requestHeader: asks, "Origin": origin, "Authorization": auth} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 8080}))
		w := httptest.NewRecorder()
		s.o.Guard.guarded(s, s).ServeHTTP(w, r)

		var answer struct{ Code, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code >= 400 && (answer.Code == "" || answer.Message == "") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		allowed := ours(host) && (origin == "" || strings.EqualFold(origin, "http://"+host) || strings.EqualFold(origin, "https://"+host)) && strings.HasSuffix(auth, "0123456789abcdef")
		if !allowed && w.Code < 400 {
			t.Fatalf("%s %q at %q from %q with %q: got %d", method, path, host, origin, auth, w.Code)
		}
		if n := len(fake.Commands()); n > 0 && (!allowed || asks == "" || method != http.MethodPost && method != http.MethodPatch) {
			t.Fatalf("%s %q at %q from %q did %#v", method, path, host, origin, fake.Commands())
		}
		if strings.Contains(w.Body.String(), "0123456789abcdef") && !strings.Contains(path+body, "0123456789abcdef") {
			t.Fatalf("a response contains the token: %s", w.Body)
		}
	})
}

func word(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func ours(host string) bool {
	u, err := url.Parse("http://" + host)
	if err != nil || u.User != nil || u.Path != "" {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if name == "localhost" || name == "city.example" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (addr.Unmap().IsLoopback() || addr.Unmap() == netip.MustParseAddr("192.0.2.9"))
}
