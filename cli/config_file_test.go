package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/tui"
)

// The control room checks and plans an edit as the controller would. It replaces the file only if nothing else has
// changed it.
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	const was = "[workspace]\nname = \"town\"\n[session]\nprovider = \"fake\"\n[[agents]]\nname = \"a\"\nstart_command = \"true\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(was), 0o640); err != nil {
		t.Fatal(err)
	}
	f := &configFile{app: &env.Env{Printer: output.Printer{Now: time.Now}}, dir: dir}
	if problems, line := f.Check("", []byte(was)); len(problems) > 0 || line != 0 {
		t.Errorf("%q, %d", problems, line)
	}
	wrong := strings.Replace(was, "start_command", "start_comand", 1)
	if problems, line := f.Check("", []byte(wrong)); len(problems) != 1 || line != 7 || !strings.HasPrefix(problems[0], "city.toml:7:1") {
		t.Errorf("%q, %d", problems, line)
	}
	now := was + "[[agents]]\nname = \"b\"\nstart_command = \"true\"\n[[agents]]\nname = \"c\"\nsuspended = true\nstart_command = \"true\"\n"
	plan, err := f.Plan(t.Context(), "", []byte(now))
	want := tui.Plan{Changes: []tui.Change{{Agent: "a", Kind: "start", Why: "not running"}, {Agent: "b", Kind: "start", Why: "not running"},
		{Agent: "c", Kind: "none", Why: "suspended in city.toml"}}}
	if diff := difference(want, plan); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if err := f.Replace("", []byte("another"), []byte(now)); err == nil {
		t.Error("Replace overwrote a file that had changed")
	}
	if err := f.Replace("", []byte(was), []byte(now)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path(""))
	info, statErr := os.Stat(f.Path(""))
	if err != nil || statErr != nil || string(data) != now || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", data, info, err)
	}
}

// withSnapshot is a running city.
type withSnapshot struct {
	city.Control
	s city.Snapshot
}

func (c *withSnapshot) Snapshot(context.Context) (*city.Snapshot, error) { return &c.s, nil }

// A plan also contains settings that change without an effect on an agent.
func TestConfigFilePlansSettings(t *testing.T) {
	dir := t.TempDir()
	const was = "[workspace]\nname = \"town\"\n[session]\nprovider = \"fake\"\n[daemon]\npatrol_interval = \"2s\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(was), 0o640); err != nil {
		t.Fatal(err)
	}
	running := &withSnapshot{s: city.Snapshot{Name: "town", Patrol: city.Patrol{Interval: time.Second}}}
	f := &configFile{app: &env.Env{Printer: output.Printer{Now: time.Now}}, dir: dir, ctl: running}
	plan, err := f.Plan(t.Context(), "", []byte(was))
	if want := []string{"patrol_interval of daemon: 1s → 2s"}; err != nil || !slices.Equal(plan.Settings, want) {
		t.Errorf("%q, %v", plan.Settings, err)
	}
}

// The control room edits included files and topologies in the city's folder like city.toml, and no other files.
func TestOtherConfigFiles(t *testing.T) {
	dir := t.TempDir()
	const team, crew = "[[agents]]\nname = \"b\"\nstart_command = \"true\"\n", "[topology]\nname = \"crew\"\nschema = 1\n[[agents]]\nname = \"c\"\nstart_command = \"true\"\n"
	if err := os.Mkdir(filepath.Join(dir, "crew"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"city.toml": "include = [\"team.toml\"]\n[workspace]\nname = \"town\"\ntopology = \"crew\"\n[session]\nprovider = \"fake\"\n",
		"team.toml": team, "crew/topology.toml": crew} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	f := &configFile{app: &env.Env{Printer: output.Printer{Now: time.Now}}, dir: link}
	for file, was := range map[string]string{"team.toml": team, "crew/topology.toml": crew} {
		lines := strings.Count(was, "\n")
		if problems, line := f.Check(file, []byte(was+"naem = \"x\"\n")); len(problems) != 1 || line != lines+1 || !strings.HasPrefix(problems[0], file+":") {
			t.Errorf("%s: %q, %d", file, problems, line)
		}
		now := was + "[[agents]]\nname = \"d\"\nstart_command = \"true\"\n"
		if problems, line := f.Check(file, []byte(now)); len(problems) > 0 || line != 0 {
			t.Errorf("%s: %q, %d", file, problems, line)
		}
		plan, err := f.Plan(t.Context(), file, []byte(now))
		starts := tui.Change{Agent: "d", Kind: "start", Why: "not running"}
		if err != nil || len(plan.Changes) != 3 || plan.Changes[2] != starts {
			t.Errorf("%s: %+v, %v", file, plan, err)
		}
		if err := f.Replace(file, []byte("another"), []byte(now)); err == nil {
			t.Errorf("%s: Replace overwrote a file that had changed", file)
		}
		if data, err := os.ReadFile(f.Path(file)); err != nil || string(data) != was {
			t.Errorf("%s: %q, %v", file, data, err)
		}
		if err := f.Replace(file, []byte(was), []byte(was+"# new\n")); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(data) != was+"# new\n" {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
	for file, why := range map[string]string{"": "", "team.toml": "", "crew/topology.toml": "", "/etc/team.toml": "outside the city's folder",
		"../team.toml": "outside the city's folder", "environment GC_SESSION": "not a TOML file",
		".gc/topologies/hall/parts/topology.toml": "change parts/topology.toml there, then run `gcity topology fetch hall`"} {
		if got := f.ReadOnlyReason(file); !strings.Contains(got, why) || (got == "") != (why == "") {
			t.Errorf("%q: %q", file, got)
		}
	}
}
