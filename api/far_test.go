package api_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/controller/controllertest"
	"gcity/events"
	"gcity/internal/eventually"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func town() *citytest.Fake {
	f := citytest.NewFake("town", city.Agent{Name: citytest.Worker, Running: true}, city.Agent{Name: citytest.Lazy},
		city.Agent{Name: "rig/stop", Rig: "rig", Running: true})
	f.Print(citytest.Worker, citytest.Ready+"\r\n")
	return f
}

func serve(t *testing.T, c city.Control, o api.Options) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "city.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, l, c, o) }()
	stop = func() {
		cancel()
		select {
		case err := <-ended:
			ended <- nil
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("Serve did not return")
		}
	}
	t.Cleanup(stop)
	return path, stop
}

func dial(t *testing.T, path string) *client.Client {
	t.Helper()
	c, err := client.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func curl(t *testing.T, path string) *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("redirected")
	}}
}

// A city behind a socket passes the suite for city.Control, like a city in the same process.
func TestSuiteOverSocket(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	citytest.Suite(t, controllertest.Harness(func(t *testing.T, c *controllertest.City) city.Control {
		path, _ := serve(t, c, api.Options{})
		return dial(t, path)
	}))
}

// Agent returns the same agent as the snapshot.
func TestAgent(t *testing.T) {
	f := citytest.NewFake("town", city.Agent{Name: "web", Running: true, Usage: &city.Usage{CPU: 12.5, RSS: 4096, Procs: 3}},
		city.Agent{Name: "rig/stop", Rig: "rig", Drain: &city.DrainInfo{By: "operator"}}, city.Agent{Name: "rig/output"})
	path, _ := serve(t, f, api.Options{})
	c := dial(t, path)
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range snap.Agents {
		a, err := c.Agent(t.Context(), snap.Agents[i].Name)
		if err != nil || !reflect.DeepEqual(*a, snap.Agents[i]) {
			t.Errorf("%s: got %+v, %v; want %+v", snap.Agents[i].Name, a, err, snap.Agents[i])
		}
	}
	for _, name := range []string{"nobody", "rig", "stop", "", "../health", "web/output"} {
		_, err := c.Agent(t.Context(), name)
		if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNotRunning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.sock")
	if _, err := client.Dial(path); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("no socket: %v", err)
	}
	path, stop := serve(t, town(), api.Options{})
	c := dial(t, path)
	if _, err := c.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	_, err := c.Snapshot(t.Context())
	if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable || !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("a stopped city: got %v", err)
	}
	if _, err := client.Dial(path); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("a removed socket: got %v", err)
	}
}

// When the city ends, its streams and terminals report that. Serve does not wait for clients.
func TestServeEnds(t *testing.T) {
	path, stop := serve(t, town(), api.Options{})
	c := dial(t, path)
	term, err := c.Attach(t.Context(), citytest.Worker, city.Viewer{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	half, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := io.WriteString(half, "GET /v0/agents HT"); err != nil {
		t.Fatal(err)
	}
	stopped := false
	for s, err := range c.Snapshots(t.Context()) {
		if stopped {
			if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable {
				t.Errorf("end of the stream: got %v, %v", s, err)
			}
			break
		}
		stopped = true
		stop()
	}
	_, err = io.Copy(io.Discard, term)
	if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable {
		t.Errorf("end of the terminal: got %v", err)
	}
}

// The response to a shutdown request arrives even though the shutdown ends the server.
func TestShutdownResponse(t *testing.T) {
	f := town()
	path := filepath.Join(t.TempDir(), "city.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.OnDo(func(c city.Command) (city.Receipt, error) {
		cancel()
		return city.Receipt{Seq: 7, Message: "all agents stopped"}, nil
	})
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, l, f, api.Options{}) }()
	c := dial(t, path)
	r, err := c.Do(t.Context(), city.Shutdown{Leave: true})
	if err != nil || r.Seq != 7 || r.Message != "all agents stopped" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := f.Commands(); len(got) != 1 || got[0] != (city.Shutdown{Leave: true}) {
		t.Errorf("%+v", got)
	}
}

func TestEveryCommandArrives(t *testing.T) {
	f := town()
	f.OnDo(func(c city.Command) (city.Receipt, error) { return city.Receipt{Message: c.Verb()}, nil })
	path, _ := serve(t, f, api.Options{})
	c := dial(t, path)
	for i, cmd := range []city.Command{
		city.Restart{Agent: "a"}, city.Stop{Agent: "rig/stop"}, city.Kill{Agent: "rig/kill"}, city.Suspend{Agent: "a.b-c_d"},
		city.Suspend{}, city.Resume{Agent: "a"}, city.Resume{}, city.Release{Agent: "a"}, city.Interrupt{Agent: "a"},
		city.Clear{Agent: "a"}, city.RequestRestart{Agent: "a"}, city.Nudge{Agent: "output", Text: "-x; größer\n\x01 <&>"},
		city.Nudge{Agent: "unsend", Text: "x", Now: true}, city.Unsend{Agent: "rig/nudge"}, city.Unsend{Agent: "a", ID: 1<<64 - 1},
		city.Reload{}, city.Shutdown{}, city.Shutdown{Leave: true},
		city.Drain{Agent: "rig/worker-10"}, city.Undrain{Agent: "drain"}, city.DrainAck{Agent: "a"},
		city.Scale{Pool: "rig/scale", Size: 3}, city.Scale{Pool: "crew"}, city.Scale{Pool: "crew", Size: -1}, city.Scale{Pool: "crew", Auto: true},
		city.SuspendRig{Rig: "suspend"}, city.ResumeRig{Rig: "yard"}, city.Reload{Confirm: true},
		city.Fire{Automation: "run"}, city.Fire{Automation: "history:rig:a.b-c_d", By: "größer"},
		city.EndRun{Automation: "stop"}, city.EndRun{Automation: "run:rig:a.b-c_d", By: "größer"},
		city.Beat{Watchdog: "beat"}, city.Acknowledge{Watchdog: "chain", By: "ann"}, city.Decide{Watchdog: "chain", Decision: city.RemedyWake, Reason: "größer", Beat: "7"},
	} {
		r, err := c.Do(t.Context(), cmd)
		if err != nil || r.Message != cmd.Verb() {
			t.Errorf("%#v: %+v, %v", cmd, r, err)
		}
		if got := f.Commands(); len(got) != i+1 || got[i] != cmd {
			t.Fatalf("sent %#v, received %#v", cmd, got)
		}
	}
	for i, cmd := range []city.Command{
		city.CreateBead{}, city.CreateBead{Rig: "a b&c", Bead: beads.Bead{Title: "x"}}, city.CreateBead{Bead: beads.Bead{Title: "größer", Priority: beads.Someday, Metadata: map[string]string{"k": "v"}}},
		city.SlingWork{SlingRequest: city.SlingRequest{Target: "worker", Title: "größer", Vars: map[string]string{"k": "v"}, Depth: 2}},
		city.UpdateBead{ID: "close"}, city.UpdateBead{ID: "a.b_C-1", Patch: beads.Closing()},
		city.UpdateBead{ID: "tw-1", Patch: beads.Patch{Needs: &[]string{}, AddLabels: []string{"a"}, IfRev: new(uint64(1 << 63))}},
		city.CreateBead{Bead: beads.Bead{Title: "long", Description: string(make([]byte, beads.MaxText)), Metadata: map[string]string{"k": string(make([]byte, beads.MaxText))}}},
	} {
		before := len(f.Commands())
		if r, err := c.Do(t.Context(), cmd); err != nil || r.Message != cmd.Verb() {
			t.Errorf("%d: %+v, %v", i, r, err)
		}
		if got := f.Commands(); len(got) != before+1 || !reflect.DeepEqual(got[before], cmd) {
			t.Errorf("command %d, %s, was changed in transit", i, cmd.Verb())
		}
	}
	long := city.Nudge{Agent: "a", Text: string(make([]byte, 500_000))}
	if _, err := c.Do(t.Context(), long); err != nil || f.Commands()[len(f.Commands())-1] != long {
		t.Errorf("a text of 500,000 escaped bytes: got %v", err)
	}
	sent := len(f.Commands())
	for _, cmd := range []city.Command{
		city.Scale{Size: 1}, city.Scale{Pool: "..", Size: 1}, city.SuspendRig{}, city.ResumeRig{}, city.SuspendRig{Rig: "yard/hand"}, city.ResumeRig{Rig: "../yard"},
		city.Drain{Agent: "no body"}, city.Drain{}, city.Undrain{}, city.DrainAck{},
		city.Fire{Automation: "a b"}, city.Fire{Automation: "x:rig"}, city.Fire{Automation: "x:rig:..", By: "me"}, city.UpdateBead{ID: "../tw-1"}, city.UpdateBead{ID: "tw-1/close"},
	} {
		_, err := c.Do(t.Context(), cmd)
		if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.NotFound || e.Message == "" {
			t.Errorf("%#v: %#v", cmd, err)
		}
	}
	if got := f.Commands(); len(got) != sent {
		t.Errorf("an invalid command reached the city: %#v", got[sent:])
	}
	f.OnDo(func(city.Command) (city.Receipt, error) {
		return city.Receipt{}, &city.Error{Code: city.Forbidden, Message: "read-only", Details: "why"}
	})
	_, err := c.Do(t.Context(), city.Reload{})
	if e, ok := errors.AsType[*city.Error](err); !ok || *e != (city.Error{Code: city.Forbidden, Message: "read-only", Details: "why"}) {
		t.Errorf("error at the client: got %#v", err)
	}
}

// A reader that stalls is disconnected. After it has reconnected, it has missed no events.
func TestSlowReaderResumes(t *testing.T) {
	f := town()
	counted := &countedEvents{Control: f, cut: make(chan struct{}, 1)}
	path, _ := serve(t, counted, api.Options{WriteTimeout: 500 * time.Millisecond})
	c := dial(t, path)
	const n = 2000
	big := make([]byte, 2000)
	for i := range big {
		big[i] = 'x'
	}
	for range n {
		f.Record(events.Event{Type: "test.big", Message: string(big)})
	}
	var next uint64 = 1
	for e, err := range c.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != next {
			t.Fatalf("event %d, want %d", e.Seq, next)
		}
		if next == 1 {
			eventually.Receive(t, "the stalled client to be disconnected", counted.cut)
		}
		if next++; next > n {
			break
		}
	}
	if next <= n || counted.n.Load() < 2 {
		t.Errorf("got %d events from %d streams", next-1, counted.n.Load())
	}
}

type countedEvents struct {
	city.Control
	n   atomic.Int32
	cut chan struct{}
}

func (c *countedEvents) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	c.n.Add(1)
	return func(yield func(events.Event, error) bool) {
		defer func() {
			select {
			case c.cut <- struct{}{}:
			default:
			}
		}()
		c.Control.Events(ctx, after)(yield)
	}
}

func TestClientClose(t *testing.T) {
	path, _ := serve(t, town(), api.Options{})
	c := dial(t, path)
	term, err := c.Attach(t.Context(), citytest.Worker, city.Viewer{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	for range c.Snapshots(t.Context()) {
		_ = c.Close()
	}
	if _, err := io.Copy(io.Discard, term); err == nil {
		t.Error("a failed stream ended like a session")
	}
	if _, err := c.Snapshot(t.Context()); err == nil {
		t.Error("a closed client returned a result")
	}
}

func TestResize(t *testing.T) {
	f := town()
	path, _ := serve(t, f, api.Options{})
	c := dial(t, path)
	term, err := c.Attach(t.Context(), "rig/stop", city.Viewer{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if cols, rows := f.ScreenSize("rig/stop"); cols != 100 || rows != 30 {
		t.Errorf("attached at %d×%d", cols, rows)
	}
	if err := term.Resize(77, 11); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(term, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(term, make([]byte, 1)); err != nil { // the echo follows the resize
		t.Fatal(err)
	}
	if f.ScreenRaw("rig/stop") {
		t.Error("got a raw terminal that was not requested")
	}
	if raw, err := c.Attach(t.Context(), "rig/stop", city.Viewer{Cols: 77, Rows: 11, Raw: true}); err != nil || !f.ScreenRaw("rig/stop") {
		t.Errorf("want a raw terminal, got error %v", err)
	} else {
		defer raw.Close()
	}
	if cols, rows := f.ScreenSize("rig/stop"); cols != 77 || rows != 11 {
		t.Errorf("resized to %d×%d", cols, rows)
	}
	for _, size := range [][2]int{{0, 5}, {5, -1}, {1 << 16, 5}} {
		if term.Resize(size[0], size[1]) == nil {
			t.Errorf("%v was accepted", size)
		}
		if _, err := c.Attach(t.Context(), "rig/stop", city.Viewer{Cols: size[0], Rows: size[1]}); err == nil {
			t.Errorf("attached at %v", size)
		}
	}
}
