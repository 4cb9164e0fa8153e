package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/api"
	apitoken "gcity/api/token"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
	"gcity/internal/eventually"
)

const (
	token    = "nobody-else-knows-this-0123456789"
	patience = eventually.Timeout // timeout of every wait; no test measures it
)

func overTCP(t *testing.T, c city.Control, g api.Guard, o api.Options) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Guard = &g
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, l, c, o) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("Serve does not return")
		}
	})
	return l.Addr().String()
}

func everyListener(t *testing.T, g api.Guard, attack func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("a city", func(t *testing.T) { attack(t, overTCP(t, town(), g, api.Options{})) })
	g.Fleet = true
	t.Run("all cities", func(t *testing.T) { attack(t, fleetOverTCP(t, citytest.NewDirectory(town()), g, api.Options{})) })
}

func call(t *testing.T, method, url, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	resp, err := (&http.Client{Transport: tr, Timeout: patience}).Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// A response can take long while the server writes to readers that stall.
func answers(url string) bool {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := c.Get(url)
	return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func raw(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, text)
	b, _ := io.ReadAll(c)
	return string(b)
}

const byProgram, inJSON = "X-GC-Request: 1", "Content-Type: application/json"

// Requests under a rebound host name are rejected.
func TestForeignHosts(t *testing.T) {
	f := town()
	addr := overTCP(t, f, api.Guard{Hosts: []string{"City.example.org", "192.0.2.7", "fd00::7"}}, api.Options{})
	_, port, _ := net.SplitHostPort(addr)
	for _, host := range []string{addr, "127.0.0.1", "localhost", "LOCALHOST:" + port, "localhost:9999", "[::1]:80", "[::1]", "127.0.0.2",
		"city.example.org", "city.example.org:443", "192.0.2.7:80", "[fd00::7]"} {
		if code, _, body := call(t, "GET", "http://"+addr+"/v0/agents", "", "Host: "+host); code != 200 {
			t.Errorf("Host %s: got %d %s", host, code, body)
		}
	}
	for _, host := range []string{"evil.example", "evil.example:" + port, "localhost.evil.example", "127.0.0.1.nip.example", "localhost.", "example.org",
		"x.city.example.org", "city.example.org.", "192.0.2.8", "0.0.0.0:" + port, "[::]:" + port, "[fe80::1%25lo]", "::1", "localhost:x", "a:b:c", "[::1",
		"localhost@evil.example", "127.1", "2130706433", "0x7f000001"} {
		for _, path := range []string{"/v0/agents", "/health", "/v0/events/stream", "/no/such/path", "/v0/agent/worker/stop"} {
			got := raw(t, addr, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nOrigin: http://"+host+"\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 403 ") && !strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.Contains(got, citytest.Worker) {
				t.Errorf("Host %s, %s: got %.300s", host, path, got)
			}
		}
	}
	for _, request := range []string{
		"GET http://evil.example/v0/agents HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /v0/agents HTTP/1.0\r\n\r\n",
		"GET /v0/agents HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
		"GET /v0/agents HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
	} {
		if got := raw(t, addr, request); !strings.HasPrefix(got, "HTTP/1.1 40") && !strings.HasPrefix(got, "HTTP/1.0 403 ") || strings.Contains(got, citytest.Worker) {
			t.Errorf("%q: %.300s", request, got)
		}
	}
}

// Pages from other sites get no data and change nothing.
func TestForeignPages(t *testing.T) {
	f := town()
	addr := overTCP(t, f, api.Guard{}, api.Options{})
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"not a page", "GET", "/v0/agents", "", nil, 200},
		{"a page of the city", "GET", "/v0/agents", "", []string{"Origin: http://" + addr, "Sec-Fetch-Site: same-origin"}, 200},
		{"typed by a user", "GET", "/v0/agents", "", []string{"Sec-Fetch-Site: none"}, 200},
		{"another site", "GET", "/v0/agents", "", []string{"Origin: http://evil.example"}, 403},
		{"another site without Origin", "GET", "/v0/agents", "", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"another port", "GET", "/v0/agents", "", []string{"Origin: http://127.0.0.1:1"}, 403},
		{"another port without Origin", "GET", "/v0/agents", "", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"a file", "GET", "/v0/agents", "", []string{"Origin: null"}, 403},
		{"an extension", "GET", "/v0/agents", "", []string{"Origin: chrome-extension://" + addr}, 403},
		{"two origins", "GET", "/v0/agents", "", []string{"Origin: http://" + addr, "Origin: http://evil.example"}, 403},
		{"a preflight", "OPTIONS", "/v0/agent/worker/nudge", "", []string{"Origin: http://evil.example", "Access-Control-Request-Headers: x-gc-request"}, 403},
		{"a preflight without Origin", "OPTIONS", "/v0/agents", "", nil, 405},
		{"a form", "POST", "/v0/agent/worker/nudge", "text=x", []string{"Content-Type: application/x-www-form-urlencoded"}, 403},
		{"a form with the header", "POST", "/v0/agent/worker/nudge", "text=x", []string{byProgram, "Content-Type: application/x-www-form-urlencoded"}, 403},
		{"plain text", "POST", "/v0/agent/worker/nudge", `{"text":"x"}`, []string{"Content-Type: text/plain"}, 403},
		{"plain text with the header", "POST", "/v0/agent/worker/nudge", `{"text":"x"}`, []string{byProgram, "Content-Type: text/plain"}, 403},
		{"no content type", "POST", "/v0/agent/worker/nudge", `{"text":"x"}`, []string{byProgram}, 403},
		{"JSON without the header", "POST", "/v0/agent/worker/nudge", `{"text":"x"}`, []string{inJSON}, 403},
		{"no body and no header", "POST", "/v0/agent/worker/restart", "", nil, 403},
		{"a patch without the header", "PATCH", "/v0/bead/tw-1", `{}`, []string{inJSON}, 403},
		{"a deletion without the header", "DELETE", "/v0/agent/worker", "", nil, 403},
		{"a deletion", "DELETE", "/v0/agent/worker", "", []string{byProgram}, 501},
		{"an upgrade", "POST", "/v0/agent/worker/attach?cols=80&rows=24", "", []string{"Connection: Upgrade", "Upgrade: gcity-terminal"}, 403},
		{"by GET", "GET", "/v0/agent/worker/restart", "", []string{byProgram}, 405},
		{"by GET with a body", "GET", "/v0/agent/worker/nudge", `{"text":"x"}`, []string{byProgram, inJSON}, 403},
		{"by HEAD", "HEAD", "/v0/agents", "", nil, 405},
		{"by TRACE", "TRACE", "/v0/agents", "", nil, 405},
		{"by PUT", "PUT", "/v0/agents", "{}", []string{byProgram, inJSON}, 405},
		{"with another method in a header", "GET", "/v0/agents", "", []string{"X-HTTP-Method-Override: POST"}, 200},
		{"the profiler", "GET", "/debug/pprof/heap", "", nil, 404},
		{"the profiler's list", "GET", "/debug/pprof/", "", nil, 404},
	} {
		code, h, body := call(t, c.method, "http://"+addr+c.path, c.body, c.headers...)
		if code != c.want {
			t.Errorf("%s: got %d %s, want %d", c.name, code, body, c.want)
		}
		var e city.Error
		if code != 200 && c.method != "HEAD" && (json.Unmarshal([]byte(body), &e) != nil || e.Code == "" || e.Message == "") {
			t.Errorf("%s: %s", c.name, body)
		}
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s: %s", c.name, name, h.Get(name))
			}
		}
	}
	if done := f.Commands(); len(done) != 0 {
		t.Errorf("%#v was executed", done)
	}
	code, _, body := call(t, "POST", "http://"+addr+"/v0/agent/worker/nudge", `{"text":"x"}`, byProgram, "Content-Type: Application/JSON; charset=utf-8")
	if code != 200 || len(f.Commands()) != 1 {
		t.Errorf("a valid request: got %d %s", code, body)
	}
	code, _, body = call(t, "POST", "http://"+addr+"/v0/agent/worker/restart", "", byProgram)
	if code != 200 || len(f.Commands()) != 2 {
		t.Errorf("without a body: got %d %s", code, body)
	}
}

// If a token is set, every request needs it. The token is neither logged nor shown.
func TestToken(t *testing.T) {
	one, all := town(), town()
	var log logBuffer
	o := api.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	t.Run("a city", func(t *testing.T) { attackToken(t, overTCP(t, one, api.Guard{Token: token}, o), one, &log) })
	t.Run("all cities", func(t *testing.T) {
		attackToken(t, fleetOverTCP(t, citytest.NewDirectory(all), api.Guard{Fleet: true, Token: token}, o), all, &log)
	})
}

func attackToken(t *testing.T, addr string, f *citytest.Fake, log *logBuffer) {
	good := "Authorization: Bearer " + token
	for _, headers := range [][]string{
		nil, {"Authorization: Bearer"}, {"Authorization: Bearer "}, {"Authorization: " + token}, {"Authorization: Basic " + token}, {"Authorization: Bearer " + token[1:]},
		{"Authorization: Bearer " + token + "x"}, {"Authorization: Bearer " + strings.ToUpper(token)}, {good, good}, {"Cookie: token=" + token}, {"X-GC-Request: " + token},
	} {
		for _, path := range []string{"/v0/agents", "/health", "/v0/agents?token=" + token + "&access_token=" + token, "/v0/events/stream", "/metrics", "/nothing"} {
			code, h, body := call(t, "GET", "http://"+addr+path, "", headers...)
			if code != 401 || h.Get("WWW-Authenticate") != "Bearer" || !strings.Contains(body, `"code":"forbidden"`) || strings.Contains(body, token) {
				t.Errorf("%s with %q: got %d %v %s", path, headers, code, h, body)
			}
		}
		if code, _, body := call(t, "POST", "http://"+addr+"/v0/agent/worker/restart", "", append(headers, byProgram)...); code != 401 && code != 403 {
			t.Errorf("with %q: got %d %s", headers, code, body)
		}
	}
	for _, header := range []string{good, "Authorization: bearer " + token} {
		if code, _, body := call(t, "GET", "http://"+addr+"/v0/agents", "", header); code != 200 {
			t.Errorf("%d %s", code, body)
		}
	}
	if code, _, _ := call(t, "POST", "http://"+addr+"/v0/agent/worker/restart", "", good); code != 403 {
		t.Errorf("status of a change with only the token: got %d", code)
	}
	if code, _, _ := call(t, "POST", "http://"+addr+"/v0/agent/worker/restart", "", good, byProgram); code != 200 || len(f.Commands()) != 1 {
		t.Errorf("%d, %v", code, f.Commands())
	}
	if text := log.String(); strings.Contains(text, token) {
		t.Errorf("the log contains the token: %s", text)
	}
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The guard checks every request, even OPTIONS *, before it reads the body.
func TestGuardChecksEveryRequest(t *testing.T) {
	t.Parallel()
	everyListener(t, api.Guard{Token: token}, func(t *testing.T, addr string) {
		for name, request := range map[string]string{
			"by another host name":      "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
			"with a body, never sent":   "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n",
			"a method that is rejected": "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		} {
			if got := raw(t, addr, request); !strings.HasPrefix(got, "HTTP/1.1 40") {
				t.Errorf("%s: %.200s", name, got)
			}
		}
	})
}

// Names are also checked over TCP.
func TestCraftedPaths(t *testing.T) {
	everyListener(t, api.Guard{}, func(t *testing.T, addr string) {
		for _, path := range []string{"/v0/agent/..", "/v0/agent/%2e%2e", "/v0/agent/%2e%2e/output", "/v0/agent/..%2f..%2fetc%2fpasswd", "/v0/agent/wor%00ker", "/v0/agent/../../etc/passwd",
			"/../../etc/passwd", "//evil.example/v0/agents", "/v0/city/%2e%2e/agents", "/v0/./agents", "/v0/agent/worker%20", "/v0/bead/%2e%2e", "/v0/automation/..%5c..", "*"} {
			got := raw(t, addr, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 400 ") && !strings.HasPrefix(got, "HTTP/1.1 404 ") {
				t.Errorf("%s: %.200s", path, got)
			}
		}
	})
}

// Hostile clients are disconnected. Other clients still get responses. It is not parallel, because it keeps this process
// so busy that clients in other tests take it for a process that hangs.
func TestHostileClients(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	everyListener(t, api.Guard{}, func(t *testing.T, addr string) {
		answered := func(when string) {
			if code, _, _ := call(t, "GET", "http://"+addr+"/v0/agents", ""); code != 200 {
				t.Errorf("%s: %d", when, code)
			}
		}
		var open []net.Conn
		defer func() {
			for _, c := range open {
				_ = c.Close()
			}
		}()
		for i := range 3000 { // more than the server permits, some of them with an incomplete header
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if open = append(open, c); i%2 == 0 {
				_, _ = io.WriteString(c, "GET /v0/agents HTTP/1.1\r\nHost: local")
			}
		}
		answered("with thousands of connections")
		begun := "POST /v0/agent/worker/nudge HTTP/1.1\r\nHost: localhost\r\nX-GC-Request: 1\r\nContent-Type: application/json\r\n"
		for name, request := range map[string]string{
			"a huge body with a length":          begun + "Content-Length: 1073741824\r\n\r\n" + strings.Repeat("x", 6<<20),
			"a huge body without a length":       begun + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("100000\r\n"+strings.Repeat("x", 1<<20)+"\r\n", 6),
			"a huge body of a rejected request":  "POST /v0/agent/worker/nudge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n" + strings.Repeat("x", 1<<20),
			"a body of a GET that is never sent": "GET /v0/agents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
			"a late body of a rejected request":  "POST /v0/agents HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n{",
			"headers without an end":             "GET /v0/agents HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20),
			"half a header":                      "GET /v0/agents HTTP/1.1\r\nHos",
			"garbage":                            "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
			"HTTP/2":                             "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
			"two lengths":                        begun + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
			"a length and chunks":                begun + "Connection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v0/agents HTTP/1.1\r\nHost: localhost\r\n\r\n",
		} {
			got := raw(t, addr, request)
			if got != "" && !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 505") {
				t.Errorf("%s: %.200s", name, got)
			}
			answered(name)
		}
	})
}

// stalledReaders is small, because filling the buffers of many readers keeps this process so busy that clients in other
// tests do not send their requests in time.
const stalledReaders = 8

// Clients that read nothing are disconnected. They do not block other requests.
func TestStalledReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	f := town()
	addr := overTCP(t, f, api.Guard{}, api.Options{MaxStreams: stalledReaders, WriteTimeout: 2 * time.Second, KeepAlive: time.Hour})
	for range stalledReaders {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET /v0/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatal(line, err)
		}
	}
	for _, path := range []string{"/v0/events/stream", "/v0/agents?index=99999", "/v0/events?index=99999"} {
		if code, _, body := call(t, "GET", "http://"+addr+path, ""); code != 503 || !strings.Contains(body, "streams are already open") {
			t.Errorf("%s beyond the limit: got %d %s", path, code, body)
		}
	}
	long := strings.Repeat("x", 1<<20)
	for end := time.Now().Add(patience); !answers("http://" + addr + "/v0/agents?index=0&wait=1ms"); {
		if time.Now().After(end) {
			t.Fatal("stalled readers still hold the streams")
		}
		f.Record(events.Event{Type: "a.b", Message: long})
	}
}

// A cursor resumes the stream without gaps or duplicates. If this is impossible, the stream sends a gap event.
func TestCursorsOverTCP(t *testing.T) {
	f := town()
	for range 3 {
		f.Record(events.Event{Type: "a.b"})
	}
	addr := overTCP(t, f, api.Guard{}, api.Options{})
	for cursor, want := range map[string]string{"1": "id: 2", "3": ": open", "99": "event: " + events.Gap, "garbage": "event: " + events.Gap, "-1": "event: " + events.Gap, "18446744073709551616": "event: " + events.Gap} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET /v0/events/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: %s\r\n\r\n", cursor); err != nil {
			t.Fatal(err)
		}
		found := false
		for s := bufio.NewScanner(c); !found && s.Scan(); {
			found = strings.HasPrefix(s.Text(), want)
		}
		if !found {
			t.Errorf("Last-Event-ID %s: want %q", cursor, want)
		}
		_ = c.Close()
	}
}

// A token file must be a private regular file that contains exactly one token.
func TestReadToken(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"good": {token + "\n", 0o600, ""}, "read-only": {token, 0o400, ""}, "open": {token, 0o644, "chmod 600"}, "group": {token, 0o640, "chmod 600"}, "short": {"0123456789abcde", 0o600, "a valid token"},
		"empty": {"", 0o600, "a valid token"}, "two": {token + "\n" + token, 0o600, "a valid token"}, "long": {strings.Repeat("x", 513), 0o600, "a valid token"}, "odd": {token + "ü", 0o600, "a valid token"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		got, err := apitoken.Read(path)
		if c.want == "" && (err != nil || got != token) || c.want != "" && (err == nil || got != "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err != nil && len(c.text) > 0 && strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: the error contains the token: %v", name, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing"), "/dev/zero"} {
		if _, err := apitoken.Read(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}
