package api_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

// The guard also checks requests about all cities.
func TestFleetGuard(t *testing.T) {
	a, b := named("a"), named("b")
	m := citytest.NewDirectory(a, b)
	m.Folder("/home/c", named("c"))
	addr := fleetOverTCP(t, m, api.Guard{Fleet: true, Hosts: []string{"machine.example"}}, api.Options{})
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"valid", "GET", "/v0/cities", "", nil, 200},
		{"by a configured host name", "GET", "/v0/cities", "", []string{"Host: machine.example"}, 200},
		{"by a foreign host name", "GET", "/v0/cities", "", []string{"Host: evil.example", "Origin: http://evil.example"}, 403},
		{"a stream by a foreign host name", "GET", "/v0/events/stream", "", []string{"Host: evil.example"}, 403},
		{"a page on another site", "GET", "/v0/agents", "", []string{"Origin: http://evil.example"}, 403},
		{"a page on another port", "GET", "/v0/city/a/agents", "", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"a registration by GET", "GET", "/v0/city/c/register", "", []string{byProgram}, 405},
		{"an unregistration by GET", "GET", "/v0/city/a/unregister", "", []string{byProgram}, 405},
		{"an unregistration by DELETE", "DELETE", "/v0/city/a", "", []string{byProgram}, 405},
		{"a form", "POST", "/v0/cities", "path=/home/c", []string{"Content-Type: application/x-www-form-urlencoded"}, 403},
		{"plain text", "POST", "/v0/city/c/register", `{"path":"/home/c"}`, []string{"Content-Type: text/plain", byProgram}, 403},
		{"without the header", "POST", "/v0/city/c/register", `{"path":"/home/c"}`, []string{inJSON}, 403},
		{"an unregistration without the header", "POST", "/v0/city/a/unregister", "", nil, 403},
		{"the profiler", "GET", "/debug/pprof/heap", "", nil, 404},
		{"the profiler of a city", "GET", "/v0/city/a/debug/pprof/heap", "", nil, 404},
		{"a city named ..", "GET", "/v0/city/../agents", "", nil, 400},
		{"a city named .., escaped", "GET", "/v0/city/%2e%2e/agents", "", nil, 400},
		{"a city with a NUL", "GET", "/v0/city/a%00/agents", "", nil, 400},
		{"another city after a slash", "GET", "/v0/city/a%2fb/agents", "", nil, 400},
		{"an agent named ..", "GET", "/v0/city/a/agent/%2e%2e", "", nil, 400},
		{"a relative path", "POST", "/v0/city/c/register", `{"path":"../c"}`, []string{inJSON, byProgram}, 400},
	} {
		if code, _, body := call(t, c.method, "http://"+addr+c.path, c.body, c.headers...); code != c.want {
			t.Errorf("%s: got %d %s, want %d", c.name, code, body, c.want)
		}
	}
	if all, err := m.Cities(t.Context()); err != nil || len(all) != 2 || len(a.Commands())+len(b.Commands()) > 0 {
		t.Errorf("the cities were changed: %v, %v", all, err)
	}
	_, _, body := call(t, "GET", "http://"+addr+"/v0/cities", "", "Host: evil.example")
	if !strings.Contains(body, "[supervisor] hosts") {
		t.Error(body)
	}
}

// Clients of the merged stream that read nothing are disconnected, and never block other clients.
func TestStalledFleetReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("writes until the buffers are full")
	}
	t.Parallel()
	a, b := named("a"), named("b")
	addr := fleetOverTCP(t, citytest.NewDirectory(a, b), api.Guard{Fleet: true}, api.Options{MaxStreams: stalledReaders, WriteTimeout: 2 * time.Second, KeepAlive: time.Hour})
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
		if line, err := io.ReadFull(c, make([]byte, 15)); err != nil {
			t.Fatal(line, err)
		}
	}
	if code, _, body := call(t, "GET", "http://"+addr+"/v0/events/stream", ""); code != 503 || !strings.Contains(body, "streams are already open") {
		t.Errorf("%d %s", code, body)
	}
	long := strings.Repeat("x", 1<<20)
	for end := time.Now().Add(patience); ; {
		a.Record(events.Event{Type: "a.b", Message: long})
		if answers("http://" + addr + "/v0/agents?index=a:0&wait=1ms") {
			return
		}
		if time.Now().After(end) {
			t.Fatal("stalled readers still hold the streams")
		}
	}
}

// Repeating a request has no further effect.
func TestRepeatedRequests(t *testing.T) {
	m := citytest.NewDirectory(named("a"))
	f := named("b")
	m.Folder("/home/b", f)
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	done := make(chan int, 8)
	for range cap(done) {
		go func() {
			resp, err := hc.Post("http://city/v0/city/b/register", "application/json", strings.NewReader(`{"path":"/home/b"}`))
			if err != nil {
				done <- 0
				return
			}
			_ = resp.Body.Close()
			done <- resp.StatusCode
		}()
	}
	for range cap(done) {
		if code := <-done; code != 200 {
			t.Errorf("%d", code)
		}
	}
	m.SetCondition("b", city.CityStarting, "stopping leftover sessions")
	if status, _, body := send(t, hc, "POST", "/v0/city/b/stop", ""); status != 503 || !strings.Contains(body, "b is not running: it is starting: stopping") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := send(t, hc, "POST", "/v0/city/b/unregister", ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if _, _, body := get(t, hc, "/v0/cities"); !strings.Contains(body, `"total":1`) {
		t.Error(body)
	}
	if done := f.Commands(); len(done) != 0 {
		t.Errorf("%#v", done)
	}
}

func TestManyCities(t *testing.T) {
	m := citytest.NewDirectory()
	for i := range 300 {
		name := fmt.Sprintf("city-%03d", i)
		m.Add(name, "/"+name, named(name))
	}
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	if status, _, body := get(t, hc, "/v0/agents?limit=5&running=true"); status != 200 || !strings.Contains(body, `"total":300,"next_cursor":"worker@city-004"`) {
		t.Errorf("%d %.500s", status, body)
	}
	if status, _, body := get(t, hc, "/v0/status"); status != 400 || !strings.Contains(body, "and 280 more") {
		t.Errorf("%d %.500s", status, body)
	}
	if status, _, body := get(t, hc, "/v0/city/none"); status != 404 || strings.Contains(body, "city-299") {
		t.Errorf("%d %.500s", status, body)
	}
}
