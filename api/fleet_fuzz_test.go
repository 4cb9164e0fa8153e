package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

// Clients can parse the response to any request about several cities. A tenant's token reveals nothing about other
// tenants.
func FuzzFleet(f *testing.F) {
	for _, path := range []string{
		"/v0/cities", "/v0/agents", "/v0/agents?city=foreignland&peek=1", "/v0/events?cursor=0", "/v0/events?before=foreignland:3", "/health", "/metrics", "/v0/openapi.json", "/v0/status",
		"/v0/city/prod/agents", "/v0/city/foreignland/agent/worker/restart", "/v0/city/foreignland/register", "/v0/city/prod/unregister", "/v0/city/%2e%2e/agents", "/v0/city/prod%2f..%2fforeignland/agents",
		"/v0/tenant/acme/cities", "/v0/tenant/acme/agents", "/v0/tenant/acme/city/prod/agent/worker/stop", "/v0/tenant/acme/city/foreignland/stop", "/v0/tenant/acme/city/../../foreignland",
		"/v0/tenant/acme%2f..%2fother/cities", "/v0/tenant/other/cities", "/v0/tenant/acme/tenant/other/cities", "/v0/tenant//city/foreignland", "/v0/tenant/acme/events?cursor=0&city=foreignland", "/debug/pprof/heap",
	} {
		for _, method := range []string{"GET", "POST"} {
			for _, token := range []string{"all-of-it-0123456789", "of-acme-0123456789", "of-other-0123456789", ""} {
				f.Add(method, path, token)
			}
		}
	}
	f.Fuzz(func(t *testing.T, method, path, token string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !word(method) || strings.ContainsAny(token, "\r\n") || strings.Contains(path, "stream") || strings.Contains(path, "attach") || strings.Contains(path, "index") {
			return // net/http rejects these requests, or their handlers block
		}
		prod, foreign := citytest.NewFake("prod", city.Agent{Name: citytest.Worker, Running: true}), citytest.NewFake("foreignland", city.Agent{Name: citytest.Worker, Running: true})
		g := &Guard{Fleet: true, Token: "all-of-it-0123456789", Tenants: map[string]Tenant{
			"acme": {Cities: []string{"prod"}, Token: "of-acme-0123456789"}, "other": {Cities: []string{"foreignland"}, Token: "of-other-0123456789"},
		}}
		s := newServer(t.Context(), nil, Options{Guard: g})
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Method, r.URL, r.Host, r.RequestURI, r.ContentLength = method, u, "localhost", path, 0
		r.Header.Set(requestHeader, "1")
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		g.guarded(s, newFleet(s, citytest.NewDirectory(prod, foreign))).ServeHTTP(w, r)
		var answer struct{ Code, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); u.Path != "/metrics" && err != nil || w.Code >= 400 && (answer.Code == "" || answer.Message == "") {
			t.Fatalf("%s %q: got %d %s", method, path, w.Code, w.Body)
		}
		known := strings.Contains("all-of-it-0123456789 of-acme-0123456789 of-other-0123456789", strings.TrimSpace(token)) && len(strings.TrimSpace(token)) >= 18
		if !known && w.Code < 400 {
			t.Fatalf("%s %q with %q: got %d", method, path, token, w.Code)
		}
		if strings.TrimSpace(token) == "of-acme-0123456789" && (len(foreign.Commands()) > 0 || strings.Contains(w.Body.String(), "foreignland") && !strings.Contains(u.String(), "foreign")) {
			t.Fatalf("%s %q: got %d %s and %#v", method, path, w.Code, w.Body, foreign.Commands())
		}
		if len(foreign.Commands()) > 0 && (method == http.MethodGet || !strings.Contains(u.Path, "foreignland")) {
			t.Fatalf("%s %q did %#v", method, path, foreign.Commands())
		}
	})
}
