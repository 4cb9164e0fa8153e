package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gcity/api"
	"gcity/api/gascity"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

func get(t *testing.T, hc *http.Client, path string) (int, http.Header, string) {
	t.Helper()
	return send(t, hc, http.MethodGet, path, "")
}

func send(t *testing.T, hc *http.Client, method, path, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, "http://city"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := hc.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// Plain HTTP requests to a city get the expected JSON.
func TestShapes(t *testing.T) {
	f := town()
	f.Record(events.Event{Type: "deploy.done", Actor: "ci", Message: "1"})
	f.Record(events.Event{Type: "deploy.done", Actor: "ci", Message: "2"})
	f.Set(func(s *city.Snapshot) {
		s.Degraded = []string{"disk full"}
		s.Rigs = []city.Rig{{Name: "rig"}}
	})
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/health", []string{`"status":"degraded"`, `"version":"test"`, `"cities_total":1`,
			`"cities_running":1`, `"loop_age_ms":`, `"degraded":["disk full"]`}},
		{"/v0/cities",
			[]string{`{"items":[{"name":"town","path":"/town","running":true,"status":"running"}],"total":1,"running":1}`}},
		{"/v0/status", []string{`"name":"town"`, `"agent_count":3`, `"rig_count":1`, `"running":2`,
			`"total":3`, `"quarantined":0`, `"suspended":1`}},
		{"/v0/city/town", []string{`"name":"town"`, `"agent_count":3`}},
		{"/v0/city/town/status", []string{`"name":"town"`}},
		{"/v0/agents", []string{`"total":3`, `"name":"lazy"`, `"state":"running"`,
			`"reason":"as configured"`, `"session":{"name":"worker"`}},
		{"/v0/city/town/agents?rig=rig", []string{`"total":1`, `"name":"rig/stop"`}},
		{"/v0/agents?running=false", []string{`"total":1`, `"name":"lazy"`}},
		{"/v0/agents?state=", []string{`"total":3`}},
		{"/v0/agents?state=quarantined", []string{`{"items":[],"total":0}`}},
		{"/v0/agents?peek=true", []string{`"last_output":"ready"`}},
		{"/v0/agent/worker", []string{`"name":"worker"`}},
		{"/v0/agent/worker?peek=1", []string{`"last_output":"ready"`}},
		{"/v0/agent/rig/stop", []string{`"code":"invalid"`}}, // the path ends in a verb
		{"/v0/agent/rig%2Fstop", []string{`"name":"rig/stop"`}},
		{"/v0/agent/rig%2fstop/output", []string{
			`{"agent":"rig/stop","format":"text","turns":[{"role":"output","text":""}]}`}},
		{"/v0/agent/worker/output?lines=5", []string{`"text":"ready"`}},
		{"/v0/events", []string{`{"items":[{"seq":2,`, `"total":2}`}},
		{"/v0/events?cursor=0&limit=1", []string{`{"items":[{"seq":1,`,
			`"total":1,"next_cursor":"1"}`}},
		{"/v0/events?after_seq=1&type=deploy.*,x.y", []string{`"seq":2`, `"next_cursor":"2"`}},
		{"/v0/events?since=1h&actor=ci", []string{`"total":2`}},
		{"/v0/snapshot", []string{`"rev":`, `"agents":[`}},
		{"/v0/snapshot?view=status", []string{`"rev":`, `"agents":[{"name":`}},
		{"/debug/pprof/goroutine?debug=1", []string{"goroutine profile"}},
		{"/debug/pprof/", []string{"profile?seconds=30", "heap?debug=1"}},
		{"/debug/pprof/profile?seconds=0", []string{"\x1f\x8b"}},
		{"/debug/pprof/trace?seconds=0", []string{"go 1."}},
		{"/debug/pprof/heap?gc=1", []string{"\x1f\x8b"}},
	} {
		_, _, body := get(t, hc, c.path)
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %s in %s", c.path, want, body)
			}
		}
	}
	for _, p := range []string{"/v0/agent/worker/output", "/v0/agent/worker/inspect",
		"/v0/events"} {
		if _, h, _ := get(t, hc, p); h.Get("X-GC-Index") != "2" {
			t.Errorf("%s: got X-GC-Index %q", p, h.Get("X-GC-Index"))
		}
	}
	code, h, _ := get(t, hc, "/v0/agents")
	if code != 200 || h.Get("X-GC-Index") != "2" || h.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", code, h)
	}
}

// Requests with a wrong method, a crafted path or an invalid body are rejected.
func TestRejections(t *testing.T) {
	f := town()
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		method, path, body string
		status             int
		code               city.Code
	}{
		{"GET", "/v0/agent/worker/restart", "", 405, city.Invalid},
		{"GET", "/v0/reload", "", 405, city.Invalid},
		{"GET", "/v0/shutdown", "", 405, city.Invalid},
		{"GET", "/v0/agent/worker/attach", "", 405, city.Invalid},
		{"HEAD", "/v0/agents", "", 405, ""},
		{"DELETE", "/v0/agent/worker", "", 501, city.Unsupported},
		{"POST", "/v0/rigs", `{"name": "x", "path": "/x"}`, 501, city.Unsupported},
		{"POST", "/v0/rigs", `{"name": "x", "url": "/x"}`, 400, city.Invalid},
		{"DELETE", "/v0/provider/claude", "", 501, city.Unsupported},
		{"PATCH", "/v0/agent/worker", "{}", 400, city.Invalid},
		{"PUT", "/v0/events", "{}", 405, city.Invalid},
		{"OPTIONS", "/v0/agents", "", 405, city.Invalid},
		{"POST", "/v0/agents", "", 501, city.Unsupported},
		{"POST", "/debug/pprof/heap", "", 405, city.Invalid},
		{"GET", "/debug/pprof/cmdline", "", 404, city.NotFound},
		{"GET", "/debug/pprof/profile?seconds=x", "", 400, city.Invalid},
		{"GET", "/v0/snapshot?view=x", "", 400, city.Invalid},
		{"GET", "/", "", 404, city.NotFound},
		{"GET", "/v0", "", 404, city.NotFound},
		{"GET", "/v0/", "", 404, city.NotFound},
		{"GET", "/v0/city/", "", 404, city.NotFound},
		{"GET", "/v0/city//agents", "", 400, city.Invalid},
		{"GET", "/v0/city/other/agents", "", 404, city.NotFound},
		{"GET", "/v0/city/town/cities", "", 404, city.NotFound},
		{"GET", "/v0/agent/nobody", "", 404, city.NotFound},
		{"GET", "/v0/agent/nobody/output", "", 404, city.NotFound},
		{"GET", "/v0/agent/nobody/stream", "", 404, city.NotFound},
		{"POST", "/v0/agent/nobody/restart", "", 404, city.NotFound},
		// without the check, this path would name an agent "worker/explode"
		{"POST", "/v0/agent/worker/explode", "", 405, city.Invalid},
		{"POST", "/v0/agent/rig%2Fstop/explode", "", 404, city.NotFound},
		{"GET", "/v0/agent/..", "", 400, city.Invalid},
		{"GET", "/v0/agent/%2e%2e", "", 400, city.Invalid},
		{"GET", "/v0/agent/../agents", "", 400, city.Invalid},
		{"GET", "/v0/agent/..%2f..%2fetc%2fpasswd", "", 400, city.Invalid},
		{"GET", "/v0/agent/wor%00ker", "", 400, city.Invalid},
		{"GET", "/v0/agent/wor%0aker", "", 400, city.Invalid},
		{"GET", "/v0/agent//worker", "", 400, city.Invalid},
		{"GET", "/v0/agent/-rf", "", 400, city.Invalid},
		{"GET", "/v0/agent/" + strings.Repeat("a", 65), "", 400, city.Invalid},
		{"GET", "/v0/city/..%2ftown/agents", "", 400, city.Invalid},
		{"GET", "/v0/agent/worker/output?lines=-1", "", 400, city.Invalid},
		{"GET", "/v0/agent/worker/output?lines=99999999999", "", 400, city.Invalid},
		{"GET", "/v0/agents?running=perhaps", "", 400, city.Invalid},
		{"GET", "/v0/agents?state=bogus", "", 400, city.Invalid},
		{"GET", "/v0/automations?state=bogus", "", 400, city.Invalid},
		{"GET", "/v0/automations?gate=bogus", "", 400, city.Invalid},
		{"GET", "/v0/agents?index=x", "", 400, city.Invalid},
		{"GET", "/v0/agents?index=1&wait=10m", "", 400, city.Invalid},
		{"GET", "/v0/events?limit=1000000", "", 400, city.Invalid},
		{"GET", "/v0/events?since=yesterday", "", 400, city.Invalid},
		{"POST", "/v0/agent/worker/nudge", "", 400, city.Invalid},
		{"POST", "/v0/agent/worker/nudge", `{"txt":"x"}`, 400, city.Invalid},
		{"POST", "/v0/agent/worker/nudge", `{"text":`, 400, city.Invalid},
		{"POST", "/v0/agent/worker/nudge", `{"text":"x"} and more`, 400, city.Invalid},
		{"POST", "/v0/events", ``, 400, city.Invalid},
		{"POST", "/v0/events", `{"type":"x y"}`, 400, city.Invalid},
		{"POST", "/v0/events", `{"typo":"x.y"}`, 400, city.Invalid},
		{"POST", "/v0/events", `{"type":"x.y"},"event":{"type":"a.b"}`, 400, city.Invalid},
		{"POST", "/v0/agent/worker/nudge", `{"text":"` + strings.Repeat("a", 5<<20) + `"}`, 400,
			city.Invalid},
		{"POST", "/v0/agent/worker/attach?cols=80&rows=24", "", 400, city.Invalid},
		{"POST", "/v0/agent/lazy/nudge", `{"text":"x"}`, 409, city.Conflict},
	} {
		status, h, body := send(t, hc, c.method, c.path, c.body)
		var e city.Error
		if status != c.status || c.method != "HEAD" &&
			(json.Unmarshal([]byte(body), &e) != nil || e.Code != c.code || e.Message == "") {
			t.Errorf("%s %.60s: got %d %s, want %d %s", c.method, c.path, status, body, c.status,
				c.code)
		}
		if status == 405 && h.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	for _, c := range f.Commands() {
		switch c.(type) {
		case city.Restart, city.Nudge, city.Emit:
			// the API accepts these requests, and the city rejects them
		default:
			t.Errorf("%#v was executed", c)
		}
	}
}

func TestVerbs(t *testing.T) {
	f := town()
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		path, body string
		want       city.Command
	}{
		{"/v0/agent/worker/restart", "", city.Restart{Agent: "worker"}},
		{"/v0/city/town/agent/rig/stop/kill", "", city.Kill{Agent: "rig/stop"}},
		{"/v0/agent/rig%2Fstop/stop", "", city.Stop{Agent: "rig/stop"}},
		{"/v0/agent/worker/nudge", `{"text":"hi"}`, city.Nudge{Agent: "worker", Text: "hi"}},
		{"/v0/agent/worker/nudge", `{"text":"hi","now":true}`,
			city.Nudge{Agent: "worker", Text: "hi", Now: true}},
		{"/v0/suspend", "", city.Suspend{}},
		{"/v0/city/town/resume", "", city.Resume{}},
		{"/v0/reload", "{}", city.Reload{}},
		{"/v0/city/town/shutdown", `{"leave":true}`, city.Shutdown{Leave: true}},
		{"/v0/stop", "", city.Shutdown{}},
	} {
		status, _, body := send(t, hc, "POST", c.path, c.body)
		got := f.Commands()
		if status != 200 || len(got) == 0 || got[len(got)-1] != c.want ||
			!strings.Contains(body, `"message":`) {
			t.Errorf("%s: got %d %s, %#v", c.path, status, body, got)
		}
	}
}

// An older controller rejects the depth of a nudge. The client then sends the nudge without it.
func TestNudgeToOlderController(t *testing.T) {
	f := town()
	f.OnDo(func(c city.Command) (city.Receipt, error) {
		if c.(city.Nudge).Depth > 0 {
			var older struct{ Text string }
			return city.Receipt{}, city.DecodeBody([]byte(`{"text":"hello","depth":3}`), &older)
		}
		return city.Receipt{Message: "typed"}, nil
	})
	path, _ := serve(t, f, api.Options{})
	nudge := city.Nudge{Agent: citytest.Worker, Text: "hello", Depth: 3}
	if r, err := dial(t, path).Do(t.Context(), nudge); err != nil || r.Message != "typed" {
		t.Errorf("got %+v, %v", r, err)
	}
	if got := f.Commands(); len(got) != 2 || got[0] != city.Command(nudge) {
		t.Errorf("got commands %+v", got)
	}
}

// olderBeads is a city whose controller does not know the filters that were added last.
type olderBeads struct{ *citytest.Fake }

func (c olderBeads) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if q.NotLabel != "" || !q.CreatedUntil.IsZero() {
		return nil, gascity.CheckQuery("not_label=read", []string{"label", "limit"})
	}
	return c.Fake.Beads(ctx, q)
}

// An older controller rejects new filters. The client then requests all beads and filters them itself.
func TestNewFiltersWithOlderController(t *testing.T) {
	f := town()
	for _, labels := range [][]string{{"to:x"}, {"to:x", "read"}, nil, {"to:x"}, {"read"}} {
		if _, err := f.Do(t.Context(), city.CreateBead{Bead: beads.Bead{Title: "m", Labels: labels}}); err != nil {
			t.Fatal(err)
		}
	}
	path, _ := serve(t, olderBeads{f}, api.Options{})
	for _, q := range []beads.Query{{NotLabel: "read", Limit: -1}, {NotLabel: "read", Labels: []string{"to:x"}, Limit: 1},
		{NotLabel: "none", CreatedUntil: time.Unix(1, 0)}} {
		want, err := f.Beads(t.Context(), q)
		got, failed := dial(t, path).Beads(t.Context(), q)
		if !slices.EqualFunc(got, want, func(a, b beads.Bead) bool { return a.ID == b.ID }) || errors.Join(err, failed) != nil {
			t.Errorf("%+v: got %v, want %v (%v, %v)", q, got, want, err, failed)
		}
	}
}

// A long poll waits for a state that is newer than the index in the request.
func TestLongPoll(t *testing.T) {
	f := town()
	seq := f.Record(events.Event{Type: "a.b"})
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, route := range []string{"/v0/agents", "/v0/status", "/v0/agent/worker", "/v0/events",
		"/v0/snapshot", "/v0/pools", "/v0/rigs", "/v0/quarantine", "/v0/automations", "/v0/beads"} {
		if _, h, _ := get(t, hc, fmt.Sprintf("%s?index=%d", route, seq-1)); h.Get("X-GC-Index") !=
			fmt.Sprint(seq) {
			t.Errorf("%s: got index %s, want %d immediately", route, h.Get("X-GC-Index"), seq)
		}
		if _, h, _ := get(t, hc, fmt.Sprintf("%s?index=%d&wait=1ms", route, seq)); h.Get(
			"X-GC-Index") != fmt.Sprint(seq) {
			t.Errorf("%s: got index %s, want %d after the wait", route, h.Get("X-GC-Index"), seq)
		}
		next, url := make(chan string, 1), fmt.Sprintf("http://city%s?index=%d&wait=1m", route, seq)
		go func() {
			resp, err := hc.Get(url)
			if err != nil {
				next <- err.Error()
				return
			}
			resp.Body.Close()
			next <- resp.Header.Get("X-GC-Index")
		}()
		seq = f.Record(events.Event{Type: "a.b"})
		if got := <-next; got != fmt.Sprint(seq) {
			t.Errorf("%s: index %s, want %d", route, got, seq)
		}
	}
}

// busyLog is a city with a new event whenever a client has read events.
type busyLog struct{ *citytest.Fake }

func (c busyLog) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	defer c.Record(events.Event{Type: "a.b"})
	return c.Fake.History(ctx, q)
}

// A page of events contains all events up to the index of the response, so the next long poll misses no event.
func TestIndexOfEvents(t *testing.T) {
	f := town()
	f.Record(events.Event{Type: "a.b"})
	path, _ := serve(t, busyLog{f}, api.Options{})
	for range 3 {
		_, h, body := get(t, curl(t, path), "/v0/events?limit=1")
		var page struct{ Items []events.Event }
		if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Items) != 1 ||
			h.Get("X-GC-Index") != fmt.Sprint(page.Items[0].Seq) {
			t.Errorf("index %s for %s", h.Get("X-GC-Index"), body)
		}
	}
}

// While changed work has not been counted, the index is lower than the seq of the change. A long poll with this index
// therefore gets the new counts.
func TestIndexOfUncountedWork(t *testing.T) {
	snap := &city.Snapshot{Name: "town", Seq: 8, Uncounted: 7}
	path, _ := serve(t, staticCity{town(), snap}, api.Options{})
	hc := curl(t, path)
	for route, want := range map[string]string{"/v0/status": "6", "/v0/agents?index=5": "6", "/v0/events": "8"} {
		if _, h, body := get(t, hc, route); h.Get("X-GC-Index") != want {
			t.Errorf("%s: index %s, want %s: %s", route, h.Get("X-GC-Index"), want, body)
		}
	}
	path, _ = serveFleet(t, oneCity{citytest.NewDirectory(town()), staticCity{town(), snap}}, api.Options{})
	hc = curl(t, path)
	for route, want := range map[string]string{"/v0/agents": "town:6", "/v0/agents?wait=1ms&index=town:6": "town:6", "/v0/events": "town:8"} {
		if _, h, body := get(t, hc, route); h.Get("X-GC-Index") != want {
			t.Errorf("%s: index %s, want %s: %s", route, h.Get("X-GC-Index"), want, body)
		}
	}
}

// A supervisor's long poll waits until changed work has been counted, also if one of its cities is stopped.
func TestLongPollWaitsForCount(t *testing.T) {
	d := citytest.NewDirectory(town(), citytest.NewFake("idle"))
	d.SetCondition("idle", city.CityStopped, "")
	path, _ := serveFleet(t, oneCity{d, &countedLater{Control: town()}}, api.Options{})
	if _, h, body := get(t, curl(t, path), "/v0/agents?index=town:6"); h.Get("X-GC-Index") != "town:8" {
		t.Errorf("index %s: %s", h.Get("X-GC-Index"), body)
	}
}

// countedLater is a city that counts changed work after its first snapshot.
type countedLater struct {
	city.Control
	counted atomic.Bool
}

func (c *countedLater) Snapshot(context.Context) (*city.Snapshot, error) {
	snap := &city.Snapshot{Name: "town", Seq: 8}
	if !c.counted.Swap(true) {
		snap.Uncounted = 7
	}
	return snap, nil
}

// oneCity is a directory in which each name belongs to the same city.
type oneCity struct {
	city.Directory
	control city.Control
}

func (o oneCity) City(string) (city.Control, error) { return o.control, nil }

// An invalid request does not wait for a newer state.
func TestInvalidLongPoll(t *testing.T) {
	f := town()
	seq := f.Record(events.Event{Type: "a.b"})
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, route := range []string{"/v0/agents?running=perhaps", "/v0/agents?limit=x", "/v0/agent/worker/output?lines=-1", "/v0/beads?ready=x",
		"/v0/beads?limit=all&store=x", "/v0/convoys?limit=x"} {
		if status, _, body := get(t, hc, fmt.Sprintf("%s&index=%d&wait=5m", route, seq)); status != 400 {
			t.Errorf("%s: got %d %s, want 400", route, status, body)
		}
	}
}

func lines(t *testing.T, hc *http.Client, path, lastID string) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://city"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := hc.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); resp.Body.Close() })
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf("%s: %d %s", path, resp.StatusCode, ct)
	}
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, 1<<20)
	return s
}

func next(t *testing.T, s *bufio.Scanner, n int) (out []string) {
	t.Helper()
	for len(out) < n {
		if !s.Scan() {
			t.Fatalf("the stream ended after %q: %v", out, s.Err())
		}
		if line := s.Text(); line != "" && !strings.HasPrefix(line, ":") {
			out = append(out, line)
		}
	}
	return out
}

// A stream resumes without gaps or duplicates, or reports a gap.
func TestEventStreamCursors(t *testing.T) {
	f := town()
	for range 5 {
		f.Record(events.Event{Type: "test.old"})
	}
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		name, path, id string
		want           []string
	}{
		{"old", "/v0/events/stream", "2", []string{"event: test.old", "id: 3"}},
		{"the first", "/v0/events/stream", "0", []string{"event: test.old", "id: 1"}},
		{"by parameter", "/v0/city/town/events/stream?after_seq=4", "",
			[]string{"event: test.old", "id: 5"}},
		{"the header is newer than the parameter", "/v0/events/stream?after_seq=1", "4",
			[]string{"event: test.old", "id: 5"}},
		{"from the future", "/v0/events/stream", "99", []string{"event: events.gap", "id: 5"}},
		{"garbage", "/v0/events/stream", "cityA:5", []string{"event: events.gap", "id: 5"}},
		{"negative", "/v0/events/stream?after_seq=-1", "", []string{"event: events.gap", "id: 5"}},
		{"over 64 bits", "/v0/events/stream", strings.Repeat("9", 200),
			[]string{"event: events.gap", "id: 5"}},
	} {
		s := lines(t, hc, c.path, c.id)
		if got := next(t, s, 2); got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	gap, live := lines(t, hc, "/v0/events/stream", "99"),
		lines(t, hc, "/v0/events/stream?type=test.new", "")
	next(t, gap, 3)
	if got := next(t, live, 1); got[0] != "id: 5" { // so that a client can resume before the first event
		t.Errorf("without a cursor: got %q", got)
	}
	f.Record(events.Event{Type: "test.other"})
	f.Record(events.Event{Type: "test.new"})
	if got := next(t, gap, 2); got[1] != "id: 6" {
		t.Errorf("after the gap: got %q", got)
	}
	if got := next(t, live, 2); got[0] != "event: test.new" || got[1] != "id: 7" {
		t.Errorf("without a cursor: got %q", got)
	}
}

func TestKeepAlive(t *testing.T) {
	path, _ := serve(t, town(), api.Options{KeepAlive: time.Millisecond})
	s := lines(t, curl(t, path), "/v0/events/stream", "")
	for quiet := 0; quiet < 3; {
		if !s.Scan() {
			t.Fatal(s.Err())
		}
		if s.Text() == ": quiet" {
			quiet++
		}
	}
}

func TestWatchStream(t *testing.T) {
	path, _ := serve(t, town(), api.Options{})
	s := lines(t, curl(t, path), "/v0/agent/worker/stream", "")
	got := next(t, s, 2)
	var frame city.Frame
	if err := json.Unmarshal([]byte(strings.TrimPrefix(got[1], "data: ")), &frame); err != nil ||
		got[0] != "event: frame" ||
		!frame.Reset || frame.Cols != 80 || string(frame.Data) != "ready\r\n" {
		t.Errorf("%q: %+v, %v", got, frame, err)
	}
}

// The number of streams is limited.
func TestStreamLimit(t *testing.T) {
	path, _ := serve(t, town(), api.Options{MaxStreams: 2})
	hc := curl(t, path)
	lines(t, hc, "/v0/events/stream", "")
	lines(t, hc, "/v0/snapshot/stream", "")
	if code, _, body := get(t, hc, "/v0/agent/worker/stream"); code != 503 ||
		!strings.Contains(body, "unavailable") {
		t.Errorf("%d %s", code, body)
	}
	c := dial(t, path)
	if _, err := c.Attach(t.Context(), citytest.Worker, city.Viewer{Cols: 80, Rows: 24}); err ==
		nil {
		t.Error("a terminal beyond the limit was accepted")
	}
	if _, err := c.Snapshot(t.Context()); err != nil {
		t.Errorf("a normal request failed: %v", err)
	}
}

// Invalid input, incomplete lines and silent connections do not affect other connections.
func TestHostileConnections(t *testing.T) {
	path, _ := serve(t, town(), api.Options{})
	var silent []net.Conn
	for range 900 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	for i, garbage := range []string{
		"\x00\xff\xfe\r\n\r\n", "GET\r\n\r\n", "GET /v0/agents HTTP/9.9\r\n\r\n",
		strings.Repeat("A", 100<<10),
		"GET /v0/agents HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("b", 100<<10) + "\r\n\r\n",
		"POST /v0/reload HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
		"POST /v0/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		c := silent[i]
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, garbage)
		answer, _ := io.ReadAll(c)
		if len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) &&
			!bytes.HasPrefix(answer, []byte("HTTP/1.1 5")) {
			t.Errorf("%.30q: response %.80q", garbage, answer)
		}
	}
	for i, half := range []string{"GET /v0/ag", "POST /v0/agent/worker/nudge HTTP/1.1\r\nHost: " +
		"x\r\nContent-Length: 100\r\n\r\n{", ""} {
		if _, err := io.WriteString(silent[100+i], half); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, _ := get(t, curl(t, path), "/v0/agents"); code != 200 {
		t.Errorf("status %d", code)
	}
}

// An invalid frame ends the terminal's connection and does not affect anything else.
func TestHostileTerminal(t *testing.T) {
	f := town()
	path, _ := serve(t, f, api.Options{})
	for _, garbage := range []string{
		"hello", "d\xff\xff\xff\xff", "r\x00\x00\x00\x01x", "r\x00\x00\x00\x04\x00\x00\x00\x00",
		"e\x00\x00\x00\x00", "d\x00\x00\x00\x09half",
	} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(c, "POST /v0/agent/worker/attach?cols=80&rows=24 HTTP/1.1\r\n"+
			"Host: x\r\nConnection: Upgrade\r\nUpgrade: gcity-terminal\r\n\r\n"+garbage)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.UnixConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if err != nil && !strings.Contains(err.Error(), "reset") ||
			!bytes.HasPrefix(answer, []byte("HTTP/1.1 101 ")) {
			t.Errorf("%q: %q, %v", garbage, answer, err)
		}
	}
	if typed := f.Typed("worker"); typed != "" {
		t.Errorf("%q was typed", typed)
	}
}

// A client's input reaches the agent even if the agent prints something after the client has disconnected.
func TestInputOutlivesClient(t *testing.T) {
	term := &slowTerminal{disconnected: make(chan struct{}), noted: make(chan struct{}),
		typed: make(chan string, 1)}
	path, _ := serve(t, slowCity{town(), term}, api.Options{})
	far, err := dial(t, path).Attach(t.Context(), "worker", city.Viewer{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first, ", "second"} {
		if _, err := io.WriteString(far, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	close(term.disconnected)
	if typed := <-term.typed; typed != "first, second" {
		t.Errorf("only %q was typed", typed)
	}
}

type slowCity struct {
	*citytest.Fake
	term *slowTerminal
}

func (c slowCity) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return c.term, nil
}

// slowTerminal prints once the client has disconnected. It accepts input once the server has noted the disconnection.
type slowTerminal struct {
	city.Terminal
	disconnected chan struct{}
	noted        chan struct{}
	typed        chan string // all input, at the end

	mu    sync.Mutex
	reads int
	input []byte
	over  bool
}

func (s *slowTerminal) Read(p []byte) (int, error) {
	<-s.disconnected
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads++; s.reads == 3 {
		close(s.noted)
	}
	if s.over {
		return 0, io.EOF
	}
	return copy(p, "x"), nil
}

func (s *slowTerminal) Write(p []byte) (int, error) {
	<-s.noted
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input = append(s.input, p...)
	return len(p), nil
}

func (s *slowTerminal) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	s.over = true
	if s.reads < 3 {
		s.reads = 3
		close(s.noted)
	}
	s.typed <- string(s.input)
	return nil
}

// PATCH suspends and resumes agents and rigs, as Gas City's clients expect.
func TestPatchSuspends(t *testing.T) {
	f := town()
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct{ path, body string }{
		{"/v0/agent/worker", `{"suspended": true}`}, {"/v0/agent/worker", `{"suspended": false}`},
	} {
		if status, _, body := send(t, hc, "PATCH", c.path, c.body); status != 200 {
			t.Errorf("PATCH %s %s: got %d %s", c.path, c.body, status, body)
		}
	}
	want := []city.Command{city.Suspend{Agent: "worker"}, city.Resume{Agent: "worker"}}
	if got := f.Commands(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%#v", got)
	}
}

// The document contains the status of requests that do not return 200.
func TestDocumentedStatus(t *testing.T) {
	path, _ := serve(t, town(), api.Options{})
	hc := curl(t, path)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name     string
				Required bool
			}
			Responses map[string]any
		}
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct{ Code struct{ Enum []city.Code } }
				}
			}
		}
	}
	_, _, text := get(t, hc, "/v0/openapi.json")
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	codes := doc.Components.Schemas.Error.Properties.Code.Enum
	for path, methods := range doc.Paths {
		for method, about := range methods {
			if about.Responses["200"] != nil {
				continue
			}
			method = strings.ToUpper(method)
			path := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "town")
			status, _, body := send(t, hc, method, path, "")
			var e city.Error
			if err := json.Unmarshal([]byte(body), &e); err != nil || !slices.Contains(codes, e.Code) {
				t.Errorf("%s %s: %v %q is not one of %q", method, path, err, e.Code, codes)
			}
			if strings.HasSuffix(path, "/attach") {
				required := map[string]bool{}
				for _, p := range about.Parameters {
					required[p.Name] = p.Required
				}
				if about.Responses["101"] == nil || !required["Upgrade"] || !required["cols"] ||
					!required["rows"] {
					t.Errorf("%s %s: %+v", method, path, about)
				}
			} else if about.Responses[strconv.Itoa(status)] == nil {
				t.Errorf("%s %s: got status %d, documented is %v", method, path, status, about.Responses)
			}
		}
	}
	for _, path := range []string{"/v0/agents", "/v0/providers"} {
		if post := doc.Paths[path]["post"]; post.Responses["200"] != nil || post.Responses["501"] == nil {
			t.Errorf("POST %s: %v", path, post.Responses)
		}
	}
	if attach := doc.Paths["/v0/agent/{agent}/attach"]["post"]; attach.Responses["200"] != nil {
		t.Errorf("attach: %v", attach.Responses)
	}
}

// The server rejects a body without the fields that the document calls required.
func TestDocumentedBodies(t *testing.T) {
	path, _ := serve(t, town(), api.Options{})
	hc := curl(t, path)
	type shape struct {
		Ref string `json:"$ref"`
	}
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Required bool
				Content  map[string]struct{ Schema shape }
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	_, _, text := get(t, hc, "/v0/openapi.json")
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	required := 0
	for path, methods := range doc.Paths {
		for method, about := range methods {
			name := strings.TrimPrefix(about.RequestBody.Content["application/json"].Schema.Ref,
				"#/components/schemas/")
			body := doc.Components.Schemas[name]
			if about.RequestBody.Required != (len(body.Required) > 0) {
				t.Errorf("%s %s: required fields: %q", method, path, body.Required)
			}
			// the city in this test has no city.toml
			if len(body.Required) == 0 || path == "/v0/rigs" || strings.HasPrefix(path, "/v0/city/") {
				continue
			}
			required++
			path := strings.NewReplacer("{agent}", "worker", "{rig}", "rig").Replace(path)
			path = regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "tw-1")
			status, _, got := send(t, hc, strings.ToUpper(method), path, "{}")
			if status != http.StatusBadRequest {
				t.Errorf("%s %s {}: %d %s", method, path, status, got)
			}
			for _, field := range body.Required {
				if body.Properties[field] == nil || !strings.Contains(got, field) {
					t.Errorf("%s %s: %s is required, but: %s", method, path, field, got)
				}
			}
		}
	}
	if required < 9 {
		t.Errorf("only %d operations have required fields", required)
	}
	if nudge := doc.Components.Schemas["NudgeBody"]; nudge.Properties["message"] == nil ||
		nudge.Properties["text"] == nil {
		t.Errorf("nudge: %v", nudge.Properties)
	}
}
