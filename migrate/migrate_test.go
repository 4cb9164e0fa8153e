package migrate

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gcity/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func unpack(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "city")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		info, _ := e.Info()
		out[rel] = fmt.Sprintf("%s %s\n%s", info.Mode(), info.ModTime(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Cities of several shapes are converted to valid cities.
func TestConvert(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no cities to convert", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := unpack(t, a.Files)
			if _, err := config.Load(dir); err == nil ||
				!strings.Contains(err.Error(), "gcity import gas-city "+dir) {
				t.Errorf("the pack format was not recognized: %v", err)
			}
			before := contents(t, filepath.Dir(dir))
			r, err := Convert(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			if r.Out != dir+"-gcity" {
				t.Errorf("written to %s", r.Out)
			}
			for name, was := range before {
				if now := contents(t, filepath.Dir(dir))[name]; now != was {
					t.Errorf("%s: the original was changed", name)
				}
			}
			if _, err := config.Load(r.Out); err != nil {
				t.Errorf("the result is invalid: %v", err)
			}
			golden(t, strings.TrimSuffix(path, ".txtar")+".golden", shown(t, r))
		})
	}
}

func shown(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "agents: %s\ntopologies: %s\nautomations: %s\nformulas: %s\n",
		strings.Join(r.Agents, ", "),
		strings.Join(r.Topologies, ", "), strings.Join(r.Automations, ", "),
		strings.Join(r.Formulas, ", "))
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	files := contents(t, r.Out)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, text, _ := strings.Cut(files[name], "\n")
		fmt.Fprintf(&b, "\n-- %s --\n%s", name, text)
	}
	parent := filepath.Dir(r.Out)
	return strings.ReplaceAll(b.String(), parent, "PARENT")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the result differs from %s; run with -update and read the difference\n%s", path,
			got)
	}
}

// Invalid input is reported with its position. No files are left behind.
func TestRefused(t *testing.T) {
	const city = "-- city.toml --\n[workspace]\nstart_command = \"exec sh -i\"\n"
	const pack = "-- packs/a/pack.toml --\n[pack]\nname = \"a\"\nschema = 2\n"
	tests := []struct{ name, files, want string }{
		{"broken city.toml", "-- city.toml --\n[imports.a]\nsource = \"x\n", "city.toml:2:"},
		{"broken agent.toml", city + "[imports.a]\nsource = \"packs/a\"\n" + pack +
			"-- packs/a/agents/b/agent.toml --\nscope = city\n", "packs/a/agents/b/agent.toml:1:9"},
		{"broken order", city + "[agent_defaults]\nprovider = \"claude\"\n-- orders/x.toml " +
			"--\n[order\n", "orders/x.toml:1:"},
		{"folder without a pack", city + "[imports.a]\nsource = \"packs/a\"\n-- " +
			"packs/a/README --\nx\n", "pack.toml does not exist in packs/a"},
		{"list of imports in a pack", "-- city.toml --\n-- pack.toml --\nimports = [\"a\"]\n[pack]\n" +
			"name = \"x\"\nschema = 2\n", "pack.toml:1:1: imports is not a table"},
		{"import without a source", city + "[imports.a]\nversion = \"1\"\n",
			`the import "a" has no source`},
		{"included file is missing", "-- city.toml --\ninclude = [\"x.toml\"]\n[imports.a]\n" +
			"source = \"b\"\n", "includes x.toml, which does not exist"},
		{"cycle", city + "[imports.a]\nsource = \"packs/a\"\n" + pack +
			"[imports.b]\nsource = \"../b\"\n" +
			"-- packs/b/pack.toml --\n[pack]\nname = \"b\"\nschema = 2\n[imports.a]\nsource " +
			"= \"../a\"\n",
			"the imports form a cycle: packs/a → packs/b → packs/a"},
		{"import of itself", city + "[imports.a]\nsource = \".\"\n-- pack.toml --\n[pack]\nname " +
			"= \"a\"\nschema = 2\n", "form a cycle"},
		{"two rigs with one name", city + "[daemon]\nformula_v2 = true\n[[rigs]]\nname = \"r\"\npath " +
			"= \"/a\"\n[[rigs]]\nname = \"r\"\npath = \"/b\"\n",
			`another rig has the name "r"`},
		{"two agents with one name", city + "[daemon]\nformula_v2 = true\n[[agent]]\nname = \"x\"\n" +
			"-- pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n[[agent]]\nname = \"x\"\n",
			`the name "x" is already used by the agent at `},
		{"an invalid name", city + "[daemon]\nformula_v2 = true\n-- agents/x " +
			"y/prompt.md --\nx\n", `invalid agent name "x y"`},
		{"an invalid value", city + "[daemon]\nformula_v2 = true\npatrol_interval " +
			"= \"soon\"\n", "daemon.patrol_interval"},
		{"an invalid value, with its line in the result", city + "[daemon]\nformula_v2 = true\n" +
			"patrol_interval = \"soon\"\n", "\n      patrol_interval = \"soon\""},
		{"no city", "-- README --\nx\n", "has neither a city.toml nor a pack.toml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := unpack(t, txtar.Parse([]byte(tt.files)).Files)
			_, err := Convert(dir, "")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Convert: got %v, want %q", err, tt.want)
			}
			nothingBeside(t, dir)
		})
	}
}

func nothingBeside(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: got %v %v", entries, err)
	}
}

func TestFolders(t *testing.T) {
	files := txtar.Parse([]byte("-- city.toml --\n[imports.a]\nsource = " +
		"\"https://example.org/a.git\"\n")).Files
	dir := unpack(t, files)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ dir, out, want string }{
		"target not empty":   {dir, full, "is not empty"},
		"target in the city": {dir, filepath.Join(dir, "new"), "is inside the city"},
		"target is the city": {dir, dir, "is inside the city"},
		"target is a file":   {dir, filepath.Join(full, "mine"), "cannot write to"},
		"no folder":          {filepath.Join(dir, "city.toml"), "", "is not a folder"},
		"missing":            {filepath.Join(dir, "none"), "", "cannot read the city"},
	} {
		_, err := Convert(tt.dir, tt.out)
		if folder := (FolderError{}); !errors.As(err, &folder) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	empty := t.TempDir()
	if r, err := Convert(dir, empty); err != nil || !exists(filepath.Join(empty, "city.toml")) {
		t.Errorf("an empty folder was rejected: %v %v", r, err)
	}
}

// A city that gcity can already read is not converted.
func TestNotPackModel(t *testing.T) {
	dir := unpack(t, txtar.Parse([]byte("-- city.toml --\n[workspace]\nname = \"x\"\n-- "+
		"packs/a/pack.toml --\n"+
		"[pack]\nname = \"a\"\nschema = 1\n-- orders/a.toml --\nx = 1\n")).Files)
	if _, err := config.Load(dir); err != nil {
		t.Errorf("Load: %v", err)
	}
	if _, err := Convert(dir, ""); !errors.Is(err, ErrNotPackModel) {
		t.Errorf("Convert: %v", err)
	}
	nothingBeside(t, dir)
}

// The error for a city that gcity cannot read, and that is not in the pack format, does not say that gcity can read it.
func TestNeitherFormat(t *testing.T) {
	dir := unpack(t, txtar.Parse([]byte("-- city.toml --\n[city]\nname = \"x\"\n")).Files)
	_, err := Convert(dir, "")
	if !errors.Is(err, ErrNotPackModel) || !strings.Contains(err.Error(), "correct the errors") {
		t.Errorf("Convert: %v", err)
	}
	nothingBeside(t, dir)
}

// Keys that only resemble keys of gcity are noted and not converted.
func TestOddKeys(t *testing.T) {
	dir := unpack(t, []txtar.File{
		{Name: "city.toml", Data: []byte("[workspace]\nname = \"x\"\n[daemon]\n\"\" = \"q\"\n[session]\n\"k8s.namespace\" = \"z\"\n")},
		{Name: "pack.toml", Data: []byte("[pack]\nname = \"x\"\nschema = 2\n")},
		{Name: "agents/a/prompt.md", Data: []byte("Work.\n")},
	})
	got, err := Convert(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	notes := fmt.Sprint(got.Notes)
	for _, want := range []string{" in [daemon] has no equivalent", "k8s.namespace in [session] has no equivalent"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q; want %q", notes, want)
		}
	}
}

// A value of the wrong type is an error.
func TestInvalidValuesAreRefused(t *testing.T) {
	dir := unpack(t, []txtar.File{
		{Name: "city.toml", Data: []byte("[workspace]\nname = \"x\"\n[daemon]\nmax_restarts = 1.5\n" +
			"restart_window = 2026-01-02\n")},
		{Name: "pack.toml", Data: []byte("[pack]\nname = \"x\"\nschema = 2\n")},
		{Name: "agents/a/prompt.md", Data: []byte("Work.\n")},
	})
	_, err := Convert(dir, "")
	for _, want := range []string{"daemon.max_restarts: is a floating-point number", "daemon.restart_window: is a date or time"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// A later overlay layer replaces the files and links of an earlier one, and does not write through its links.
func TestOverlayLayersWithLinks(t *testing.T) {
	dir := t.TempDir()
	c := &conversion{dir: dir, stage: filepath.Join(dir, "stage"), Report: &Report{}}
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for path, text := range map[string]string{"first/notes": "first", "first/sub/x": "first", "second/file": "second", "second/folder/x": "second"} {
		if err := writeFile(filepath.Join(dir, path), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{{first + "/same", "notes"}, {first + "/file", "notes"}, {first + "/folder", "sub"}, {second + "/same", "file"}} {
		if err := os.Symlink(link[1], link[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{first, second} {
		if err := c.overlayLayer(layerCopy{from: from, to: "o"}); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"notes": "first", "sub/x": "first", "same": "second", "file": "second", "folder/x": "second"} {
		if got, err := os.ReadFile(filepath.Join(c.stage, "o", path)); string(got) != want {
			t.Errorf("%s: got %q, want %q (%v)", path, got, want, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(c.stage, "o", "same")); to != "file" {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
}
