package controller_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/controller/controllertest"
)

// asker sends requests to a city over TCP and records all responses.
type asker struct {
	t     *testing.T
	base  string
	token string
	heard strings.Builder
}

func (a *asker) ask(method, path, body string) (int, http.Header, string) {
	a.t.Helper()
	r, err := http.NewRequest(method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("X-GC-Request", "1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	resp, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text := ""
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // read only the first item
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				text = data
				break
			}
		}
	} else {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			a.t.Fatal(err)
		}
		text = string(b)
	}
	fmt.Fprintln(&a.heard, resp.Header, text)
	return resp.StatusCode, resp.Header, text
}

// secret must not occur in any response of a city.
const secret = controllertest.Secret

// A city's responses match the schemas in its OpenAPI document and contain no secrets.
func TestAnswersHaveTheirShapes(t *testing.T) {
	t.Setenv("CANARY_API_KEY", secret)
	t.Setenv("CANARY_URL", "https://me:"+secret+"@example.org/x?access_token="+secret)
	c := open(t)
	a := served(t, c)
	_, _, text := a.ask("GET", "/v0/openapi.json", "")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"city": "town", "agent": citytest.Worker,
		"automation": citytest.Drip, "watchdog": "care"}
	for snap, err := range c.Snapshots(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		worker, _ := snap.Agent(citytest.Worker)
		if _, known := snap.Automation(citytest.Drip); known && worker != nil &&
			worker.State == city.Running {
			break
		}
	}
	receipt := func(path, body string) city.Receipt {
		code, _, text := a.ask("POST", path, body)
		var r city.Receipt
		if err := json.Unmarshal([]byte(text), &r); err != nil || code != 200 {
			t.Fatalf("%s: %d %s", path, code, text)
		}
		return r
	}
	names["bead"] =
		receipt("/v0/beads",
			`{"title":"Paint the fence","labels":["x"],"metadata":{"k":"v"},"description":"white"}`).Bead.ID
	convoy := receipt("/v0/convoys", `{"title":"The fence","items":["`+names["bead"]+`"]}`).Bead.ID
	names["message"] =
		receipt("/v0/mail",
			`{"from":"worker","to":"someone","subject":"Hello","body":"how are you?"}`).Bead.ID
	receipt("/v0/events", `{"type":"canary.sings","message":"la","payload":{"a":[1]}}`)
	for noun, path := range map[string]string{"pool": "/v0/pools", "rig": "/v0/rigs"} {
		_, _, text := a.ask("GET", path, "")
		var list struct{ Items []struct{ Name string } }
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) == 0 {
			t.Fatalf("%s: %s", path, text)
		}
		names[noun] = list.Items[0].Name
	}
	names["run"] = receipt("/v0/automation/"+names["automation"]+"/run", `{"by":"me"}`).Bead.ID

	seen := 0
	for path, methods := range doc["paths"].(map[string]any) {
		get, ok := methods.(map[string]any)["get"].(map[string]any)
		if !ok {
			continue
		}
		asked := strings.ReplaceAll(path, "/convoy/{bead}", "/convoy/"+convoy)
		for noun, name := range names {
			asked = strings.ReplaceAll(asked, "{"+noun+"}", strings.ReplaceAll(name, "/", "%2F"))
		}
		if strings.HasSuffix(asked, "events/stream") {
			asked += "?after_seq=0"
		}
		code, h, text := a.ask("GET", asked, "")
		if code != 200 {
			t.Errorf("%s: %d %s", asked, code, text)
			continue
		}
		content := at(get, "responses", "200", "content").(map[string]any)
		kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
		media, ok := content[kind].(map[string]any)
		if !ok {
			t.Errorf("%s: got content type %s, want %v", asked, kind, content)
			continue
		}
		if shape, ok := media["schema"].(map[string]any); ok && kind != "text/plain" {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Errorf("%s: %v in %s", asked, err, text)
			}
			for _, wrong := range check(doc, shape, v, "") {
				t.Errorf("%s: %s", asked, wrong)
			}
		}
		seen++
	}
	if seen < 50 {
		t.Errorf("only %d responses were checked", seen)
	}
	shape := at(doc, "components", "responses", "Refused", "content", "application/json",
		"schema").(map[string]any)
	for _, path := range []string{"/v0/nothing", "/v0/agent/" + secret[:5] + "nobody",
		"/v0/agents?index=x", "/v0/agent/..", "/v0/agent/worker/restart"} {
		code, _, text := a.ask("GET", path, "")
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil || code < 400 ||
			len(check(doc, shape, v, "")) > 0 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	socket := api.Handler(c, api.Options{})
	for _, path := range []string{"", "goroutine?debug=2", "heap?debug=1", "threadcreate?debug=1"} {
		w := httptest.NewRecorder()
		socket.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/"+path, nil))
		if w.Code != 200 {
			t.Errorf("pprof %s: %d", path, w.Code)
		}
		a.heard.WriteString(w.Body.String())
	}
	const explain = "/v0/config/explain"
	for _, path := range []string{"/v0/config", explain, explain + "/" + citytest.Worker} {
		if _, _, text := a.ask("GET", path, ""); !strings.Contains(text, "exec cat") ||
			!strings.Contains(text, "***") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if code, _, text := a.ask("GET", "/v0/config/explain/nobody", ""); code != 404 {
		t.Errorf("%d %s", code, text)
	}
	if heard := a.heard.String(); strings.Contains(heard, secret) {
		at := strings.Index(heard, secret)
		t.Errorf("a response contains a secret: …%s…", heard[max(0, at-300):at])
	} else if !strings.Contains(heard, "CANARY_API_KEY") {
		t.Error("no response mentions the variable with a secret")
	}
}

func at(v any, path ...string) any {
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return v
}

func check(doc map[string]any, shape map[string]any, v any, where string) (wrong []string) {
	if ref, ok := shape["$ref"].(string); ok {
		shape = at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	}
	if options, ok := shape["anyOf"].([]any); ok {
		for _, o := range options {
			if wrong = check(doc, o.(map[string]any), v, where); wrong == nil {
				return nil
			}
		}
		return wrong
	}
	is := kindOf(v)
	switch want := shape["type"].(type) {
	case nil:
		return nil
	case string:
		if want != is && !(want == "number" && is == "integer") {
			return []string{fmt.Sprintf("%s is %s, want %s", where, is, want)}
		}
	case []any:
		whole := is == "integer" && slices.Contains(want, any("number"))
		if !whole && !slices.Contains(want, any(is)) {
			return []string{fmt.Sprintf("%s is %s, want %v", where, is, want)}
		}
	}
	if allowed, ok := shape["enum"].([]any); ok && !slices.Contains(allowed, v) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, want one of %v", where, v, allowed))
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			wrong = append(wrong, check(doc, shape["items"].(map[string]any), item,
				fmt.Sprintf("%s[%d]", where, i))...)
		}
	case map[string]any:
		props, _ := shape["properties"].(map[string]any)
		for name, value := range v {
			kid, ok := props[name].(map[string]any)
			if !ok {
				kid, ok = shape["additionalProperties"].(map[string]any)
			}
			if !ok {
				wrong = append(wrong, fmt.Sprintf("the schema does not contain %s.%s", where, name))
				continue
			}
			wrong = append(wrong, check(doc, kid, value, where+"."+name)...)
		}
		required, _ := shape["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				wrong = append(wrong, fmt.Sprintf("%s.%s is missing", where, name))
			}
		}
	}
	return wrong
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

type direct struct {
	*citytest.Directory
	only city.Control
}

func (d direct) City(string) (city.Control, error) { return d.only, nil }

func TestFleetHidesSecrets(t *testing.T) {
	t.Setenv("CANARY_API_KEY", secret)
	t.Setenv("CANARY_URL", "https://me:"+secret+"@example.org/x?access_token="+secret)
	m := direct{citytest.NewDirectory(), open(t)}
	m.Add("town", "/town", m.only)
	a := listening(t, func(ctx context.Context, l net.Listener, token string) error {
		return api.ServeFleet(ctx, l, m, api.Options{Guard: &api.Guard{Fleet: true,
			Token: token, Tenants: map[string]api.Tenant{
				"acme": {Cities: []string{"town"}, Token: secret + "-of-acme"},
			}}})
	})
	its := []string{"/status", "/agents?peek=true", "/agent/" + citytest.Worker,
		"/agent/" + citytest.Worker + "/inspect", "/agent/" + citytest.Worker + "/output",
		"/config",
		"/config/explain/" + citytest.Worker, "/snapshot", "/pools", "/rigs", "/automations",
		"/watchdogs", "/beads", "/mail", "/events", "/events/stream?after_seq=0"}
	paths := []string{"/health", "/metrics", "/v0/openapi.json", "/v0/cities", "/v0/cities/stream",
		"/v0/agents?peek=true", "/v0/events?cursor=0", "/v0/events/stream?cursor=0",
		"/v0/tenant/acme/cities", "/v0/tenant/acme/agents?peek=true",
		"/v0/tenant/acme/events?cursor=0"}
	for _, path := range its {
		paths = append(paths, "/v0/city/town"+path, "/v0/tenant/acme/city/town"+path)
	}
	for _, path := range paths {
		if code, _, text := a.ask("GET", path, ""); code != 200 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for _, path := range []string{"/v0/city/nowhere/status", "/v0/tenant/none/cities",
		"/v0/city/town/agent/nobody", "/v0/events?cursor=x"} {
		if code, _, text := a.ask("GET", path, ""); code < 400 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if heard := a.heard.String(); strings.Contains(heard, secret) {
		at := strings.Index(heard, secret)
		t.Errorf("a response contains a secret: …%s…", heard[max(0, at-300):at])
	} else if !strings.Contains(heard, "CANARY_API_KEY") {
		t.Error("no response mentions the variable with a secret")
	}
}
