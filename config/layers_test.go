package config

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/automation"
	"gcity/formula"
	"gcity/internal/toml"
)

// The city's formula folder is always a layer. A rig has a layer only with formulas_dir.
func TestLayers(t *testing.T) {
	if got, want := load(t, "[workspace]\n").Layers(), "/.gc/formulas"; len(got) != 1 ||
		filepath.Base(filepath.Dir(got[0].Dir)) != ".gc" || got[0].Title != "city" {
		t.Errorf("got %+v, want a layer that ends in %s", got, want)
	}
	dir := folderOf(t, map[string]string{
		FileName: "include = [\"teams/one.toml\"]\n[formulas]\ndir = \"recipes\"\n[[rigs]]\nname " +
			"= \"bare\"\npath = \"/nowhere\"\n" +
			"[[rigs]]\nname = \"far\"\npath = \"/nowhere/far\"\nformulas_dir = \"/srv/far\"\n",
		"teams/one.toml": "[[rigs]]\nname = \"near\"\npath = \"/nowhere/near\"\nformulas_dir = " +
			"\"recipes\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []formula.Layer{
		{Dir: filepath.Join(dir, "recipes"), Title: "city"},
		{Dir: "/srv/far", Title: "rig far", Rig: "far"},
		{Dir: filepath.Join(dir, "teams", "recipes"), Title: "rig near", Rig: "near"},
	}
	if diff := cmp.Diff(want, c.Layers()); diff != "" {
		t.Error(diff)
	}
}

// Problems are reported at the settings' positions.
func TestAutomationOptions(t *testing.T) {
	dir := folderOf(t, map[string]string{
		".gc/formulas/automations/sweep/automation.toml": "[automation]\nexec = \"true\"\ngate = " +
			"\"cooldown\"\ninterval = \"1h\"\ntimeout = \"3h\"\n",
		".gc/formulas/automations/tidy/automation.toml": "[automation]\nexec = \"true\"\ngate = " +
			"\"manual\"\n",
		".gc/formulas/automations/wake/automation.toml": "[automation]\nexec = \"true\"\ngate = " +
			"\"manual\"\n",
		FileName: `[automations]
skip = ["tidy"]
max_timeout = "2h"
[[automations.overrides]]
name = "sweep"
interval = "5m"
enabled = true
[[automations.overrides]]
name = "sweep"
gate = "cron"
schedule = "@daily"
[[automations.overrides]]
name = "sweeep"
enabled = false
[[automations.overrides]]
name = "wake"
pool = "nobody"
`,
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := c.AutomationOptions()
	if at := (toml.Place{File: FileName, Line: 2, Column: 8}); o.SkipAt != at ||
		o.Local != time.Local {
		t.Errorf("got skip at %s, schedules in %s", o.SkipAt, o.Local)
	}
	if first := o.Overrides[0]; first.At.String() != "city.toml:4:1" ||
		first.Places["interval"].String() != "city.toml:6:12" || !*first.Enabled ||
		*first.Interval != 5*time.Minute || first.Gate != nil {
		t.Errorf("%+v", first)
	}
	found := new(automation.Scanner).Scan(c.Layers(), o, time.Unix(2e9, 0))
	byName := map[string]automation.Definition{}
	for _, d := range found.Automations {
		byName[d.Scoped()] = d
	}
	sweep := byName["sweep"]
	if sweep.Gate != automation.Cron || sweep.Schedule.String() != "@daily" ||
		sweep.Timeout != 2*time.Hour || sweep.Off != "" {
		t.Errorf("%+v", sweep)
	}
	if tidy := byName["tidy"]; tidy.Off == "" {
		t.Errorf("%+v", tidy)
	}
	if want := `city.toml:13:8: automations.overrides.name: automation "sweeep" not found; did ` +
		`you mean "sweep"?`; found.Problems.Error() != want {
		t.Errorf("got %s\nwant %s", found.Problems.Error(), want)
	}
	const want = `city.toml:17:8: automations.overrides.pool: applies only to a formula; exec ` +
		`runs in the controller, without a pool`
	if len(found.Broken) != 1 || found.Broken[0].Problems.Error() != want {
		t.Errorf("got %+v\nwant %s", found.Broken, want)
	}
}
