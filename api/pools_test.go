package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
)

func poolCity() *citytest.Fake {
	f := citytest.NewFake("town",
		city.Agent{Name: "worker", Running: true, Usage: &city.Usage{CPU: 12.5, RSS: 3 << 20, Procs: 4}},
		city.Agent{Name: "crew-1", Pool: "crew", Running: true, Usage: &city.Usage{CPU: 0.25, RSS: 1 << 20, Procs: 1}},
		city.Agent{Name: "crew-2", Pool: "crew", Running: true},
		city.Agent{Name: "yard/hand", Rig: "yard", State: city.Waiting, Reason: "worker is not up"},
		city.Agent{Name: "yard/sick", Rig: "yard", State: city.Quarantined, Reason: "6 crashes", RecentCrashes: city.RecentCrashes{Crashes: 6}},
	)
	three := 3
	f.Set(func(s *city.Snapshot) {
		s.Pools = []city.Pool{
			{Name: "crew", Min: 1, Max: 3, Size: 2, Desired: 3, Override: &three, Reason: "override by operator", Source: "city.toml:9"},
			{Name: "yard/scale", Rig: "yard", Max: 2, Suspended: true, SuspendedReason: "with rig yard", Check: city.Check{Problem: "exit 1"}},
		}
		s.Rigs = []city.Rig{{Name: "attic", Suspended: true}, {Name: "yard", Path: "/town/yard", Prefix: "ya", Agents: 2}}
	})
	return f
}

func TestPoolAndRigShapes(t *testing.T) {
	path, _ := serve(t, poolCity(), api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/v0/pools", []string{`"total":2`, `"name":"crew","min":1,"max":3,"size":2,"desired":3`, `"override":3`, `"problem":"exit 1"`}},
		{"/v0/city/town/pools?rig=yard", []string{`"total":1`, `"name":"yard/scale"`, `"suspended_reason":"with rig yard"`}},
		{"/v0/pools?rig=attic", []string{`{"items":[],"total":0}`}},
		{"/v0/pool/crew", []string{`{"name":"crew"`, `"check":{`, `"drain_timeout_ns":0`}},
		{"/v0/city/town/pool/yard%2Fscale", []string{`{"name":"yard/scale"`}},
		{"/v0/rigs", []string{`"total":2`, `"name":"yard","path":"/town/yard","prefix":"ya","suspended":false,"agents":2,"running":0`}},
		{"/v0/rig/attic", []string{`{"name":"attic"`, `"suspended":true`}},
		{"/v0/quarantine", []string{`"total":1`, `"name":"yard/sick"`, `"crashes":6`}},
		{"/v0/city/town/quarantine", []string{`"total":1`}},
		{"/v0/agents?pool=crew&running=true", []string{`"total":2`, `"name":"crew-1"`, `"name":"crew-2"`}},
		{"/v0/agents?state=waiting", []string{`"total":1`, `"reason":"worker is not up"`}},
		{"/v0/agents?pool=", []string{`"total":3`}},
	} {
		code, h, body := get(t, hc, c.path)
		if code != 200 || h.Get("X-GC-Index") == "" {
			t.Errorf("%s: %d %v", c.path, code, h)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %s in %s", c.path, want, body)
			}
		}
	}
}

// Usage that was not measured is null, and not 0.
func TestUsageFields(t *testing.T) {
	path, _ := serve(t, poolCity(), api.Options{})
	hc := curl(t, path)
	for name, want := range map[string]map[string]any{
		"worker": {"cpu": 12.5, "rss": float64(3 << 20), "procs": 4.0},
		"crew-1": {"cpu": 0.25, "rss": float64(1 << 20), "procs": 1.0},
		"crew-2": {"cpu": nil, "rss": nil},
	} {
		_, _, one := get(t, hc, "/v0/agent/"+name)
		_, _, listed := get(t, hc, "/v0/agents?state=running")
		for _, got := range []map[string]any{item(t, one, ""), item(t, listed, name)} {
			for key, v := range want {
				if has, ok := got[key]; !ok || has != v {
					t.Errorf("%s of %s: got %v, want %v", key, name, has, v)
				}
			}
			for _, key := range []string{"state", "reason", "since", "restarts", "pid", "session"} {
				if _, ok := got[key]; !ok {
					t.Errorf("%s has no %s", name, key)
				}
			}
			if _, ok := got["usage"]; ok {
				t.Errorf("agent %s has its usage twice: %v", name, got)
			}
		}
	}
	if _, _, body := get(t, hc, "/v0/snapshot"); !strings.Contains(body, `"usage":{"cpu":12.5,"rss":3145728,"procs":4}`) {
		t.Errorf("the snapshot has no usage object: %s", body)
	}
}

// item finds an item of a list by name. For the name "", the whole body is the item.
func item(t *testing.T, body, name string) map[string]any {
	t.Helper()
	var one map[string]any
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if name == "" {
		return one
	}
	items, _ := one["items"].([]any)
	for _, i := range items {
		if m, ok := i.(map[string]any); ok && m["name"] == name {
			return m
		}
	}
	t.Fatalf("no %s in %s", name, body)
	return nil
}

func TestStatusCounts(t *testing.T) {
	f := poolCity()
	f.Set(func(s *city.Snapshot) {
		drained, _ := s.Agent("crew-2")
		drained.State, drained.Drain = city.Draining, &city.DrainInfo{By: "operator"}
		s.Agents[0].Asks = new(city.Question)
		s.Config.Held = &city.Held{Revision: "ba9876543210", Removes: []string{"worker", "crew-1"}, Running: 3, Plan: []string{"removed worker, crew"}}
	})
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	_, _, health := get(t, hc, "/v0/health")
	_, _, body := get(t, hc, "/v0/status")
	got := item(t, body, "")
	for _, b := range []string{health, body} {
		if !strings.Contains(b, `"degraded":[]`) {
			t.Errorf("degraded without problems: want an empty list in %s", b)
		}
	}
	for key, want := range map[string]string{
		"agent_count": "5", "pool_count": "2", "rig_count": "2", "running": "3",
		"agents": `{"asking":1,"draining":1,"quarantined":1,"running":3,"states":{"draining":1,"quarantined":1,"running":2,"waiting":1},"suspended":0,"total":5,"waiting":1}`,
		"pools":  `{"overridden":1,"suspended":1,"total":2}`,
		"rigs":   `{"suspended":1,"total":2}`,
		"cpu":    "12.75", "rss": "4194304",
	} {
		if b, err := json.Marshal(got[key]); err != nil || string(b) != want {
			t.Errorf("%s: got %s, want %s", key, b, want)
		}
	}
	if want := `"held":{"revision":"ba9876543210","since":"0001-01-01T00:00:00Z","removes":["worker","crew-1"],"running":3,"plan":["removed worker, crew"]}`; !strings.Contains(body, want) {
		t.Errorf("no %s in %s", want, body)
	}
}

func TestPoolVerbs(t *testing.T) {
	f := poolCity()
	f.OnDo(func(c city.Command) (city.Receipt, error) { return city.Receipt{Message: c.Verb()}, nil })
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		path, body string
		want       city.Command
	}{
		{"/v0/pool/crew/scale", `{"size":2}`, city.Scale{Pool: "crew", Size: 2}},
		{"/v0/pool/crew/scale", `{"size":2}`, city.Scale{Pool: "crew", Size: 2}}, // the same request again
		{"/v0/city/town/pool/yard%2Fscale/scale", `{"size":0}`, city.Scale{Pool: "yard/scale"}},
		{"/v0/pool/yard/scale/scale", `{"auto":true}`, city.Scale{Pool: "yard/scale", Auto: true}},
		{"/v0/rig/yard/suspend", "", city.SuspendRig{Rig: "yard"}},
		{"/v0/city/town/rig/yard/resume", "{}", city.ResumeRig{Rig: "yard"}},
		{"/v0/rig/yard/resume", "", city.ResumeRig{Rig: "yard"}},
		{"/v0/agent/worker/drain", "", city.Drain{Agent: "worker"}},
		{"/v0/agent/worker/drain", "", city.Drain{Agent: "worker"}},
		{"/v0/city/town/agent/worker/undrain", "", city.Undrain{Agent: "worker"}},
		{"/v0/agent/worker/drain", "", city.Drain{Agent: "worker"}},
		{"/v0/agent/worker/drain-ack", "", city.DrainAck{Agent: "worker"}},
		{"/v0/agent/crew/suspend", "", city.Suspend{Agent: "crew"}},
		{"/v0/agent/crew/resume", "", city.Resume{Agent: "crew"}},
		{"/v0/reload", `{"confirm":true}`, city.Reload{Confirm: true}},
		{"/v0/city/town/reload", `{"confirm":false}`, city.Reload{}},
	} {
		status, _, body := send(t, hc, "POST", c.path, c.body)
		got := f.Commands()
		if status != 200 || len(got) == 0 || got[len(got)-1] != c.want || !strings.Contains(body, `"message":`) {
			t.Errorf("%s: got %d %s, %#v", c.path, status, body, got)
		}
	}
}

// Crafted requests about pools and rigs do not change anything.
func TestPoolRejections(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		method, path, body string
		status             int
		code               city.Code
	}{
		{"GET", "/v0/pool/crew/scale", "", 405, city.Invalid},
		{"GET", "/v0/rig/yard/suspend", "", 405, city.Invalid},
		{"GET", "/v0/agent/worker/drain", "", 405, city.Invalid},
		{"GET", "/v0/agent/worker/drain-ack", "", 405, city.Invalid},
		{"POST", "/v0/pools", "", 405, city.Invalid},
		{"POST", "/v0/quarantine", "", 405, city.Invalid},
		{"POST", "/v0/pool/crew", `{"size":1}`, 405, city.Invalid},
		{"DELETE", "/v0/rig/yard", "", 409, city.Conflict},
		{"GET", "/v0/pool/nobody", "", 404, city.NotFound},
		{"GET", "/v0/pool/worker", "", 404, city.NotFound},
		{"GET", "/v0/rig/nowhere", "", 404, city.NotFound},
		{"GET", "/v0/city/other/pools", "", 404, city.NotFound},
		{"POST", "/v0/pool/nobody/scale", `{"size":1}`, 404, city.NotFound},
		{"POST", "/v0/rig/nowhere/suspend", "", 404, city.NotFound},
		{"POST", "/v0/rig/yard/explode", "", 404, city.NotFound},
		{"POST", "/v0/suspend-rig", "", 404, city.NotFound},
		{"POST", "/v0/agent/yard/suspend-rig", "", 405, city.Invalid}, // parsed as an agent with this name
		{"POST", "/v0/agent/crew/scale", `{"size":1}`, 405, city.Invalid},
		{"POST", "/v0/agent/crew/run", "", 405, city.Invalid},
		{"POST", "/v0/agent/crew/update-bead", "", 405, city.Invalid},
		{"GET", "/v0/pool/%2e%2e", "", 400, city.Invalid},
		{"GET", "/v0/pool/..%2f..%2fetc%2fpasswd", "", 400, city.Invalid},
		{"GET", "/v0/pool/cr%00ew", "", 400, city.Invalid},
		{"GET", "/v0/rig/..", "", 400, city.Invalid},
		{"GET", "/v0/rig/yard%2fhand", "", 400, city.Invalid},
		{"GET", "/v0/rig/" + strings.Repeat("a", 65), "", 400, city.Invalid},
		{"GET", "/v0/quarantine?peek=perhaps", "", 400, city.Invalid},
		{"GET", "/v0/pools?index=x", "", 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", "", 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", "{}", 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", `{"size":"3"}`, 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", `{"size":3,"by":"me"}`, 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", `{"size":-1}`, 400, city.Invalid},
		{"POST", "/v0/pool/crew/scale", `{"size":4}`, 400, city.Invalid},
		{"POST", "/v0/rig/yard/suspend", `{"agent":"worker"}`, 400, city.Invalid},
		{"POST", "/v0/agent/worker/drain", `{"timeout":"1h"}`, 400, city.Invalid},
		{"POST", "/v0/reload", `{"confirm":"yes"}`, 400, city.Invalid},
		{"POST", "/v0/reload", `{"confirmed":true}`, 400, city.Invalid},
		{"POST", "/v0/agent/yard%2Fidler/drain", "", 409, city.Conflict},
		{"POST", "/v0/agent/worker/drain-ack", "", 409, city.Conflict},
		{"POST", "/v0/agent/crew-1/suspend", "", 409, city.Conflict},
	} {
		status, h, body := send(t, hc, c.method, c.path, c.body)
		var e city.Error
		if status != c.status || json.Unmarshal([]byte(body), &e) != nil || e.Code != c.code || e.Message == "" {
			t.Errorf("%s %.60s: got %d %s, want %d %s", c.method, c.path, status, body, c.status, c.code)
		}
		if status == 405 && h.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	if s, err := f.Snapshot(t.Context()); err != nil || s.Pools[0].Desired != 1 || s.Rigs[0].Suspended {
		t.Errorf("the city was changed: %+v, %+v, %v", s.Pools, s.Rigs, err)
	}
}

type staticCity struct {
	city.Control
	snap *city.Snapshot
}

func (s staticCity) Snapshot(context.Context) (*city.Snapshot, error) { return s.snap, nil }
func (s staticCity) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) { yield(s.snap, nil) }
}

// Every field of a snapshot reaches the client.
func TestSnapshotArrivesComplete(t *testing.T) {
	for name, want := range map[string]*city.Snapshot{"full": new(city.Snapshot), "empty": new(city.Snapshot), "bare": {
		Agents: []city.Agent{}, Pools: []city.Pool{{Name: "crew"}}, Rigs: []city.Rig{}, Automations: []city.Automation{{Name: "sweep"}}, Degraded: []string{},
	}} {
		if name == "full" {
			n := 0
			fill(t, reflect.ValueOf(want).Elem(), &n)
			want.Uncounted = 0 // used by the server only
		}
		path, _ := serve(t, staticCity{town(), want}, api.Options{})
		c := dial(t, path)
		if got, err := c.Snapshot(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
		n := 0
		for got, err := range c.Snapshots(t.Context()) {
			n++
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, streamed: %v\n got %+v\nwant %+v", name, err, got, want)
			}
		}
		if n != 1 {
			t.Errorf("%s: received %d snapshots", name, n)
		}
	}
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 4, 1, 12, 0, *n%60, *n, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("größe <%d>", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 20)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, n)
			fill(t, value, n)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a snapshot contains a %s: extend fill", v.Type())
	}
}
