package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gcity/api"
	"gcity/api/socket"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

const acmeToken, bigToken = "acme-knows-this-0123456789", "bigcorp-knows-that-0123456789"

type tenantDirectory struct {
	t         *testing.T
	m         *citytest.Directory
	prod, big *citytest.Fake
	addr      string
	log       logBuffer
}

func newTenantDirectory(t *testing.T) *tenantDirectory {
	h := &tenantDirectory{t: t, prod: named("prod"), big: named("secretproject")}
	h.m = citytest.NewDirectory(h.prod, h.big, named("nobodys"))
	h.addr = fleetOverTCP(t, h.m, api.Guard{Fleet: true, Token: token, Tenants: map[string]api.Tenant{
		"acme":    {Cities: []string{"prod", "staging", "third"}, Token: acmeToken, MaxCities: 2, MaxAgents: 5},
		"bigcorp": {Cities: []string{"secretproject"}, Token: bigToken},
		"locked":  {Cities: []string{"nobodys"}},
	}}, api.Options{Log: slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return h
}

func (h *tenantDirectory) ask(method, path, body, token string) (int, string) {
	h.t.Helper()
	headers := []string{byProgram}
	if body != "" {
		headers = append(headers, inJSON)
	}
	if token != "" {
		headers = append(headers, "Authorization: Bearer "+token)
	}
	code, _, text := call(h.t, method, "http://"+h.addr+path, body, headers...)
	return code, text
}

// A tenant's token permits only that tenant's cities. No response reveals other cities.
func TestTenants(t *testing.T) {
	h := newTenantDirectory(t)
	for _, c := range []struct {
		token, method, path string
		want                int
	}{
		{acmeToken, "GET", "/v0/tenant/acme/cities", 200},
		{acmeToken, "GET", "/v0/tenant/acme/agents", 200},
		{acmeToken, "GET", "/v0/tenant/acme/events", 200},
		{acmeToken, "GET", "/v0/tenant/acme/city/prod", 200},
		{acmeToken, "GET", "/v0/tenant/acme/city/prod/agents", 200},
		{acmeToken, "GET", "/v0/tenant/acme/city/prod/agent/worker/output", 200},
		{acmeToken, "POST", "/v0/tenant/acme/city/prod/agent/worker/restart", 200},
		{acmeToken, "GET", "/v0/tenant/acme/status", 200},
		{acmeToken, "GET", "/v0/tenant/%61cme/cities", 200},

		{acmeToken, "DELETE", "/v0/tenant/acme/city/prod/rig/yard", 403},
		{token, "DELETE", "/v0/city/prod/rig/yard", 501}, // the city in this test has no city.toml

		{acmeToken, "GET", "/v0/tenant/acme/city/secretproject", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/secretproject/agents", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/none/agents", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/nobodys/agents", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/PROD/agents", 404},
		{acmeToken, "POST", "/v0/tenant/acme/city/secretproject/unregister", 404},
		{acmeToken, "POST", "/v0/tenant/acme/city/secretproject/agent/worker/stop", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/secretproject%2f..%2fprod/agents", 400},
		{acmeToken, "GET", "/v0/tenant/acme/city/%2e%2e/agents", 400},
		{acmeToken, "GET", "/v0/tenant/acme/city/../city/secretproject/agents", 400},
		{acmeToken, "GET", "/v0/tenant/acme/city/prod/../secretproject/agents", 404},
		{acmeToken, "GET", "/v0/tenant/acme/city/prod/city/secretproject/agents", 404},
		{acmeToken, "GET", "/v0/tenant/acme/../bigcorp/cities", 404},
		{acmeToken, "GET", "/v0/tenant/acme/tenant/bigcorp/cities", 404},
		{acmeToken, "GET", "/v0/tenant/acme//v0/cities", 404},
		{acmeToken, "GET", "/v0/tenant/acme", 404},
		{acmeToken, "GET", "/v0/tenant/acme/health", 404},
		{acmeToken, "GET", "/v0/tenant/acme/metrics", 404},
		{acmeToken, "GET", "/v0/tenant/acme/openapi.json", 404},
		{acmeToken, "GET", "/v0/tenant/acme/debug/pprof/heap", 404},
		{acmeToken, "GET", "/v0/tenant/acme/agents?city=secretproject", 200},
		{acmeToken, "GET", "/v0/tenant/acme/events?city=secretproject,prod&cursor=0", 200},
		{acmeToken, "GET", "/v0/tenant/acme/events?cursor=secretproject:0", 200},

		{acmeToken, "GET", "/v0/tenant/acme%2fx/cities", 401},
		{acmeToken, "GET", "/v0/tenant/Acme/cities", 401},
		{acmeToken, "GET", "/v0/tenant/%2e%2e/cities", 401},
		{acmeToken, "GET", "/v0/tenant/../tenant/acme/cities", 401},
		{acmeToken, "GET", "/v0/Tenant/acme/cities", 401},
		{acmeToken, "GET", "/v0//tenant/acme/cities", 401},
		{acmeToken, "GET", "/v0%2ftenant/acme/cities", 401},
		{acmeToken, "GET", "/v0/tenant/acme%00/cities", 401},
		{acmeToken, "GET", "/v0/tenant//cities", 401},
		{acmeToken, "GET", "/v0/tenant/", 401},
		{acmeToken, "GET", "/health", 401},
		{acmeToken, "GET", "/metrics", 401},
		{acmeToken, "GET", "/v0/openapi.json", 401},
		{acmeToken, "GET", "/v0/cities", 401},
		{acmeToken, "GET", "/v0/agents", 401},
		{acmeToken, "GET", "/v0/events/stream", 401},
		{acmeToken, "GET", "/v0/city/prod/agents", 401},
		{acmeToken, "GET", "/v0/city/secretproject/agents", 401},
		{acmeToken, "POST", "/v0/cities", 401},
		{acmeToken, "GET", "/debug/pprof/heap", 401},
		{bigToken, "GET", "/v0/tenant/acme/cities", 401},
		{"", "GET", "/v0/tenant/acme/cities", 401},
		{"", "GET", "/v0/tenant/locked/cities", 401},
		{acmeToken, "GET", "/v0/tenant/locked/cities", 401},
	} {
		code, body := h.ask(c.method, c.path, "", c.token)
		if code != c.want {
			t.Errorf("%s %s: got %d, want %d: %.300s", c.method, c.path, code, c.want, body)
		}
		// repeating the name from the request reveals nothing
		foreign := strings.NewReplacer(`city \"secretproject\"`, "", `city \"nobodys\"`, "").Replace(body)
		if c.path == "/v0/tenant/acme/events?cursor=secretproject:0" {
			foreign = ""
		}
		if strings.Contains(foreign, "secret") || strings.Contains(foreign, "nobodys") || strings.Contains(body, "bigcorp") {
			t.Errorf("%s reveals a foreign city: %s", c.path, body)
		}
	}
	if done := h.big.Commands(); len(done) != 0 {
		t.Errorf("%#v was executed in a foreign city", done)
	}
	// an unknown tenant and another tenant get the same response
	_, other := h.ask("GET", "/v0/tenant/bigcorp/cities", "", acmeToken)
	_, none := h.ask("GET", "/v0/tenant/none/cities", "", acmeToken)
	_, locked := h.ask("GET", "/v0/tenant/locked/cities", "", acmeToken)
	if other != none || other != locked {
		t.Errorf("got %s, %s and %s, want the same", other, none, locked)
	}
	_, foreign := h.ask("GET", "/v0/tenant/acme/city/secretproject/agents", "", acmeToken)
	_, nowhere := h.ask("GET", "/v0/tenant/acme/city/nosuchproject/agents", "", acmeToken)
	if strings.ReplaceAll(foreign, "secretproject", "x") != strings.ReplaceAll(nowhere, "nosuchproject", "x") {
		t.Errorf("got %s and %s, want the same", foreign, nowhere)
	}
	// the supervisor's token permits everything
	for path, want := range map[string]int{"/v0/cities": 200, "/v0/tenant/acme/cities": 200, "/v0/tenant/bigcorp/city/secretproject": 200, "/v0/tenant/none/cities": 404, "/v0/tenant/%2e%2e/cities": 404, "/metrics": 200} {
		if code, body := h.ask("GET", path, "", token); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if text := h.log.String(); strings.Contains(text, token) || strings.Contains(text, acmeToken) {
		t.Errorf("the log contains a token: %s", text)
	}
}

// If there are tenants but no token for the supervisor, only the tenants' cities are accessible.
func TestTenantsWithoutSupervisorToken(t *testing.T) {
	addr := fleetOverTCP(t, citytest.NewDirectory(named("prod")), api.Guard{Fleet: true, Tenants: map[string]api.Tenant{"acme": {Cities: []string{"prod"}, Token: acmeToken}}}, api.Options{})
	for path, want := range map[string]int{"/v0/cities": 401, "/health": 401, "/v0/tenant/acme/cities": 200} {
		if code, _, body := call(t, "GET", "http://"+addr+path, "", "Authorization: Bearer "+acmeToken); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
		if code, _, body := call(t, "GET", "http://"+addr+path, ""); code != 401 {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	path, _ := serveFleet(t, citytest.NewDirectory(named("prod")), api.Options{})
	if code, _, body := get(t, curl(t, path), "/v0/tenant/acme/cities"); code != 404 {
		t.Errorf("request on the socket: got %d %s", code, body)
	}
}

// A tenant's stream contains the events of the tenant's cities, including those that are added later.
func TestTenantStream(t *testing.T) {
	h := newTenantDirectory(t)
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	hc := &http.Client{Transport: withToken{tr, h.addr, acmeToken}}
	st := openSSE(t, hc, "/v0/tenant/acme/events/stream?after=prod:0,secretproject:0&city=prod,staging,secretproject", "")
	h.big.Record(events.Event{Type: "x.y"})
	h.prod.Record(events.Event{Type: "x.y"})
	h.big.Record(events.Event{Type: "x.y"})
	if got, _ := st.events(1); got != "prod:1" {
		t.Error(got)
	}
	staging := named("staging")
	h.m.Add("staging", "/staging", staging)
	h.big.Record(events.Event{Type: "x.y"})
	staging.Record(events.Event{Type: "x.y"})
	if got, id := st.events(1); got != "staging:1" || id != "prod:1,secretproject:0,staging:1" {
		t.Error(got, id)
	}
}

type withToken struct {
	next        http.RoundTripper
	addr, token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Host, r.Host = w.addr, w.addr
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(r)
}

// A tenant can register cities within its limits.
func TestTenantRegisters(t *testing.T) {
	h := newTenantDirectory(t)
	agents := func(n int) (all []city.Agent) {
		for i := range n {
			all = append(all, city.Agent{Name: fmt.Sprint("agent-", i)})
		}
		return all
	}
	h.m.Folder("/prod", h.prod)
	h.m.Folder("/home/staging", citytest.NewFake("staging", agents(2)...))
	h.m.Folder("/home/large", citytest.NewFake("staging", agents(4)...))
	h.m.Folder("/home/third", citytest.NewFake("third"))
	h.m.Folder("/home/foreign", h.big)
	for _, c := range []struct {
		path, body string
		want       int
		says       string
	}{
		{"/v0/tenant/acme/city/secretproject/register", `{"path":"/home/foreign"}`, 409, "does not contain a city"},
		{"/v0/tenant/acme/city/staging/register", `{"path":"/home/foreign"}`, 409, "does not contain a city"},
		{"/v0/tenant/acme/city/staging/register", `{"path":"/home/nothing"}`, 409, "does not contain a city"},
		{"/v0/tenant/acme/cities", `{"path":"/home/foreign"}`, 409, "does not contain a city"},
		{"/v0/tenant/acme/city/staging/register", `{"path":"/home/large"}`, 403, "would have 6 in total; the limit is 5"},
		{"/v0/tenant/acme/city/staging/register", `{"path":"/home/staging"}`, 200, `"name":"staging"`},
		{"/v0/tenant/acme/city/staging/register", `{"path":"/home/staging"}`, 200, `"name":"staging"`},
		{"/v0/tenant/acme/cities", `{"path":"/home/staging"}`, 200, `"name":"staging"`},
		{"/v0/tenant/acme/city/third/register", `{"path":"/home/third"}`, 403, "tenant acme has reached its city limit (2); unregister one of prod, staging"},
		{"/v0/tenant/acme/cities", `{"path":"/home/third"}`, 403, "unregister one"},
		{"/v0/tenant/acme/city/staging/unregister", ``, 200, "staging"},
		{"/v0/tenant/acme/city/third/register", `{"path":"/home/third"}`, 200, `"name":"third"`},
	} {
		code, body := h.ask("POST", c.path, c.body, acmeToken)
		if code != c.want || !strings.Contains(body, c.says) || strings.Contains(body, "secret") {
			t.Errorf("%s %s: got %d %s, want %d and %q", c.path, c.body, code, body, c.want, c.says)
		}
	}
	h.prod.Set(func(s *city.Snapshot) { s.Pools = []city.Pool{{Name: "crew", Max: 10}} })
	if code, body := h.ask("GET", "/v0/tenant/acme/city/prod/agents", "", acmeToken); code != 403 || !strings.Contains(body, "prod declares 12 agents, but the limit for tenant acme is 5") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := h.ask("POST", "/v0/tenant/acme/city/prod/unregister", "", acmeToken); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// A tenant with pending requests does not delay other tenants.
func TestTenantAsksTooMuch(t *testing.T) {
	m := citytest.NewDirectory(named("prod"), named("secretproject"))
	addr := fleetOverTCP(t, m, api.Guard{Fleet: true, Tenants: map[string]api.Tenant{
		"acme": {Cities: []string{"prod"}, Token: acmeToken}, "bigcorp": {Cities: []string{"secretproject"}, Token: bigToken},
	}}, api.Options{MaxStreams: 8})
	h := &tenantDirectory{t: t, addr: addr}
	m.Hang("prod", true)
	codes := make(chan int)
	for range 9 {
		go func() {
			code := 0
			defer func() { codes <- code }()
			code, _ = h.ask("GET", "/v0/tenant/acme/city/prod/status", "", acmeToken)
		}()
	}
	if code := <-codes; code != 503 {
		t.Errorf("first response about a hung city: got status %d", code)
	}
	if code, body := h.ask("GET", "/v0/tenant/bigcorp/city/secretproject/status", "", bigToken); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	m.Hang("prod", false)
	for range 8 {
		if code := <-codes; code != 200 {
			t.Error(code)
		}
	}
}

type slowPreview struct {
	*citytest.Directory
	arrived, proceed chan struct{}
}

func (s slowPreview) Preview(ctx context.Context, path string) (city.Declared, error) {
	s.arrived <- struct{}{}
	<-s.proceed
	return s.Directory.Preview(ctx, path)
}

// A tenant's requests over TCP and on its own socket have a common limit.
func TestTenantLimitsCoverAllListeners(t *testing.T) {
	m := slowPreview{citytest.NewDirectory(), make(chan struct{}, 1), make(chan struct{})}
	m.Folder("/prod", named("prod"))
	acme := api.Tenant{Name: "acme", Cities: []string{"prod"}, Token: acmeToken, MaxCities: 1}
	o := api.Options{MaxStreams: 1, Requests: &api.TenantRequests{}}
	h := &tenantDirectory{t: t, addr: fleetOverTCP(t, m,
		api.Guard{Fleet: true, Tenants: map[string]api.Tenant{"acme": acme}}, o)}
	path := filepath.Join(t.TempDir(), "acme.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.ServeTenant(ctx, l, acme, m, o) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	first := make(chan int)
	go func() {
		code, _ := h.ask("POST", "/v0/tenant/acme/cities", `{"path":"/prod"}`, acmeToken)
		first <- code
	}()
	<-m.arrived
	res, err := unixClient(path).Get("http://city/v0/cities")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 503 {
		t.Errorf("request over the limit: got status %d", res.StatusCode)
	}
	close(m.proceed)
	if code := <-first; code != 200 {
		t.Errorf("request below the limit: got status %d", code)
	}
}

type renamedCity struct{ *citytest.Directory }

func (s renamedCity) Preview(_ context.Context, path string) (city.Declared, error) {
	return city.Declared{Name: "prod", Path: path}, nil
}

// A tenant does not own a folder that another owner has registered.
func TestTenantRegistersTakenName(t *testing.T) {
	h := newTenantDirectory(t)
	h.m.Remove("prod")
	h.m.Folder("/secretproject", named("prod"))
	for _, path := range []string{"/v0/tenant/acme/cities", "/v0/tenant/acme/city/prod/register"} {
		if code, body := h.ask("POST", path, `{"path":"/secretproject"}`, acmeToken); code != 409 || !strings.Contains(body, "does not contain a city") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

type brokenRegistry struct{ *citytest.Directory }

var errTorn = &city.Error{Code: city.Invalid, Message: "the registry of cities is invalid: cities.toml:7:1: secretproject is registered twice"}

func (brokenRegistry) Register(context.Context, string) (city.Info, error) {
	return city.Info{}, errTorn
}
func (brokenRegistry) Unregister(context.Context, string) (city.Receipt, error) {
	return city.Receipt{}, errTorn
}

// Errors in the machine's files are logged, but tenants do not see them.
func TestTenantAndTornRegistry(t *testing.T) {
	h := &tenantDirectory{t: t}
	m := citytest.NewDirectory(named("prod"))
	m.Folder("/prod", named("prod"))
	h.addr = fleetOverTCP(t, brokenRegistry{m}, api.Guard{Fleet: true, Token: token, Tenants: map[string]api.Tenant{"acme": {Cities: []string{"prod"}, Token: acmeToken}}},
		api.Options{Log: slog.New(slog.NewTextHandler(&h.log, nil))})
	for path, body := range map[string]string{"cities": `{"path":"/prod"}`, "city/prod/unregister": ""} {
		if code, text := h.ask("POST", "/v0/tenant/acme/"+path, body, acmeToken); code != 400 || strings.Contains(text, "secret") || !strings.Contains(text, "the supervisor's log has") {
			t.Errorf("%s: %d %s", path, code, text)
		}
		if code, text := h.ask("POST", "/v0/"+path, body, token); code != 400 || !strings.Contains(text, "secretproject is registered twice") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if n := strings.Count(h.log.String(), "secretproject is registered twice"); n != 2 {
		t.Error(h.log.String())
	}
}

// A registration of a foreign city is reverted, unless the city was registered before.
func TestTenantRegistersForeignCity(t *testing.T) {
	m := citytest.NewDirectory(named("nobodys"))
	m.Folder("/nobodys", named("nobodys"))
	m.Folder("/home/other", named("other"))
	addr := fleetOverTCP(t, renamedCity{m}, api.Guard{Fleet: true, Tenants: map[string]api.Tenant{"acme": {Cities: []string{"prod"}, Token: acmeToken}}}, api.Options{})
	h := &tenantDirectory{t: t, addr: addr}
	for _, path := range []string{"/v0/tenant/acme/cities", "/v0/tenant/acme/city/prod/register"} {
		for _, folder := range []string{"/nobodys", "/home/other"} {
			if code, body := h.ask("POST", path, `{"path":"`+folder+`"}`, acmeToken); code != 409 || strings.Contains(body, "called") {
				t.Errorf("%s %s: got %d %s", path, folder, code, body)
			}
		}
	}
	if all, err := m.Cities(t.Context()); err != nil || len(all) != 1 || all[0].Name != "nobodys" {
		t.Errorf("%+v, %v", all, err)
	}
}

// Concurrent registrations cannot exceed the limit together.
func TestConcurrentTenantRegistrations(t *testing.T) {
	h := newTenantDirectory(t)
	h.m.Remove("prod")
	var wg sync.WaitGroup
	codes := make([]int, 3)
	for i, name := range []string{"prod", "staging", "third"} {
		h.m.Folder("/home/"+name, citytest.NewFake(name))
		wg.Go(func() {
			codes[i], _ = h.ask("POST", "/v0/tenant/acme/city/"+name+"/register", `{"path":"/home/`+name+`"}`, acmeToken)
		})
	}
	wg.Wait()
	if sum := codes[0] + codes[1] + codes[2]; sum != 200+200+403 {
		t.Errorf("%v", codes)
	}
}
