package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gcity/api"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/controller/controllertest"
)

type recordingCity struct {
	*controllertest.City
	mu       sync.Mutex
	commands []city.Command
}

func (n *recordingCity) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	n.mu.Lock()
	n.commands = append(n.commands, c)
	n.mu.Unlock()
	return n.City.Do(ctx, c)
}

func (n *recordingCity) Commands() []city.Command {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.commands)
}

// tw-1, which is in progress, is the parent of tw-2 and tw-3.
func workCity(t *testing.T) *recordingCity {
	t.Helper()
	f := &recordingCity{City: controllertest.Town(t)}
	f.Await(t, func(s *city.Snapshot) bool {
		_, crew := s.Agent("crew-1")
		sweep, ok := s.Automation(citytest.Chore)
		return crew && ok && sweep.State == city.AutomationIdle && s.Count()[city.Running] == 3
	})
	for _, b := range []beads.Bead{
		{Title: "one", Type: beads.TypeMolecule, Status: beads.StatusInProgress, Priority: beads.Urgent},
		{Title: "two", ParentID: "tw-1", Labels: []string{"a", "pool:crew"}, Assignee: "crew-1"},
		{Title: "three", ParentID: "tw-1", Labels: []string{"a"}, Needs: []string{"tw-2"}, Metadata: map[string]string{"k": "v"}},
	} {
		if _, err := f.Do(t.Context(), city.CreateBead{Bead: b}); err != nil {
			t.Fatal(err)
		}
	}
	f.Await(t, func(s *city.Snapshot) bool { return s.Work.Open == 2 && s.Work.InProgress == 1 })
	return f
}

func (n *recordingCity) run(t *testing.T, name string) {
	t.Helper()
	r, err := n.Do(t.Context(), city.Fire{Automation: name})
	if err != nil {
		t.Fatal(err)
	}
	n.ended(t, name, r.Bead.ID)
}

func (n *recordingCity) ended(t *testing.T, name, id string) {
	t.Helper()
	n.Await(t, func(s *city.Snapshot) bool {
		a, ok := s.Automation(name)
		return ok && a.State == city.AutomationIdle && a.Last != nil && a.Last.ID == id && a.Last.Ended != nil
	})
}

func TestWorkShapes(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	if status, _, body := send(t, hc, "POST", "/v0/automation/wreck/run", `{"by":"me"}`); status != 200 || !strings.Contains(body, `"bead":{"id":"tw-4"`) {
		t.Fatalf("%d %s", status, body)
	}
	f.ended(t, "wreck", "tw-4")
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/v0/automations", []string{`"total":5`, `{"name":"brew"`, `"gate":"manual","formula":"brew","pool":"crew"`, `"state":"idle"`, `"state":"broken"`}},
		{"/v0/city/town/automations?rig=yard", []string{`{"items":[],"total":0}`}},
		{"/v0/automations?state=idle&gate=manual", []string{`"total":4`, `"name":"chore"`}},
		{"/v0/automations?state=&gate=", []string{`"total":5`}},
		{"/v0/automations?state=due", []string{`{"items":[],"total":0}`}},
		{"/v0/automation/brew", []string{`{"name":"brew"`, `"reason":"manual"`}},
		{"/v0/city/town/automation/wreck", []string{`{"name":"wreck"`, `"last":{"id":"tw-4"`, `"code":3`, `"output":"oops"`, `"failures":1`}},
		{"/v0/automation/wreck/history", []string{`{"items":[{"id":"tw-4","automation":"wreck","reason":"by hand","by":"me"`, `"outcome":"failed","code":3`, `"total":1}`}},
		{"/v0/automation/chore/history?limit=5", []string{`{"items":[],"total":0}`}},
		{"/v0/beads", []string{`"total":4`, `{"items":[{"id":"tw-4"`, `"type":"run"`}},
		{"/v0/city/town/beads?not_type=run&limit=2", []string{`{"items":[{"id":"tw-3"`, `"total":2,"next_cursor":"tw-2"}`}},
		{"/v0/beads?cursor=tw-2&limit=2", []string{`{"items":[{"id":"tw-1"`, `"total":1}`}},
		{"/v0/beads?limit=all&not_type=run&not_type=molecule", []string{`"total":2}`}},
		{"/v0/beads?limit=all&not_type=run,molecule", []string{`"total":2}`}},
		{"/v0/beads?status=open", []string{`"total":2`, `"tw-3"`, `"tw-2"`}},
		{"/v0/beads?not_type=run&closed_since=2999-01-01T00:00:00Z", []string{`"total":0`}},
		{"/v0/beads?status=in_progress,closed&not_type=run", []string{`"total":1`, `"tw-1"`, `"priority":0`}},
		{"/v0/beads?status=open&status=in_progress&status=", []string{`"total":3`}},
		{"/v0/beads?label=a&label=pool:crew", []string{`"total":1`, `"tw-2"`, `"assignee":"crew-1"`}},
		{"/v0/beads?store=city&not_type=run", []string{`"total":3`}},
		{"/v0/beads?label=none", []string{`{"items":[],"total":0}`}},
		{"/v0/beads?parent=tw-1&ready=true", []string{`"total":1`, `"tw-2"`}},
		{"/v0/beads?type=molecule", []string{`"total":1`, `"title":"one"`}},
		{"/v0/beads?assignee=crew-1&type=", []string{`"total":1`}},
		{"/v0/bead/tw-3", []string{`{"id":"tw-3","title":"three","status":"open","type":"task","priority":2,"parent_id":"tw-1","needs":["tw-2"],"labels":["a"],"metadata":{"k":"v"},`, `"rev":1}`}},
		{"/v0/status", []string{`"automation_count":5`, `"automations":{"total":5,"failing":2,"states":{"broken":1,"idle":4}}`, `"work":{"open":2,"ready":1,"in_progress":1}`}},
	} {
		code, h, body := get(t, hc, c.path)
		if code != 200 || h.Get("X-GC-Index") == "" {
			t.Errorf("%s: got %d %v %s", c.path, code, h, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %s in %s", c.path, want, body)
			}
		}
	}
}

// An automation's history remains available after the automation's file is removed.
func TestHistoryOfRemovedAutomation(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for range 3 {
		f.run(t, "brew")
	}
	if err := os.RemoveAll(filepath.Join(f.Dir, ".gc", "formulas", "automations")); err != nil {
		t.Fatal(err)
	}
	f.Rescan <- struct{}{}
	f.Await(t, func(s *city.Snapshot) bool { return len(s.Automations) == 0 })
	_, _, body := get(t, hc, "/v0/automation/brew/history?limit=2")
	if !strings.Contains(body, `"total":2,"next_cursor":"tw-8"}`) || strings.Contains(body, "molecule") || !strings.Contains(body, `"made":"tw-`) {
		t.Error(body)
	}
	if code, _, body := get(t, hc, "/v0/automation/brew"); code != 404 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := get(t, hc, "/v0/automation/torn/history"); code != 404 {
		t.Errorf("history of an unknown automation: got %d %s", code, body)
	}
}

func TestWorkRequests(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		method, path, body string
		want               city.Command
		says               string
	}{
		{"POST", "/v0/beads", `{"title":"four","type":"bug","labels":["x"],"parent_id":"tw-1","priority":1}`,
			city.CreateBead{Bead: beads.Bead{Title: "four", Type: "bug", Labels: []string{"x"}, ParentID: "tw-1", Priority: beads.High}}, `"bead":{"id":"tw-4","title":"four"`},
		{"PATCH", "/v0/bead/tw-4", `{"status":"in_progress","labels":["y"],"add_labels":["z"],"metadata":{"k":"v"}}`,
			city.UpdateBead{ID: "tw-4", Patch: beads.Patch{Status: new(beads.StatusInProgress), AddLabels: []string{"z", "y"}, SetMetadata: map[string]string{"k": "v"}}}, `"labels":["x","z","y"],"metadata":{"k":"v"}`},
		{"PATCH", "/v0/city/town/bead/tw-4", `{"description":"","parent_id":"","remove_labels":["x"],"if_rev":2}`,
			city.UpdateBead{ID: "tw-4", Patch: beads.Patch{Description: new(""), ParentID: new(""), RemoveLabels: []string{"x"}, IfRev: new(uint64(2))}}, `"labels":["z","y"]`},
		{"POST", "/v0/bead/tw-4/close", "", city.UpdateBead{ID: "tw-4", Patch: beads.Closing()}, `"message":"closed tw-4","bead":{"id":"tw-4"`},
		{"POST", "/v0/city/town/bead/tw-4/close", " {} ", city.UpdateBead{ID: "tw-4", Patch: beads.Closing()}, `"status":"closed"`}, // the same request again
		{"POST", "/v0/automation/brew/run", "", city.Fire{Automation: "brew"}, `"bead":{`},
		{"POST", "/v0/city/town/automation/chore/run", `{"by":"cron elsewhere"}`, city.Fire{Automation: "chore", By: "cron elsewhere"}, `"by":"cron elsewhere"`},
	} {
		status, h, body := send(t, hc, c.method, c.path, c.body)
		got := f.Commands()
		if status != 200 || !reflect.DeepEqual(got[len(got)-1], c.want) || !strings.Contains(body, c.says) || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: got %d %s, %+v", c.method, c.path, status, body, got[len(got)-1])
		}
	}
}

// Crafted requests about work do not change anything.
func TestWorkRejections(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	const badStatus = `status=\"done\" is invalid: use open, in_progress or closed`
	if _, _, body := send(t, hc, "GET", "/v0/beads?status=open,done", ""); !strings.Contains(body, badStatus) {
		t.Errorf("invalid status: %s", body)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		code               city.Code
		allow              string
	}{
		{"GET", "/v0/automation/brew/run", "", 405, city.Invalid, "POST"},
		{"GET", "/v0/bead/tw-1/close", "", 405, city.Invalid, "POST"},
		{"POST", "/v0/automations", "", 405, city.Invalid, "GET"},
		{"POST", "/v0/automation/brew", "", 405, city.Invalid, "GET"},
		{"POST", "/v0/automation/brew/history", "", 405, city.Invalid, "GET"},
		{"POST", "/v0/bead/tw-1", "{}", 405, city.Invalid, "GET, PATCH"},
		{"DELETE", "/v0/bead/tw-1", "", 405, city.Invalid, "GET, PATCH"},
		{"PATCH", "/v0/beads", "{}", 405, city.Invalid, "GET, POST"},
		{"PATCH", "/v0/agent/worker", `{"provider":"codex"}`, 501, city.Unsupported, ""},
		{"PATCH", "/v0/rig/yard", `{"prefix":"x","suspended":true}`, 501, city.Unsupported, ""},
		{"PUT", "/v0/events", "{}", 405, city.Invalid, "GET, POST"},

		{"GET", "/v0/automation/nothing", "", 404, city.NotFound, ""},
		{"GET", "/v0/automation/brew:rig:yard", "", 404, city.NotFound, ""},
		{"GET", "/v0/automation/nothing/history", "", 404, city.NotFound, ""},
		{"POST", "/v0/automation/nothing/run", "", 404, city.NotFound, ""},
		{"POST", "/v0/automation/torn/run", "", 409, city.Conflict, ""},
		{"POST", "/v0/automation/brew/run", `{"by":1}`, 400, city.Invalid, ""},
		{"POST", "/v0/automation/brew/run", `{"automation":"sweep"}`, 400, city.Invalid, ""},
		{"POST", "/v0/automation/..%2fbrew/run", "", 400, city.Invalid, ""},
		{"GET", "/v0/automation/brew/history?limit=x", "", 400, city.Invalid, ""},

		{"GET", "/v0/bead/tw-999", "", 404, city.NotFound, ""},
		{"GET", "/v0/city/other/beads", "", 404, city.NotFound, ""},
		{"PATCH", "/v0/bead/tw-999", `{"title":"x"}`, 404, city.NotFound, ""},
		{"POST", "/v0/bead/tw-999/close", "", 404, city.NotFound, ""},
		{"GET", "/v0/beads?cursor=tw-999", "", 404, city.NotFound, ""},
		{"GET", "/v0/bead/%2e%2e", "", 400, city.Invalid, ""},
		{"GET", "/v0/bead/" + strings.Repeat("a", 129), "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?status=done", "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?ready=perhaps", "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?limit=-1", "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?limit=0", "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?limit=99999999999", "", 400, city.Invalid, ""},
		{"GET", "/v0/beads?index=x", "", 400, city.Invalid, ""},
		{"POST", "/v0/beads", "", 400, city.Invalid, ""},
		{"POST", "/v0/beads", "{}", 400, city.Invalid, ""},
		{"POST", "/v0/beads", "[]", 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x","colour":"red"}`, 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x"},"bead":{"title":"y"}`, 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x","priority":9}`, 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x","description":"` + strings.Repeat("a", 300<<10) + `"}`, 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x","description":"` + strings.Repeat("a", 5<<20) + `"}`, 400, city.Invalid, ""},
		{"POST", "/v0/beads", `{"title":"x","id":"tw-1"}`, 409, city.Conflict, ""},
		{"PATCH", "/v0/bead/tw-1", "", 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", "[]", 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"patch":{"title":"x"}}`, 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"title":"x"}{}`, 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"id":"tw-2"}`, 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"title":""}`, 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"labels":"a"}`, 400, city.Invalid, ""},
		{"PATCH", "/v0/bead/tw-1", `{"title":"x","if_rev":7}`, 409, city.Conflict, ""},
		{"POST", "/v0/bead/tw-1/close", `{"reason":"done"}`, 400, city.Invalid, ""},
		{"POST", "/v0/bead/tw-1/close", `{`, 400, city.Invalid, ""},
	} {
		status, h, body := send(t, hc, c.method, c.path, c.body)
		var e city.Error
		if status != c.status || json.Unmarshal([]byte(body), &e) != nil || e.Code != c.code || e.Message == "" || h.Get("Allow") != c.allow {
			t.Errorf("%s %.60s %.40s: got %d %q %s, want %d %s %q", c.method, c.path, c.body, status, h.Get("Allow"), body, c.status, c.code, c.allow)
		}
	}
	all, err := f.Beads(t.Context(), beads.Query{})
	if err != nil || len(all) != 3 {
		t.Errorf("a rejected request created a bead: %+v, %v", all, err)
	}
	for _, b := range all {
		if b.Rev != 1 {
			t.Errorf("changed: %+v", b)
		}
	}
}

// A store that fails never looks empty.
func TestFailingStore(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	c := dial(t, path)
	f.Stores[""].Break(errors.New("the disk is gone"))
	hc := curl(t, path)
	for _, path := range []string{"/v0/beads", "/v0/bead/tw-1", "/v0/automation/brew/history"} {
		if code, _, body := get(t, hc, path); code != 503 || !strings.Contains(body, "the disk is gone") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, cmd := range []city.Command{city.Fire{Automation: "brew"}, city.CreateBead{Bead: beads.Bead{Title: "x"}}, city.UpdateBead{ID: "tw-1", Patch: beads.Closing()}} {
		_, err := c.Do(t.Context(), cmd)
		if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable {
			t.Errorf("%s: %v", cmd.Verb(), err)
		}
	}
	if code, _, body := get(t, hc, "/v0/status"); code != 200 || !strings.Contains(body, `"work":{"open":2,"ready":1,"in_progress":1`) {
		t.Errorf("other requests: got %d %s", code, body)
	}
	f.Stores[""].Break(nil)

	release := f.Stores[""].Hang()
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := c.Beads(ctx, beads.Query{})
		asked <- err
	}()
	cancel()
	if err := <-asked; err == nil {
		t.Error("a hung store was reported as empty")
	}
}

type asked struct {
	city.Control
	queries []beads.Query
}

func (a *asked) Beads(_ context.Context, q beads.Query) ([]beads.Bead, error) {
	a.queries = append(a.queries, q)
	return nil, nil
}

// Every field of a query reaches the city.
func TestQueriesArriveComplete(t *testing.T) {
	var full beads.Query
	n := 0
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if field := v.Type().Field(i).Name; field != "Limit" && field != "Status" {
			fill(t, v.Field(i), &n)
		}
	}
	full.Limit, full.Status = 1<<20, []beads.Status{beads.StatusOpen, beads.StatusClosed}
	a := &asked{Control: town()}
	path, _ := serve(t, a, api.Options{})
	c := dial(t, path)
	for i, want := range []beads.Query{full, {}, {Limit: -1}, {Ready: true}, {Labels: []string{"a&b=c", "x+y z"}}} {
		if _, err := c.Beads(t.Context(), want); err != nil {
			t.Errorf("%+v: %v", want, err)
		}
		if want.Limit < 0 {
			want.Limit = wire.MaxLines // the server reads all beads in parts
		}
		if len(a.queries) != i+1 || !reflect.DeepEqual(a.queries[i], want) {
			t.Fatalf("sent %+v, received %+v", want, a.queries[i:])
		}
	}
}
