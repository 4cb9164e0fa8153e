package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/tui"
)

// An operator's edit is judged as a controller would, line and all, planned against what runs, and put in place of the
// text that it was made from only.
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	const was = "[workspace]\nname = \"town\"\n[session]\nprovider = \"fake\"\n[[agents]]\nname = \"a\"\nstart_command = \"true\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(was), 0o640); err != nil {
		t.Fatal(err)
	}
	f := &configFile{app: &app{now: time.Now}, dir: dir}
	if problems, line := f.Check([]byte(was)); len(problems) > 0 || line != 0 {
		t.Errorf("%q, %d", problems, line)
	}
	wrong := strings.Replace(was, "start_command", "start_comand", 1)
	if problems, line := f.Check([]byte(wrong)); len(problems) != 1 || line != 7 || !strings.HasPrefix(problems[0], "city.toml:7:1") {
		t.Errorf("%q, %d", problems, line)
	}
	now := was + "[[agents]]\nname = \"b\"\nstart_command = \"true\"\n[[agents]]\nname = \"c\"\nsuspended = true\nstart_command = \"true\"\n"
	plan, err := f.Plan(t.Context(), []byte(now))
	want := tui.Plan{Changes: []tui.Change{{Agent: "a", What: "start", Why: "not running"}, {Agent: "b", What: "start", Why: "not running"},
		{Agent: "c", What: "none", Why: "suspended by agent"}}}
	if diff := cmp.Diff(want, plan); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if err := f.Replace([]byte("another"), []byte(now)); err == nil {
		t.Error("it replaced a text that it was not made from")
	}
	if err := f.Replace([]byte(was), []byte(now)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path())
	info, statErr := os.Stat(f.Path())
	if err != nil || statErr != nil || string(data) != now || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", data, info, err)
	}
}
