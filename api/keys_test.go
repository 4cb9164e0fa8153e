package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

type bearerTransport struct{ addr, token string }

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = b.addr, b.addr
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// If a token changes, only the clients that used it are disconnected.
func TestKeysChange(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	prod, other := named("prod"), named("other")
	m := citytest.NewDirectory(prod, other)
	d := kept(t, func(ctx context.Context, d *listenerProbe) {
		api.KeepFleetListening(ctx, d.wants, func(now city.Listener) { d.told <- now }, m, api.Options{})
	})
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path+".new", mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	addr := freeAddr(t)
	d.wants <- api.TCP{Addr: addr, TokenFile: write("all", token, 0o600), Tenants: map[string]api.Tenant{
		"acme":    {Cities: []string{"prod"}, TokenFile: write("acme", acmeToken, 0o600)},
		"bigcorp": {Cities: []string{"other"}, TokenFile: write("bigcorp", bigToken, 0o600)},
	}}
	d.until(addr, "")
	with := func(token, path string) int {
		code, _, _ := call(t, "GET", "http://"+addr+path, "", "Authorization: Bearer "+token)
		return code
	}
	open := func(token, path string) *sseStream {
		return openSSE(t, &http.Client{Transport: bearerTransport{addr, token}}, path, "")
	}
	hears := func(st *sseStream, of *citytest.Fake, kind string) {
		t.Helper()
		of.Record(events.Event{Type: kind})
		for {
			it, ok := st.next()
			if !ok {
				t.Fatalf("the stream ended before %s", kind)
			}
			if it.event == kind {
				return
			}
		}
	}
	over := func(st *sseStream) {
		t.Helper()
		for {
			if it, ok := st.next(); !ok {
				return
			} else if it.event == "!end" || it.event == "!error" {
				t.Errorf("end of the stream: got %+v", it)
			}
		}
	}
	const all, acme, big = "/v0/events/stream?cursor=0", "/v0/tenant/acme/events/stream?cursor=0", "/v0/tenant/bigcorp/city/other/events/stream?after_seq=0"
	its, theirs, supers := open(acmeToken, acme), open(bigToken, big), open(token, all)
	attached := func(token, path string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s?cols=80&rows=24 HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: gcity-terminal\r\nX-GC-Request: 1\r\nAuthorization: Bearer %s\r\n\r\n", path, addr, token)
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 101 ") {
			t.Fatal(line, err)
		}
		return conn
	}
	mine, stays := attached(acmeToken, "/v0/tenant/acme/city/prod/agent/worker/attach"), attached(bigToken, "/v0/tenant/bigcorp/city/other/agent/worker/attach")
	hears(its, prod, "one.acme")
	hears(theirs, other, "one.big")
	hears(supers, prod, "one.all")

	next := "next-" + acmeToken
	write("acme", next, 0o600)
	waitUntil(t, func() bool { return with(next, "/v0/tenant/acme/cities") == 200 })
	over(its)
	if _, err := io.Copy(io.Discard, mine); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a terminal opened with the old token is still open")
	}
	if code := with(acmeToken, "/v0/tenant/acme/cities"); code != 401 {
		t.Errorf("status with the old token: got %d", code)
	}
	hears(theirs, other, "two.big")
	hears(supers, prod, "two.all")

	write("acme", next, 0o644) // readable by other users
	d.until(addr, "tenant acme has no access")
	if code := with(next, "/v0/tenant/acme/cities"); code != 401 {
		t.Errorf("status with a token that other users can read: got %d", code)
	}
	hears(theirs, other, "three.big")
	hears(supers, prod, "three.all")

	write("all", token, 0o644)
	d.until(addr, "only tenants have access: ")
	over(supers)
	for path, want := range map[string]int{"/v0/cities": 401, "/v0/tenant/bigcorp/cities": 401, "/metrics": 401} {
		if code := with(token, path); code != want {
			t.Errorf("%s with a supervisor token that other users can read: got status %d",
				path, code)
		}
	}
	if code := with("", "/v0/cities"); code != 401 {
		t.Errorf("without a token: got %d", code)
	}
	hears(theirs, other, "four.big")

	write("acme", next, 0o600)
	write("all", token, 0o600)
	d.until(addr, "")
	if a, b := with(token, "/v0/cities"), with(next, "/v0/tenant/acme/cities"); a != 200 || b != 200 {
		t.Errorf("%d, %d", a, b)
	}
	hears(theirs, other, "five.big")
	if err := stays.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stays); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("another tenant's terminal was closed: %v", err)
	}
}

// If a token changes while a request arrives, the request is not executed.
func TestKeyChangesDuringRequest(t *testing.T) {
	t.Parallel()
	town := named("town")
	d := kept(t, func(ctx context.Context, d *listenerProbe) {
		api.KeepListening(ctx, d.wants, func(now city.Listener) { d.told <- now }, town, api.Options{})
	})
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(token)
	addr := freeAddr(t)
	d.wants <- api.TCP{Addr: addr, TokenFile: file}
	d.until(addr, "")
	const text = `{"text":"hello"}`
	begun := func() net.Conn {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v0/agent/worker/nudge HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-GC-Request: 1\r\n"+
			"Expect: 100-continue\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", addr, token, len(text))
		// "100 Continue" means that the guard has permitted the request.
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
			t.Fatal(line, err)
		}
		return conn
	}
	sends, waits := begun(), begun()
	next := "next-" + token
	write(next)
	waitUntil(t, func() bool {
		code, _, _ := call(t, "GET", "http://"+addr+"/v0/status", "", "Authorization: Bearer "+next)
		return code == 200
	})
	_, _ = io.WriteString(sends, text)
	for _, conn := range []net.Conn{sends, waits} {
		answer, err := io.ReadAll(conn)
		if errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), " 200 ") {
			t.Errorf("%q, %v", answer, err)
		}
	}
	if did := town.Commands(); len(did) > 0 {
		t.Errorf("commands with a revoked token: got %+v", did)
	}
}
