package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/config"
	"gcity/config/edit"
	"gcity/pool"
)

func TestJudgeGroups(t *testing.T) {
	pools := []agent.Pool{{Spec: pool.Spec{Name: "w", Min: 1, Max: 3}, Source: "city.toml:4:1"}}
	for _, c := range []struct {
		f           finding
		state, says string
	}{
		{judgeOverrides(nil, pools), "ok", "0 pools set by hand"},
		{judgeOverrides(map[string]int{"w": 3}, pools), "ok", "1 pool set by hand"},
		{judgeOverrides(map[string]int{"w": 4}, pools), "note",
			"w is set to 4, but its limits are 1 to 3 (city.toml:4:1)"},
		{judgeOverrides(map[string]int{"gone": 1, "w": 1}, pools), "note", "unknown pool gone"},
		{judgeRigs([]agent.Rig{{Name: "demo"}}), "ok", "1 rig"},
		{judgeRigs([]agent.Rig{{Name: "demo"},
			{Name: "lost", Problem: "its folder is missing", Source: "city.toml:9:1"}}), "bad",
			"lost (city.toml:9:1): its folder is missing"},
		{judgeRuns([]city.Automation{{Name: "a"}}), "ok", "none is failing"},
		{judgeRuns([]city.Automation{{Name: "a"}, {Name: "b", Failures: 2}}), "note",
			"b is failing: 2 failed runs in a row"},
		{judgeRuns(slices.Repeat([]city.Automation{{Name: "b", Failures: 2}}, 4)), "note", "a row\nb is failing"},
	} {
		if strings.Contains(c.says, "failed runs") && c.f.Fix != "run `gcity automation history b` to see why" {
			t.Errorf("the fix is %q", c.f.Fix)
		}
		if strings.Contains(c.says, "\nb") && c.f.Fix != "run `gcity automation history NAME` to see why" {
			t.Errorf("the fix for many automations is %q", c.f.Fix)
		}
		if c.f.State != c.state || !strings.Contains(c.f.Detail, c.says) ||
			(c.state != "ok" && c.f.Fix == "") {
			t.Errorf("got %+v, want %s: %s", c.f, c.state, c.says)
		}
	}
}

// The advice for agents that cannot start refers to their session provider only if that cannot start any agent.
func TestAdviceForAgentsThatCannotStart(t *testing.T) {
	wants := []agent.Want{{Name: "a", Declared: "a"}, {Name: "b", Declared: "b"}}
	unfit := func(w *agent.Want) string { return map[string]string{"a": "no program"}[w.Name] }
	for _, provider := range []finding{ok("it works"), bad("", "it is missing")} {
		f := judgeAgents(wants, unfit, func(string) finding { return provider })
		if f.State != "bad" || strings.Contains(f.Fix, "session provider below") !=
			(provider.State == "bad") {
			t.Errorf("provider %s: got %+v", provider.State, f)
		}
	}
}

func TestDamagedOverrides(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".gc", edit.OverridesFile)
	if err := os.WriteFile(file, []byte("[pools]\nw = \"many\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := checkOverrides(t.Context(), &Subject{dir: dir}); f.State != "bad" ||
		!strings.Contains(f.Detail, file) {
		t.Errorf("%+v", f)
	}
}

func TestDoctorShowsTheRevisionInForce(t *testing.T) {
	conf := &config.City{Revision: "bbbbbbbbbbbb0123"}
	mistakes := &config.Error{Problems: []config.Problem{{Message: "one"}, {Message: "two"}}}
	running := func(c city.ConfigInfo) *city.Snapshot {
		c.Revision = "aaaaaaaaaaaa"
		return &city.Snapshot{Config: c}
	}
	for _, c := range []struct {
		p           Subject
		state, says string
	}{
		{Subject{config: conf}, "ok", "0 agents declared, revision bbbbbbbbbbbb"},
		{Subject{config: conf, Running: &city.Snapshot{
			Config: city.ConfigInfo{Revision: "bbbbbbbbbbbb"}}}, "ok",
			"0 agents declared, revision bbbbbbbbbbbb"},
		{Subject{config: conf, Running: running(city.ConfigInfo{})}, "note",
			"revision bbbbbbbbbbbb has not been read yet; revision aaaaaaaaaaaa is in force"},
		{Subject{config: conf, Running: running(
			city.ConfigInfo{Held: &city.Held{Revision: "bbbbbbbbbbbb", Removes: []string{"y", "x"},
				Running: 3}})},
			"note", "revision bbbbbbbbbbbb is held: it removes 2 of 3 running agents (x, y); " +
				"revision aaaaaaaaaaaa is in force"},
		{Subject{config: conf, Running: running(city.ConfigInfo{Rejected: "another name"})},
			"bad", "revision bbbbbbbbbbbb is invalid; revision aaaaaaaaaaaa is in force:\n" +
				"another name"},
		{Subject{invalid: mistakes, Running: running(city.ConfigInfo{})}, "bad",
			"2 errors; revision aaaaaaaaaaaa is in force:\none\ntwo"},
		{Subject{invalid: mistakes}, "bad", "2 errors:\none\ntwo"},
	} {
		if f := checkCity(t.Context(), &c.p); f.State != c.state || f.Detail != c.says {
			t.Errorf("got %+v, want %s: %s", f, c.state, c.says)
		}
	}
}

func TestFindingsOfSeveralLines(t *testing.T) {
	var out bytes.Buffer
	a := &env.Env{Printer: output.Printer{Out: &out, Getenv: func(string) string { return "" }}}
	if err := printFindings(a, []finding{{Check: "configuration", State: "bad",
		Detail: "2 errors:\none\ntwo", Fix: "edit"}}); err != nil {
		t.Fatal(err)
	}
	want := "     CHECK          FOUND\nbad  configuration  2 errors:\n                    " +
		"one\n                    two\n                    -> edit\n"
	if out.String() != want {
		t.Error(cmp.Diff(want, out.String()))
	}
}
