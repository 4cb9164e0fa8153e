package formula

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write creates files in a new folder. Content that begins with "->" makes a symbolic link.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "->")
		var err error
		if link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func small(name string) string {
	return "formula = \"" + name + "\"\n[[steps]]\nid = \"a\"\ntitle = \"x\"\n"
}

func TestTheHighestLayerWinsWhole(t *testing.T) {
	low := write(t, map[string]string{"a.formula.toml": small("a"), "b.formula.toml": small("b"), "cook.formula.toml": small("cook"),
		"notes.txt": "", "d.formula.toml/x": "", " odd.formula.toml": "", "sub/e.formula.toml": small("e")})
	high := write(t, map[string]string{"b.formula.toml": "broken", "cook.formula.toml": small("cook")})
	layers := []Layer{{Dir: filepath.Join(low, "none")}, {Dir: low, Title: "low"}, {Dir: high, Title: "high"}}
	got, err := Resolve(layers)
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{
		{"a", filepath.Join(low, "a.formula.toml"), layers[1]},
		{"b", filepath.Join(high, "b.formula.toml"), layers[2]},
		{"cook", filepath.Join(high, "cook.formula.toml"), layers[2]},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if f, err := Find("cook", got); err != nil || f.Source != want[2].Path {
		t.Errorf("%v %v", f, err)
	}
	// A broken formula is an error. The version in a lower layer does not replace it.
	if _, err := Find("b", got); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(high, "b.formula.toml")+":1:") {
		t.Errorf("a broken formula: got %v", err)
	}
	for name, want := range map[string]string{
		"coook": "formula \"coook\" not found; did you mean \"cook\"? Run `gcity formula list` to see all",
		"other": "formula \"other\" not found; run `gcity formula list` to see all",
	} {
		if _, err := Find(name, got); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A layer that cannot be read is an error. If it were treated as empty, its links would be removed.
func TestUnreadableLayer(t *testing.T) {
	dir := write(t, map[string]string{"a.formula.toml": small("a")})
	if got, err := Resolve([]Layer{{Dir: filepath.Join(dir, "a.formula.toml"), Title: "city"}}); err == nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestLink(t *testing.T) {
	src := write(t, map[string]string{"a.formula.toml": small("a"), "b.formula.toml": small("b"), "c.formula.toml": small("c")})
	scope := write(t, map[string]string{
		".beads/formulas/c.formula.toml":     "mine",
		".beads/formulas/mine.formula.toml":  "mine",
		".beads/formulas/stale.formula.toml": "->/nowhere/stale.formula.toml",
		".beads/formulas/b.formula.toml":     "->/elsewhere/b.formula.toml",
		".beads/formulas/other":              "->/nowhere",
	})
	dir := filepath.Join(scope, ".beads/formulas")
	winners, err := Resolve([]Layer{{Dir: src}})
	if err != nil {
		t.Fatal(err)
	}
	done, err := Link(dir, winners)
	if err != nil || !slices.Equal(done.Made, []string{"a", "b"}) || !slices.Equal(done.Removed, []string{"stale"}) || !slices.Equal(done.Kept, []string{"c"}) {
		t.Fatalf("%+v, %v", done, err)
	}
	before := look(t, dir)
	want := "a.formula.toml -> " + src + "/a.formula.toml\nb.formula.toml -> " + src + "/b.formula.toml\n" +
		"c.formula.toml = mine\nmine.formula.toml = mine\nother -> /nowhere\n"
	if before != want {
		t.Errorf("got:\n%s\nwant:\n%s", before, want)
	}
	stamp := stamps(t, dir)
	if done, err = Link(dir, winners); err != nil || len(done.Made)+len(done.Removed) > 0 || stamps(t, dir) != stamp {
		t.Errorf("the second call changed something: %+v, %v", done, err)
	}
	if done, err = Link(dir, nil); err != nil || !slices.Equal(done.Removed, []string{"a", "b"}) || !strings.HasPrefix(look(t, dir), "c.formula.toml = mine\n") {
		t.Errorf("without formulas: got %+v, %v\n%s", done, err, look(t, dir))
	}
	none := filepath.Join(scope, "rig", ".beads", "formulas")
	if done, err = Link(none, nil); err != nil || len(done.Removed) > 0 {
		t.Errorf("in a missing folder: got %+v, %v", done, err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("an unneeded folder was created")
	}
}

// Link creates .beads as a store would: only the owner can read the folder, and git ignores it.
func TestLinkCreatesItsOwnFolder(t *testing.T) {
	src := write(t, map[string]string{"a.formula.toml": small("a")})
	winners, err := Resolve([]Layer{{Dir: src}})
	if err != nil {
		t.Fatal(err)
	}
	scope := t.TempDir()
	if _, err := Link(filepath.Join(scope, ".beads", "formulas"), winners); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(scope, ".beads"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: got %v, %v", info.Mode(), err)
	}
	if data, err := os.ReadFile(filepath.Join(scope, ".beads", ".gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf(".gitignore: %q, %v", data, err)
	}
	if _, err := Link(filepath.Join(scope, "gone", ".beads", "formulas"), winners); err == nil {
		t.Error("a missing scope was created")
	}
}

func look(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type() == fs.ModeSymlink {
			target, _ := os.Readlink(path)
			out += e.Name() + " -> " + target + "\n"
			continue
		}
		data, _ := os.ReadFile(path)
		out += e.Name() + " = " + string(data) + "\n"
	}
	return out
}

// stamps returns text that changes whenever an entry of a folder is replaced, even by an identical one.
func stamps(t *testing.T, dir string) string {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().String() + look(t, dir)
}

// The built-in formulas are valid, can be cooked, and are written only if the files on disk differ.
func TestSystem(t *testing.T) {
	runtime := write(t, map[string]string{"system/formulas/gone.formula.toml": "old"})
	layer, err := System(runtime)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Resolve([]Layer{layer})
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, s := range all {
		f, err := Find(s.Name, all)
		if err != nil || len(f.Warnings) > 0 {
			t.Errorf("%s: %v, %v", s.Name, err, f)
			continue
		}
		vars := map[string]string{}
		for _, name := range f.RequiredVars() {
			vars[name] = "x"
		}
		if m, err := Cook(f, vars); err != nil || strings.Contains(m.Root.Description+m.Steps[0].Title, "{{") {
			t.Errorf("%s: %v, %v", s.Name, m, err)
		}
	}
	if _, err := os.Stat(filepath.Join(layer.Dir, "gone.formula.toml")); err == nil {
		t.Error("a formula that is no longer built in was not removed")
	}
	stamp := stamps(t, layer.Dir)
	path := filepath.Join(layer.Dir, all[0].Name+Suffix)
	if _, err := System(runtime); err != nil || stamps(t, layer.Dir) != stamp {
		t.Errorf("the second call changed something: %v", err)
	}
	if err := os.WriteFile(path, []byte("spoilt"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := System(runtime); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Errorf("a changed file was not restored: %v", err)
	}
}
