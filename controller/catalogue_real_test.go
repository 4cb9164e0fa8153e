package controller_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/controller/controllertest"
	"gcity/internal/eventually"
)

func served(t *testing.T, c city.Control) *asker {
	t.Helper()
	return listening(t, func(ctx context.Context, l net.Listener, token string) error {
		return api.Serve(ctx, l, c, api.Options{Guard: &api.Guard{Token: token}})
	})
}

func listening(t *testing.T,
	serve func(ctx context.Context, l net.Listener, token string) error) *asker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	a := &asker{t: t, base: "http://" + l.Addr().String(), token: secret + "-token"}
	go func() { ended <- serve(ctx, l, a.token) }()
	t.Cleanup(func() { cancel(); <-ended })
	return a
}

func get[T any](a *asker, want int, method, path, body string) (v T) {
	a.t.Helper()
	code, _, text := a.ask(method, path, body)
	if code != want {
		a.t.Fatalf("%s %s: got %d %s, want %d", method, path, code, text, want)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		a.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return v
}

func TestCatalogueOverAPI(t *testing.T) {
	c := openWith(t, nil)
	a := served(t, c)
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := get[city.Validation](a, 200, "GET", "/v0/config/validate", ""); !v.Valid ||
		len(v.Errors) > 0 {
		t.Errorf("%+v", v)
	}
	type list struct {
		Items []city.Formula
		Total int
	}
	system := get[list](a, 200, "GET", "/v0/formulas", "").Total
	folder := filepath.Join(snap.Path, ".gc", "formulas")
	for name, text := range map[string]string{
		"good": "formula = \"good\"\n[[steps]]\nid = \"a\"\ntitle = \"A {{what}}\"\n[vars.what]\n" +
			"required = true\n",
		"torn": "formula = ",
	} {
		if err := os.WriteFile(filepath.Join(folder, name+".formula.toml"), []byte(text),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := get[list](a, 200, "GET", "/v0/formulas", "")
	find := func(name string) (f city.Formula) {
		if i := slices.IndexFunc(all.Items, func(f city.Formula) bool {
			return f.Name == name
		}); i >= 0 {
			f = all.Items[i]
		}
		return f
	}
	good, torn := find("good"), find("torn")
	valid := good.Steps == 1 && len(good.Vars) == 1 && good.Vars[0].Required && good.Problem == ""
	if all.Total != system+2 || !valid || torn.Problem == "" {
		t.Errorf("built-in formulas: %d; all formulas: got %+v", system, all)
	}
	get[city.Error](a, 404, "GET", "/v0/formulas?rig=none", "")

	said := get[struct{ Agents, Rigs []struct{ Name, Text string } }](a, 200, "GET",
		"/v0/config/explain", "")
	var names []string
	for _, e := range slices.Concat(said.Agents, said.Rigs) {
		names = append(names, e.Name)
		if !strings.Contains(e.Text, "city.toml") {
			t.Errorf("%s: %s", e.Name, e.Text)
		}
	}
	if got := strings.Join(names, " "); got != "crew lazy worker yard/hand yard/idler yard" {
		t.Errorf("explained %s", got)
	}

	file := filepath.Join(snap.Path, "city.toml")
	text := "[workspace]\nname = \"town\"\n[[agents]]\nname = \"worker\"\nstart_comand = " +
		"\"exec cat\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v := get[city.Validation](a, 200, "GET", "/v0/config/validate", "")
	if v.Valid || len(v.Errors) == 0 || !strings.Contains(v.Errors[0], "city.toml:5") {
		t.Errorf("%+v", v)
	}
}

// Requests from Gas City's dashboard change a real city, and later responses show the changes.
func TestRequestsOfGasCity(t *testing.T) {
	c := open(t)
	a := served(t, c)
	type made struct {
		ID string
	}
	type convoy struct {
		Convoy   beads.Bead
		Children []beads.Bead
		Progress city.Progress
	}
	one := get[made](a, 200, "POST", "/v0/beads", `{"title":"one"}`).ID
	two := get[made](a, 200, "POST", "/v0/beads", `{"title":"two"}`).ID
	whole := get[made](a, 200, "POST", "/v0/convoys", `{"title":"both","items":["`+one+`"]}`).ID
	got := get[convoy](a, 200, "POST", "/v0/convoy/"+whole+"/add", `{"items":["`+two+`"]}`)
	if len(got.Children) != 2 || got.Progress.Total != 2 || got.Progress.Closed != 0 {
		t.Errorf("%+v", got)
	}
	get[city.Receipt](a, 200, "POST", "/v0/bead/"+one+"/close", "")
	if got = get[convoy](a, 200, "GET", "/v0/convoy/"+whole, ""); got.Progress.Closed != 1 {
		t.Errorf("%+v", got)
	}
	get[city.Receipt](a, 200, "POST", "/v0/bead/"+one+"/reopen", "")
	get[city.Receipt](a, 200, "POST", "/v0/bead/"+one+"/assign", `{"assignee":"worker"}`)
	bead := get[beads.Bead](a, 200, "GET", "/v0/bead/"+one, "")
	if bead.Status == beads.StatusClosed || bead.Assignee != "worker" || bead.ParentID != whole {
		t.Errorf("%+v", bead)
	}
	deps := get[struct{ Children []beads.Bead }](a, 200, "GET", "/v0/bead/"+whole+"/deps", "")
	if len(deps.Children) != 2 {
		t.Errorf("%+v", deps)
	}
	get[city.Receipt](a, 200, "POST", "/v0/convoy/"+whole+"/close", "")
	if got = get[convoy](a, 200, "GET", "/v0/convoy/"+whole, ""); got.Convoy.Status !=
		beads.StatusClosed {
		t.Errorf("%+v", got)
	}
	get[city.Error](a, 404, "GET", "/v0/convoy/"+one, "")
}

// The work in a rig's store belongs to the rig, even if its IDs have other prefixes.
func TestWorkWithOtherPrefixes(t *testing.T) {
	c := controllertest.Start(t, `[workspace]
name = "town"
[[agents]]
name = "worker"
suspended = true
start_command = "exec cat"
[[rigs]]
name = "yard"
path = "yard"
prefix = "ya"
[[rigs]]
name = "other"
path = "other"
prefix = "other"
`)
	now := time.Now()
	for rig, all := range map[string][]beads.Bead{
		"yard": {{ID: "other-1", Title: "begun", Status: beads.StatusInProgress},
			{ID: "other-2", Title: "to do", Status: beads.StatusOpen},
			{ID: "other-3", Title: "wisp", Type: beads.TypeMolecule, Status: beads.StatusOpen}},
		"": {{ID: "ya-1", Title: "of the city", Status: beads.StatusOpen}},
	} {
		for i := range all {
			all[i].CreatedAt = now.Add(time.Duration(i) * time.Second)
			all[i].UpdatedAt = all[i].CreatedAt
		}
		if _, err := c.Stores[rig].Restore(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	a := served(t, c)
	list := func(path string) (ids string) {
		t.Helper()
		for _, b := range get[struct{ Items []beads.Bead }](a, 200, "GET", path, "").Items {
			ids += " " + b.ID
		}
		return ids
	}
	for path, want := range map[string]string{
		"/v0/beads?rig=yard": " other-3 other-2 other-1", "/v0/beads?rig=yard&limit=2": " other-3 other-2",
		"/v0/beads?rig=yard&cursor=other-2": " other-1", "/v0/beads/ready?rig=yard": " other-3 other-2",
		"/v0/beads?rig=other": "",
	} {
		if got := list(path); got != want {
			t.Errorf("%s: got%s, want%s", path, got, want)
		}
	}
	refused := get[city.Error](a, 409, "DELETE", "/v0/rig/yard", "")
	if !strings.Contains(refused.Message, "in progress in rig yard: other-1;") {
		t.Errorf("DELETE: %s", refused.Message)
	}
	convoy := get[beads.Bead](a, 200, "POST", "/v0/convoys", `{"title":"c","items":["other-1"]}`)
	if got := list("/v0/convoys?rig=yard"); got != " "+convoy.ID {
		t.Errorf("convoys: got%s, want %s", got, convoy.ID)
	}
	get[city.Error](a, 400, "POST", "/v0/convoy/"+convoy.ID+"/add", `{"items":["ya-1"]}`)
	get[city.Error](a, 400, "POST", "/v0/convoys", `{"title":"c","rig":"other","items":["other-2"]}`)
	get[map[string]any](a, 200, "POST", "/v0/convoy/"+convoy.ID+"/add", `{"items":["other-2"]}`)

	wisp, err := city.GetBead(t.Context(), c, "other-3")
	if err != nil {
		t.Fatal(err)
	}
	digest, err := city.Squash(t.Context(), c, city.Wisp{Root: wisp}, "worker", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stores["yard"].Get(t.Context(), digest.ID); err != nil {
		t.Errorf("the digest %s is not in the store of its wisp: %v", digest.ID, err)
	}
	get[city.Receipt](a, 200, "POST", "/v0/bead/other-1/close", "")
	get[city.Receipt](a, 200, "DELETE", "/v0/rig/yard", "")
}

// A real city accepts requests for orders, for the restart of a rig and for an agent's output stream.
func TestAgentsForGasCity(t *testing.T) {
	c := open(t)
	a := served(t, c)
	for snap, err := range c.Snapshots(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		hand, _ := snap.Agent("yard/hand")
		worker, _ := snap.Agent(citytest.Worker)
		if _, known := snap.Automation(citytest.Drip); known && hand != nil &&
			hand.State == city.Running &&
			worker.State == city.Running {
			break
		}
	}
	orders := get[struct{ Orders []struct{ Name string } }](a, 200, "GET", "/v0/orders", "").Orders
	if !slices.ContainsFunc(orders, func(o struct{ Name string }) bool {
		return o.Name == citytest.Drip
	}) {
		t.Errorf("orders: %+v", orders)
	}
	was, _ := snapshotOf(t, c).Agent("yard/hand")
	restart := get[struct{ Restarted, Left []string }](a, 200, "POST", "/v0/rig/yard/restart", "")
	if !slices.Equal(restart.Restarted, []string{"yard/hand"}) ||
		!slices.Equal(restart.Left, []string{"yard/idler"}) {
		t.Errorf("%+v", restart)
	}
	for snap, err := range c.Snapshots(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if hand, _ := snap.Agent("yard/hand"); hand.State == city.Running && hand.PID != was.PID {
			break
		}
	}
	eventually.True(t, "the stream shows the agent's output", func() bool { // the agent might be slow to print
		turn := get[struct{ Agent string }](a, 200, "GET", "/v0/agent/worker/output/stream", "")
		return turn.Agent == citytest.Worker && strings.Contains(a.heard.String(), "ready")
	})
}

func snapshotOf(t *testing.T, c city.Control) *city.Snapshot {
	t.Helper()
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}
