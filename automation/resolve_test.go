package automation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gcity/internal/toml"
)

func (w *town) recipe(layer, name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, layer, name+".formula.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("formula = '"+name+"'\n"+text+
		"[[steps]]\nid = 'a'\ntitle = 'A'\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(5 * time.Second)
	if err := os.Chtimes(path, w.now, w.now); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(5 * time.Second)
}

func cooks(formula string, more string) string {
	return "gate = 'manual'\nformula = '" + formula + "'\n" + more
}

// An automation with an invalid formula or pool is broken. If the name is unknown, the problem suggests a similar one.
func TestMissingFormulaAndPool(t *testing.T) {
	w := newTown(t, "city", "demo/low")
	w.o.Pools = []string{"worker", "alone", "demo/worker", "demo/tester"}
	w.recipe("city", "plain", "")
	w.recipe("city", "asks", "[vars.goal]\nrequired = true\n[vars.how]\ndefault = 'well'\n")
	w.recipe("demo/low", "own", "")
	w.recipe("city", "bad", "[vars]\nx = 1\n")
	w.write("city", "a1", cooks("plain", "pool = 'worker'"))
	w.write("city", "a2", cooks("asks", "[automation.vars]\ngoal = 'x'"))
	w.write("demo/low", "a3", cooks("own", "pool = 'tester'"))
	w.write("demo/low", "a4", cooks("plain", "pool = 'demo/worker'"))
	w.write("city", "b1", cooks("plain", "pool = 'nosuch'"))
	w.write("city", "b2", cooks("plain", "pool = 'wroker'"))
	w.write("city", "b3", cooks("plain", "pool = 'tester'"))
	w.write("demo/low", "b4", cooks("plain", "pool = 'alone'"))
	w.write("city", "c1", cooks("nosuch", ""))
	w.write("city", "c2", cooks("pain", ""))
	w.write("city", "c3", cooks("asks", ""))
	w.write("city", "c3b", cooks("asks", "[automation.vars]\ngoal = ' '"))
	w.write("city", "c4", cooks("asks", "[automation.vars]\ngoal = 'x'\nhwo = 'y'\nzzzz = 'y'"))
	w.write("city", "c5", cooks("plain", "[automation.vars]\ngoal = 'x'"))
	w.write("city", "c6", cooks("bad", ""))
	w.want(w.scan(), `a1 manual ""
a2 manual ""
a3:rig:demo manual ""
a4:rig:demo manual ""
b1 broken
  city/automations/b1/automation.toml:4:8: automation.pool: pool "nosuch" not found; the pools are worker, alone, demo/worker and demo/tester
b2 broken
  city/automations/b2/automation.toml:4:8: automation.pool: pool "wroker" not found; did you mean "worker"?
b3 broken
  city/automations/b3/automation.toml:4:8: automation.pool: pool "tester" not found; did you mean "demo/tester"?
b4:rig:demo broken
  demo/low/automations/b4/automation.toml:4:8: automation.pool: rig demo has no pool "alone", and an automation in a rig cannot use the city's pool of that name; add a pool to the rig, or make this an automation for the city
c1 broken
  city/automations/c1/automation.toml:3:11: automation.formula: formula "nosuch" not found; run `+"`gcity formula list`"+` to see all
c2 broken
  city/automations/c2/automation.toml:3:11: automation.formula: formula "pain" not found; did you mean "plain"? Run `+"`gcity formula list`"+` to see all
c3 broken
  city/automations/c3/automation.toml:3:11: automation.formula: asks needs the variable goal; set goal = "…" in [automation.vars]
c3b broken
  city/automations/c3b/automation.toml:3:11: automation.formula: asks needs the variable goal; set goal = "…" in [automation.vars]
c4 broken
  city/automations/c4/automation.toml:6:7: automation.vars.hwo: formula asks has no such variable; did you mean "how"?
  city/automations/c4/automation.toml:7:8: automation.vars.zzzz: formula asks has no such variable; its variables are goal and how
c5 broken
  city/automations/c5/automation.toml:5:8: automation.vars.goal: formula plain has no variables
c6 broken
  city/automations/c6/automation.toml:3:11: automation.formula: formula bad is broken: city/bad.formula.toml:3:5: vars.x: is a whole number; it must be a table: put [vars.x] on a line of its own
`)
}

// An automation that lacks its formula is repaired when the formula is added.
func TestFormulaIsAddedLater(t *testing.T) {
	w := newTown(t, "city")
	w.write("city", "a", cooks("later", ""))
	if before := w.scan(); len(before.Broken) != 1 {
		t.Fatalf("want a broken automation without its formula: %s", w.show(before))
	}
	w.recipe("city", "later", "")
	w.want(w.scan(), "a manual \"\"\n")
	w.recipe("city", "later", "[vars.x]\nrequired = true\n")
	if after := w.scan(); len(after.Broken) != 1 {
		t.Errorf("a changed formula was not read again: %s", w.show(after))
	}
}

// A mistake in an override is reported at the override, not in the file that it changes.
func TestOverrideProblemNamesTheOverride(t *testing.T) {
	w := newTown(t, "city")
	w.o.Pools = []string{"worker"}
	w.recipe("city", "plain", "")
	w.write("city", "cron", "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'")
	w.write("city", "fast", "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'")
	w.write("city", "pool", cooks("plain", "pool = 'worker'"))
	w.write("city", "turned", "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'")
	at := func(line int) toml.Place { return toml.Place{File: "city.toml", Line: line, Column: 1} }
	w.o.Overrides = []Override{
		{At: at(1), Name: "cron", Gate: ptr("cron"), Places: map[string]toml.Place{"gate": at(3)}},
		{At: at(10), Name: "fast", Interval: ptr(time.Millisecond),
			Places: map[string]toml.Place{"interval": at(12)}},
		{At: at(20), Name: "pool", Pool: ptr("wroker"),
			Places: map[string]toml.Place{"pool": at(22)}},
		{At: at(30), Name: "turned", Gate: ptr("manual")},
	}
	w.want(w.scan(), `turned manual "x"
cron broken
  city.toml:3:1: automations.overrides.schedule: is missing; a cron gate requires it
fast broken
  city.toml:12:1: automations.overrides.interval: is 1ms; it must be at least "1s"
pool broken
  city.toml:22:1: automations.overrides.pool: pool "wroker" not found; did you mean "worker"?
`)
}

// A file or folder that looks like an automation but is not one causes a warning.
func TestFilesThatAreNotAutomations(t *testing.T) {
	w := newTown(t, "city")
	w.write("city", "a", byHand("x"))
	dir := filepath.Join(w.dir, "city", Folder)
	for _, x := range []struct{ folder, file, text string }{{"", "x.toml", ""},
		{"slip", "automaton.toml", ""}, {"scripts", "x.sh", ""},
		{"wide", FileName, "\xff\xfe[\x00a\x00]\x00"},
		{"marked", FileName, "\xef\xbb\xbf[automation]\ngate = 'manual'\nexec = 'm'\n"}} {
		if err := os.MkdirAll(filepath.Join(dir, x.folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, x.folder, x.file), []byte(x.text), 0o644); err !=
			nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"nowhere", "scripts/" + FileName} {
		if err := os.Symlink("/nonexistent/place", filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.want(w.scan(), `a manual "x"
marked manual "m"
wide broken
  city/automations/wide/automation.toml:1:1: the file is UTF-16; save it as UTF-8
warning: city/automations/nowhere: is a dangling link
warning: city/automations/scripts: its automation.toml is a dangling link
warning: city/automations/slip: has no automation.toml, so it is not an automation; automaton.toml is ignored
warning: city/automations/x.toml: is ignored, because an automation is a folder; move this file to city/automations/x/automation.toml
`)
}

// An order in Gas City's folder is reported, with or without a folder of automations.
func TestOrdersAreReported(t *testing.T) {
	w := newTown(t, "city")
	dir := filepath.Join(w.dir, "city", "orders")
	for _, folder := range []string{"sweep", "notes"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "sweep", "order.toml")
	if err := os.WriteFile(file, []byte("[order]\nexec = 'true'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const warning = "warning: city/orders/sweep/order.toml: is ignored, because gcity does not read orders; " +
		"move this file to city/automations/sweep/automation.toml and rename its table to [automation]\n"
	w.want(w.scan(), warning)
	w.write("city", "a", byHand("x", ""))
	w.want(w.scan(), "a manual \"x\"\n"+warning)
	// if a rig uses the same folder, each file is reported once
	w.layers = append(w.layers, w.layers[0])
	w.layers[1].Rig = "demo"
	w.want(w.scan(), "a manual \"x\"\na:rig:demo manual \"x\"\n"+warning)
}

// The error for a run that times out names the setting that limited the run.
func TestTimeoutNamesItsSetting(t *testing.T) {
	w := newTown(t, "city")
	w.o.MaxTimeout, w.o.MaxAt = 2*time.Minute, toml.Place{File: "city.toml", Line: 3, Column: 15}
	w.o.Overrides = []Override{{At: toml.Place{File: "city.toml", Line: 7, Column: 1}, Name: "over",
		Timeout: ptr(90 * time.Second)}}
	for name, text := range map[string]string{"none": "", "own": "timeout = '1500ms'",
		"capped": "timeout = '1h'", "over": ""} {
		w.write("city", name, byHand("x", text))
	}
	want := map[string]string{
		"none":   "the run did not finish within 1m (the default)",
		"own":    "the run did not finish within 1.5s (its timeout)",
		"capped": "the run did not finish within 2m (max_timeout in city.toml:3:15)",
		"over":   "the run did not finish within 1m30s (timeout in city.toml:7:1)",
	}
	for _, d := range w.scan().Automations {
		if got := d.TimedOut(); got != want[d.Name] {
			t.Errorf("%s: got %s, want %s", d.Name, got, want[d.Name])
		}
	}
}
