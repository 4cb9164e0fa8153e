package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change to a file that a program can run changes the hash of a fetched topology. A change to a text does not.
func TestFetchedFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	commit := strings.Repeat("a", 40)
	tables, lock := "", ""
	for _, name := range []string{"far", "unused"} {
		tables += "[topologies." + name + "]\nsource = \"/r\"\npath = \"pack\"\n"
		lock += "[topologies." + name + "]\nsource = \"/r\"\ncommit = \"" + commit + "\"\n"
		write(".gc/topologies/"+name+"/.git/HEAD", commit+"\n", 0o644)
		write(".gc/topologies/"+name+"/pack/topology.toml", "[topology]\nname = \"x\"\nschema = 1\n", 0o644)
	}
	write("city.toml", "[workspace]\nname = \"t\"\ntopology = \"far\"\n"+tables, 0o600)
	write("topologies.lock", lock, 0o600)
	last := ""
	step := func(change string, differs bool) {
		t.Helper()
		c, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		all := c.FetchedFolders()
		if len(all) != 1 || all[0].What != "folder of topology far" {
			t.Fatalf("%s: got %+v", change, all)
		}
		if sum := all[0].Sum(); (sum != last) != differs {
			t.Errorf("%s: the hash has changed: %t, want %t", change, !differs, differs)
		} else {
			last = sum
		}
	}
	far := ".gc/topologies/far/"
	step("first", true)
	write(far+"lib/run.sh", "true", 0o644)
	step("a script outside the topology's folder", true)
	write(far+"lib/run.sh", "false", 0o644)
	step("its content", true)
	write(far+"lib/run.sh", "false", 0o755)
	step("its mode", true)
	write(far+"pack/README.md", "x", 0o644)
	write(far+"pack/prompts/a.md.tmpl", "x", 0o644)
	write(far+"pack/formulas/f.formula.toml", "x", 0o644)
	write(far+".git/index", "x", 0o644)
	step("texts", false)
	write(far+"pack/README.md", "x", 0o755)
	step("an executable text", true)
	if err := os.Symlink("run.sh", filepath.Join(dir, far, "lib", "link")); err != nil {
		t.Fatal(err)
	}
	step("a link", true)
}
