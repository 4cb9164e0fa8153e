package citytest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// Automations of the city under test.
const (
	Chore = "chore"
	Brew  = "brew"  // runs the formula with the same name for the pool Crew
	Wreck = "wreck" // exits with code 3; is not retried
	Torn  = "torn"  // has an invalid file
	// prints half of a line, then waits for the file "go"
	Drip = "drip"

	choreExec = "echo swept"
	wreckExec = "echo oops; exit 3"
	dripExec  = `printf 'dr\303'; printf '\266p\n'; until [ -e go ]; do sleep 0.05; done; ` +
		`printf '\033[31mdrop\033[m'`
)

// WriteAutomations creates a formula folder with the automations that Suite needs.
func WriteAutomations(t testing.TB, folder string) {
	t.Helper()
	for path, text := range map[string]string{
		"brew.formula.toml": "formula = \"brew\"\n[[steps]]\nid = \"boil\"\n" +
			"title = \"Boil\"\n[[steps]]\nid = \"pour\"\ntitle = \"Pour\"\nneeds = [\"boil\"]\n",
		"automations/brew/automation.toml": "[automation]\ngate = \"manual\"\n" +
			"formula = \"" + Brew + "\"\npool = \"" + Crew + "\"\n",
		"automations/chore/automation.toml": "[automation]\ngate = " +
			"\"manual\"\nexec = \"" + choreExec + "\"\n",
		"automations/drip/automation.toml": "[automation]\ngate = \"manual\"\n" +
			"exec = '''\n" + dripExec + "\n'''\n",
		"automations/torn/automation.toml": "[automation]\ngaet = \"manual\"\nexec = \"true\"\n",
		"automations/wreck/automation.toml": "[automation]\ngate = " +
			"\"manual\"\nexec = \"" + wreckExec + "\"\n",
	} {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func awaitAutomation(t *testing.T, ctx context.Context, ctl city.Control, name string,
	ok func(*city.Automation) bool) city.Automation {
	t.Helper()
	s := until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, found := s.Automation(name)
		return found && ok(a)
	})
	a, _ := s.Automation(name)
	return *a
}

func idle(t *testing.T, ctx context.Context, ctl city.Control, name string) city.Automation {
	t.Helper()
	return awaitAutomation(t, ctx, ctl, name, func(a *city.Automation) bool {
		return a.State == city.AutomationIdle
	})
}

func testAutomations(t *testing.T, ctx context.Context, ctl city.Control) {
	for _, name := range []string{Chore, Wreck} {
		if a := idle(t, ctx, ctl, name); a.Gate != "manual" || a.Exec == "" || a.Formula != "" ||
			a.Reason == "" || a.Source == "" || a.Last != nil || a.Next != nil || a.Failures != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := idle(t, ctx, ctl, Brew); a.Formula != Brew || a.Pool != Crew || a.Exec != "" {
		t.Errorf("%s: %+v", Brew, a)
	}
	s := until(t, ctx, ctl, func(s *city.Snapshot) bool { _, ok := s.Automation(Torn); return ok })
	if a, _ := s.Automation(Torn); a.State != city.AutomationBroken || a.Source == "" {
		t.Errorf("%s: %+v", Torn, a)
	} else {
		wantMention(t, "a broken file", &city.Error{Message: a.Reason}, "gaet", "gate")
	}
	if !slices.IsSortedFunc(s.Automations, func(a, b city.Automation) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		t.Errorf("automations are not sorted: %+v", s.Automations)
	}
}

func fire(t *testing.T, ctx context.Context, ctl city.Control, c city.Fire) (opened,
	ended city.Run) {
	t.Helper()
	idle(t, ctx, ctl, c.Automation)
	r := do(t, ctx, ctl, c)
	b := beadOf(t, r)
	opened = city.RunOf(b)
	if b.Type != city.RunType || b.Status != beads.StatusInProgress ||
		opened.Automation != c.Automation || opened.Ended != nil || opened.Outcome != "" ||
		opened.Reason == "" || opened.By != c.By {
		t.Errorf("opened: %+v, %+v", b, opened)
	}
	a := awaitAutomation(t, ctx, ctl, c.Automation, func(a *city.Automation) bool {
		return a.Last != nil && a.Last.ID == opened.ID && a.Last.Ended != nil &&
			a.State != city.AutomationRunning
	})
	for kind, want := range map[string]bool{
		events.AutomationFired: true, events.AutomationCompleted: a.Last.Outcome == "ok",
		events.AutomationFailed: a.Last.Outcome != "ok",
	} {
		if n := countEvents(t, ctx, ctl, kind, opened); (n == 1) != want || n > 1 {
			t.Errorf("%s of %+v: got %d events", kind, a.Last, n)
		}
	}
	return opened, *a.Last
}

func countEvents(t *testing.T, ctx context.Context, ctl city.Control, kind string,
	r city.Run) (n int) {
	t.Helper()
	found, err := ctl.History(ctx, events.Query{Types: []string{kind}, Subject: r.Automation})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		var about struct {
			Run string `json:"run"`
		}
		if err := json.Unmarshal(e.Payload, &about); err != nil {
			t.Errorf("%s: %s: %v", kind, e.Payload, err)
		}
		if about.Run == r.ID {
			n++
		}
	}
	return n
}

func record(t *testing.T, ctx context.Context, ctl city.Control, id string) beads.Bead {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if b := get(t, ctx, ctl, id); b.Status == beads.StatusClosed {
			return b
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the record of run %s was not closed", id)
		}
	}
}

// A manual run ignores the gate and leaves a record like any other run.
func testFire(t *testing.T, ctx context.Context, ctl city.Control) {
	var ids []string
	for range 2 {
		_, r := fire(t, ctx, ctl, city.Fire{Automation: Chore, By: "tester"})
		if r.Outcome != "ok" || r.Code == nil || *r.Code != 0 || r.Output != "swept" ||
			r.By != "tester" || r.Error != "" || r.Ended.Before(r.Opened) {
			t.Errorf("%+v", r)
		}
		b := record(t, ctx, ctl, r.ID)
		if !slices.Contains(b.Labels, "exec") || !slices.Contains(b.Labels, city.RunLabel+Chore) ||
			slices.Contains(b.Labels, "exec-failed") {
			t.Errorf("%+v", b)
		}
		if kept := city.RunOf(b); kept.Outcome != "ok" || kept.Output != "swept" ||
			kept.Code == nil || *kept.Code != 0 || kept.By != "tester" {
			t.Errorf("kept: %+v", kept)
		}
		ids = append([]string{r.ID}, ids...)
	}
	if got := listed(t, ctx, ctl, beads.Query{Labels: []string{city.RunLabel + Chore},
		Type: city.RunType}); !slices.Equal(got, ids) {
		t.Errorf("history: got %q, want %q", got, ids)
	}
	if s, err := ctl.Snapshot(ctx); err != nil || s.Work.Open+s.Work.InProgress > 0 {
		t.Errorf("got runs that count as work: %+v, %v", s.Work, err)
	}
}

func testFireFails(t *testing.T, ctx context.Context, ctl city.Control) {
	_, r := fire(t, ctx, ctl, city.Fire{Automation: Wreck, By: "tester"})
	if r.Outcome != "failed" || r.Code == nil || *r.Code != 3 || r.Output != "oops" {
		t.Errorf("%+v", r)
	}
	if b := record(t, ctx, ctl, r.ID); !slices.Contains(b.Labels, "exec-failed") {
		t.Errorf("%+v", b)
	}
	if a := idle(t, ctx, ctl, Wreck); a.Failures != 1 {
		t.Errorf("%+v", a)
	}
}

func testFireFormula(t *testing.T, ctx context.Context, ctl city.Control) {
	_, r := fire(t, ctx, ctl, city.Fire{Automation: Brew, By: "tester"})
	if r.Outcome != "ok" || r.Code != nil || r.Made == "" {
		t.Fatalf("%+v", r)
	}
	root := get(t, ctx, ctl, r.Made)
	if r.MadeTitle == "" || r.MadeTitle != root.Title {
		t.Errorf("title of the run: got %q, want that of %q", r.MadeTitle, root.Title)
	}
	if root.Type != beads.TypeMolecule || root.Ref != Brew || root.Status != beads.StatusOpen ||
		!slices.Contains(root.Labels, city.PoolLabel+Crew) ||
		!slices.Contains(root.Labels, city.RunLabel+Brew) {
		t.Errorf("%+v", root)
	}
	steps, err := ctl.Beads(ctx, beads.Query{Parent: root.ID})
	if err != nil || len(steps) != 2 {
		t.Fatalf("%+v, %v", steps, err)
	}
	if next, ok := beads.Next(steps); !ok || next.Ref != "boil" || next.Title != "Boil" {
		t.Errorf("first %+v", next)
	}
}

func testFireRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	until(t, ctx, ctl, func(s *city.Snapshot) bool { _, ok := s.Automation(Torn); return ok })
	for _, name := range []string{"nothing", Chore + ":rig:nowhere", "..", "no name",
		Chore + ":" + Chore} {
		_, err := ctl.Do(ctx, city.Fire{Automation: name})
		wantCode(t, "Fire of "+name, err, city.NotFound)
	}
	_, err := ctl.Do(ctx, city.Fire{Automation: Torn})
	wantCode(t, "Fire of a broken automation", err, city.Conflict)
	wantMention(t, "Fire of a broken automation", err, Torn, "gaet")
	for _, by := range []string{"a\ab", "two\nlines", "\u202egnp", strings.Repeat("x", 300)} {
		_, err = ctl.Do(ctx, city.Fire{Automation: Chore, By: by})
		wantCode(t, fmt.Sprintf("Fire by %.20q", by), err, city.Invalid)
	}
	if got := listed(t, ctx, ctl, beads.Query{}); len(got) > 0 {
		t.Errorf("a rejected request opened runs: %q", got)
	}
}
