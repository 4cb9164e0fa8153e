package host

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city/citytest"
	"gcity/internal/eventually"
)

func TestTenantSockets(t *testing.T) {
	m := citytest.NewDirectory(citytest.NewFake("prod"), citytest.NewFake("secretproject"))
	dir := t.TempDir()
	path := filepath.Join(dir, "tenant-acme.sock")
	acme := api.Tenant{Name: "acme", Cities: []string{"prod"}, Token: "acme-knows-this-0123456789", Socket: path}
	s := &tenantSockets{wants: make(chan map[string]api.Tenant), cities: m, o: api.Options{Log: slog.New(slog.DiscardHandler)}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // the deferred function below waits for this goroutine
		defer close(ended)
		s.keep(ctx)
	}()
	defer func() { cancel(); <-ended }()
	s.wants <- map[string]api.Tenant{"acme": acme, "bad": {Socket: filepath.Join(dir, "none", "x.sock")}}
	ask := func(path string) (code int, text string) {
		tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "tenant-acme.sock"))
		}}
		defer tr.CloseIdleConnections()
		r, err := (&http.Client{Transport: tr, Timeout: eventually.Timeout}).Get("http://tenant" + path)
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	eventually.True(t, "the socket responds", func() bool { code, _ := ask("/v0/cities"); return code == 200 })
	for path, want := range map[string]int{
		"/v0/cities": 200, "/v0/tenant/acme/cities": 200, "/v0/city/prod/status": 200, "/v0/agents": 200,
		"/v0/city/secretproject/status": 404, "/v0/tenant/bigcorp/cities": 404, "/health": 404, "/metrics": 404,
	} {
		if code, text := ask(path); code != want || strings.Contains(text, "secretproject") && want == 200 {
			t.Errorf("%s: got %d, want %d: %s", path, code, want, text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the removed socket responds again", func() bool { code, _ := ask("/v0/cities"); return code == 200 })
	s.wants <- map[string]api.Tenant{}
	eventually.True(t, "the socket is gone", func() bool { code, _ := ask("/v0/cities"); return code == 0 })
}
