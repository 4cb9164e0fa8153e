package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/controller/controllertest"
)

func serveFleet(t testing.TB, d city.Directory, o api.Options) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "supervisor.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, fleetOn(t, l, d, o)
}

func fleetOverTCP(t testing.TB, d city.Directory, g api.Guard, o api.Options) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Guard = &g
	fleetOn(t, l, d, o)
	return l.Addr().String()
}

func fleetOn(t testing.TB, l net.Listener, d city.Directory, o api.Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.ServeFleet(ctx, l, d, o) }()
	stop = func() {
		cancel()
		select {
		case err := <-ended:
			ended <- nil
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("ServeFleet did not return")
		}
	}
	t.Cleanup(stop)
	return stop
}

func dialFleet(t testing.TB, path string) *client.Fleet {
	t.Helper()
	f, err := client.DialFleet(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func named(name string) *citytest.Fake {
	return citytest.NewFake(name, city.Agent{Name: citytest.Worker, Running: true}, city.Agent{Name: name + "-only"})
}

// A city behind the supervisor's socket, next to other cities, passes the suite for city.Control.
func TestSuiteOverSupervisorSocket(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	citytest.Suite(t, controllertest.Harness(func(t *testing.T, town *controllertest.City) city.Control {
		m := citytest.NewDirectory(named("other"))
		m.Add("town", town.Dir, town)
		path, _ := serveFleet(t, m, api.Options{})
		c, err := dialFleet(t, path).City("town")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}))
}

func code(err error) city.Code {
	if e, ok := errors.AsType[*city.Error](err); ok {
		return e.Code
	}
	return ""
}

// Plain HTTP requests about several cities get the expected JSON.
func TestFleetShapes(t *testing.T) {
	m := citytest.NewDirectory(named("bright-lights"), named("dark-alleys"), named("still"))
	m.SetCondition("still", city.CityRefused, "/still/city.toml:3:1: there is no key agent_s")
	path, _ := serveFleet(t, m, api.Options{Version: "v1"})
	hc := curl(t, path)
	for _, c := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/health", 200, []string{`"status":"degraded"`, `"version":"v1"`, `"cities_total":3`, `"cities_running":2`, `still is not running: it is refused: /still/city.toml:3:1`}},
		{"/v0/cities", 200, []string{`{"items":[{"name":"bright-lights","path":"/bright-lights","running":true,"status":"running"`, `"name":"still","path":"/still","running":false,"status":"refused","error":"/still/city.toml`, `"total":3,"running":2`}},
		{"/v0/cities?limit=1", 200, []string{`"next_cursor":"bright-lights"`, `"total":3`}},
		{"/v0/city/dark-alleys", 200, []string{`"name":"dark-alleys"`, `"agent_count":2`}},
		{"/v0/city/dark-alleys/agents", 200, []string{`"total":2`, `dark-alleys-only`}},
		{"/v0/city/still/agents", 503, []string{`"code":"unavailable"`, `still is not running: it is refused: /still/city.toml:3:1: there is no key agent_s`, `"details":{"name":"still"`}},
		{"/v0/city/still/events/stream", 503, []string{`"code":"unavailable"`}},
		{"/v0/city/nowhere/agents", 404, []string{`"code":"not_found"`, "run `gcity cities` to see all"}},
		{"/v0/status", 400, []string{`"code":"city_required"`, "bright-lights, dark-alleys, still", `"details":["bright-lights","dark-alleys","still"]`}},
		{"/v0/agent/worker", 400, []string{`"code":"city_required"`}},
		{"/v0/agents", 200, []string{`{"items":[{"city":"bright-lights","name":"bright-lights-only"`, `"city":"dark-alleys"`, `"total":4`, `"unreachable":[{"city":"still","error":"still is not running`}},
		{"/v0/agents?city=dark-alleys&running=true", 200, []string{`{"items":[{"city":"dark-alleys","name":"worker"`, `"total":1}`}},
		{"/v0/agents?running=maybe", 400, []string{`"code":"invalid"`}},
		{"/metrics", 200, []string{`gcity_city_up{city="still"} 0`, `gcity_city_up{city="dark-alleys"} 1`, `gcity_agents_running{city="bright-lights"} 1`}},
		{"/v0/openapi.json", 200, []string{`/v0/city/{city}/unregister`, "CityAgent"}},
		{"/debug/pprof/goroutine?debug=1", 200, []string{"goroutine profile"}},
		{"/v0/city/dark-alleys/cities", 404, []string{"not_found"}},
		{"/v0/city/dark-alleys/register", 405, nil},
		{"/v0/register", 404, nil},
	} {
		status, _, body := get(t, hc, c.path)
		if status != c.status {
			t.Errorf("%s: got %d, want %d: %.300s", c.path, status, c.status, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %s in %.600s", c.path, want, body)
			}
		}
	}
	_, _, body := get(t, hc, "/metrics")
	if n := strings.Count(body, "# TYPE gcity_agents_running "); n != 1 {
		t.Errorf("got %d declarations of gcity_agents_running, want 1", n)
	}
	if _, h, _ := get(t, hc, "/v0/agents"); h.Get("X-GC-Index") != "bright-lights:0,dark-alleys:0" {
		t.Errorf("X-GC-Index: %q", h.Get("X-GC-Index"))
	}
}

// If there is only one city, paths need not contain its name.
func TestOnlyCity(t *testing.T) {
	m := citytest.NewDirectory(named("town"))
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	if status, _, body := get(t, hc, "/v0/status"); status != 200 || !strings.Contains(body, `"name":"town"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := send(t, hc, "POST", "/v0/agent/worker/restart", ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	m.Remove("town")
	if status, _, body := get(t, hc, "/v0/status"); status != 404 || !strings.Contains(body, "gcity register") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := get(t, hc, "/v0/cities"); status != 200 || !strings.Contains(body, `{"items":[],"total":0,"running":0}`) {
		t.Errorf("%d %s", status, body)
	}
}

// Cities are registered and unregistered over HTTP. A name in the path must be the city's own.
func TestRegister(t *testing.T) {
	m := citytest.NewDirectory(named("old"))
	m.Folder("/home/new", named("new"))
	m.Folder("/home/other", named("old"))
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v0/city/wrong/register", `{"path":"/home/new"}`, 409, "is named new, not wrong"},
		{"/v0/city/new/register", `{"path":"home/new"}`, 400, "absolute path"},
		{"/v0/city/new/register", ``, 400, "absolute path"},
		{"/v0/city/new/register", `{"path":"/home/new","x":1}`, 400, "x"},
		{"/v0/city/new/register", `{"path":"/home/none"}`, 400, "city.toml"},
		{"/v0/city/old/register", `{"path":"/home/other"}`, 409, "/old has the same name, old"},
		{"/v0/city/new/register", `{"path":"/home/new"}`, 200, `"name":"new"`},
		{"/v0/city/new/register", `{"path":"/home/new"}`, 200, `"name":"new"`}, // the same request again
		{"/v0/cities", `{"path":"/home/new"}`, 200, `"name":"new"`},
		{"/v0/city/new/unregister", `{"path":"/home/new"}`, 400, "does not take a body"},
		{"/v0/city/new/unregister", ``, 200, "new is stopped and no longer registered"},
		{"/v0/city/new/unregister", ``, 404, `city \"new\" not found`},
		{"/v0/city/none/unregister", ``, 404, "run `gcity cities` to see all"},
		{"/v0/city/%2e%2e/unregister", ``, 400, "invalid city name"},
	} {
		if status, _, body := send(t, hc, "POST", c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got %d %s, want %d and %q", c.path, c.body, status, body, c.status, c.want)
		}
	}
	f := dialFleet(t, path)
	info, err := f.Register(t.Context(), "/home/new")
	if err != nil || info.Name != "new" || !info.Running {
		t.Errorf("%+v, %v", info, err)
	}
	if r, err := f.Unregister(t.Context(), "new"); err != nil || !strings.Contains(r.Message, "new") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, name := range []string{"new", "../health", "", "a/b"} {
		if _, err := f.Unregister(t.Context(), name); code(err) != city.NotFound {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := f.City(name); code(err) != city.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

type plain struct {
	city.Directory
	city.Registrar
}

// A registration under an unexpected name is reverted.
func TestRegisterWithoutPreview(t *testing.T) {
	m := citytest.NewDirectory(named("old"))
	m.Folder("/old", named("old"))
	m.Folder("/home/new", named("new"))
	path, _ := serveFleet(t, plain{m, m}, api.Options{})
	hc := curl(t, path)
	for _, folder := range []string{"/home/new", "/old"} {
		if status, _, body := send(t, hc, "POST", "/v0/city/wrong/register", `{"path":"`+folder+`"}`); status != 409 || !strings.Contains(body, "not wrong") {
			t.Errorf("%d %s", status, body)
		}
	}
	if all, err := m.Cities(t.Context()); err != nil || len(all) != 1 || all[0].Name != "old" {
		t.Errorf("%+v, %v", all, err)
	}
	if status, _, body := send(t, hc, "POST", "/v0/city/new/register", `{"path":"/home/new"}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// A city that is stopping still responds to requests, and accepts another stop request.
func TestStoppingCity(t *testing.T) {
	f := named("a")
	d := stopping{citytest.NewDirectory(f)}
	path, _ := serveFleet(t, d, api.Options{})
	hc := curl(t, path)
	for _, p := range []string{"/v0/city/a/status", "/v0/agents", "/health"} {
		if status, _, body := get(t, hc, p); status != 200 || strings.Contains(body, "unreachable") || strings.Contains(body, "is not running") {
			t.Errorf("%s: %d %s", p, status, body)
		}
	}
	if status, _, body := send(t, hc, "POST", "/v0/city/a/stop", ""); status != 200 || len(f.Commands()) != 1 {
		t.Errorf("%d %s", status, body)
	}
}

type stopping struct{ *citytest.Directory }

func (s stopping) Cities(ctx context.Context) ([]city.Info, error) {
	all, err := s.Directory.Cities(ctx)
	for i := range all {
		all[i].Running, all[i].Status = false, city.CityStopping
	}
	return all, err
}

// The client follows the list of cities.
func TestFleetClient(t *testing.T) {
	if _, err := client.DialFleet(filepath.Join(t.TempDir(), "none.sock"), 0); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("without a listener: got %v", err)
	}
	m := citytest.NewDirectory(named("a"), named("b"))
	path, stop := serveFleet(t, m, api.Options{})
	f := dialFleet(t, path)
	c, err := f.City("b")
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.City("b")
	if err != nil || again != c {
		t.Errorf("City returned a different client for the same city: %v", err)
	}
	step := 0
	for all, err := range f.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 && len(all) == 2 && all[1].Running {
			step = 1
			m.SetCondition("b", city.CityCrashed, "a bug")
		}
		if step == 1 && !all[1].Running && all[1].Status == city.CityCrashed && all[1].Error == "a bug" {
			break
		}
	}
	if _, err := c.Snapshot(t.Context()); code(err) != city.Unavailable || !strings.Contains(err.Error(), "b is not running: it is crashed: a bug") {
		t.Errorf("%v", err)
	}
	m.Add("b", "/b", named("b"))
	if s, err := c.Snapshot(t.Context()); err != nil || s.Name != "b" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, err := range c.Snapshots(t.Context()) {
		if stop(); err != nil && (code(err) != city.Unavailable || err.Error() != "the supervisor has stopped") {
			t.Errorf("end of the stream: got %v", err)
		}
	}
	if _, err := c.Snapshot(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("after the supervisor has ended: got %v", err)
	}
	if _, err := f.Cities(t.Context()); !errors.Is(err, client.ErrNotRunning) || !strings.Contains(err.Error(), "supervisor") {
		t.Errorf("after the supervisor has ended: got %v", err)
	}
	for _, err := range f.Watch(t.Context()) {
		if !errors.Is(err, client.ErrNotRunning) {
			t.Errorf("after the supervisor has ended: got %v", err)
		}
	}
}

// hungCity is a city that never responds, not even after the caller's deadline.
type hungCity struct {
	city.Control
	free chan struct{}
}

func (h *hungCity) Snapshot(context.Context) (*city.Snapshot, error) {
	<-h.free
	return h.Control.Snapshot(context.Background())
}

// A city that hangs does not block requests about other cities, and responses report it as missing.
func TestHungCity(t *testing.T) {
	t.Parallel()
	m := citytest.NewDirectory(named("well"))
	h := &hungCity{named("hung"), make(chan struct{})}
	m.Add("hung", "/hung", h)
	defer close(h.free)
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	for range 3 {
		for _, p := range []string{"/v0/agents", "/health", "/metrics"} {
			status, _, body := get(t, hc, p)
			if status != http.StatusOK || !strings.Contains(body, "hung") || p != "/health" && !strings.Contains(body, "well") {
				t.Errorf("%s: %d %s", p, status, body)
			}
		}
	}
	if _, _, body := get(t, hc, "/v0/agents"); !strings.Contains(body, `"unreachable":[{"city":"hung","error":"hung did not respond in time"}]`) || !strings.Contains(body, `"total":2`) {
		t.Error(body)
	}
	if _, _, body := get(t, hc, "/metrics"); !strings.Contains(body, `gcity_city_up{city="hung"} 0`) {
		t.Error(body)
	}
}

// Pages stay consistent while cities are added and removed.
func TestFleetPages(t *testing.T) {
	m := citytest.NewDirectory(named("b"), named("d"))
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	_, _, one := get(t, hc, "/v0/agents?limit=3")
	if !strings.Contains(one, `"next_cursor":"worker@b"`) || !strings.Contains(one, `"total":4`) {
		t.Fatal(one)
	}
	m.Remove("b")
	m.Add("c", "/c", named("c"))
	m.Add("a", "/a", named("a"))
	_, _, two := get(t, hc, "/v0/agents?limit=3&cursor=worker@b")
	if strings.Count(two, `"city":`) != 2 || !strings.Contains(two, `{"items":[{"city":"c",`) || !strings.Contains(two, `{"city":"d",`) || strings.Contains(two, "next_cursor") {
		t.Error(two)
	}
}

// The index in a response has the type that the supervisor's document declares, and `index` accepts it.
func TestFleetDocumentedIndex(t *testing.T) {
	path, _ := serveFleet(t, citytest.NewDirectory(named("alpha"), named("beta")), api.Options{})
	hc := curl(t, path)
	type typed struct{ Schema struct{ Type string } }
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name string
					typed
				}
				Responses map[string]struct{ Headers map[string]typed }
			}
		}
	}
	_, _, text := get(t, hc, "/v0/openapi.json")
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	integer := regexp.MustCompile(`^\d+$`)
	for _, path := range []string{"/v0/agents", "/v0/events", "/v0/cities",
		"/v0/city/{city}/agents", "/v0/city/{city}/events", "/v0/city/{city}/status"} {
		about := doc.Paths[path].Get
		declared, ok := about.Responses["200"].Headers["X-GC-Index"]
		path = strings.ReplaceAll(path, "{city}", "alpha")
		_, h, _ := get(t, hc, path)
		index := h.Get("X-GC-Index")
		if ok != (index != "") || ok &&
			(declared.Schema.Type == "integer") != integer.MatchString(index) {
			t.Errorf("%s: the index is %q, declared as %q", path, index, declared.Schema.Type)
		}
		for _, p := range about.Parameters {
			if p.Name != "index" {
				continue
			}
			if p.Schema.Type != declared.Schema.Type {
				t.Errorf("%s: the parameter index is declared as %q", path, p.Schema.Type)
			}
			if status, _, body := get(t, hc, path+"?wait=0s&index="+index); status != 200 {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
}
