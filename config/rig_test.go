package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrefixOf(t *testing.T) {
	for name, want := range map[string]string{
		"demo": "de", "app": "app", "a": "a", "X": "x", "beads-go": "be", "tool-py": "to",
		"go-go": "go", "my-app": "ma", "my_big_app": "mba",
		"myApp": "ma", "MyApp": "ma", "HTTPServer": "ht", "my.app": "ma", "my-app-go": "ma",
		"a-b": "ab", "gopy": "go", "x--y": "xy", "v2Web": "vw",
		strings.Repeat("a-", 32): "aaaaaaaaaaaaaaaa",
	} {
		if got := prefixOf(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// Every city has a prefix that can begin an ID.
func TestPrefixOfCity(t *testing.T) {
	for name, want := range map[string]string{"bright-lights": "bl", "town": "to", "Web": "web",
		"---": "gc", "": "gc", "été": "gc", "a_": "a"} {
		c := City{Workspace: Workspace{Name: name}}
		if got := c.Prefix(); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// A city and its rigs never share a prefix.
func TestPrefixesAreUnique(t *testing.T) {
	const text = "[workspace]\nname = \"alpha\"\n[[rigs]]\nname = \"alpine\"\npath = \"/usr\"\n"
	_, err := Parse("/srv/app", []byte(text))
	want := `city.toml:4:8: rigs.prefix: "al", derived from the name "alpine", is the prefix ` +
		`of the city's own work; use a different one, such as prefix = "alp"`
	if err == nil || err.Error() != want {
		t.Fatalf("got %v\nwant %s", err, want)
	}
	if c, err := Parse("/srv/app", []byte(text+"prefix = \"alp\"\n")); err != nil ||
		c.Rigs[0].Prefix != "alp" {
		t.Errorf("%v", err)
	}
	taken := map[string]*Rig{"ab": nil, "ab2": nil}
	if got := unusedPrefix("a-b", taken); got != "ab3" {
		t.Errorf("%q", got)
	}
}

// Two rigs cannot share a folder, even if they reach it by different paths.
func TestRigsInOneFolder(t *testing.T) {
	dir := folder(t, "")
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, FileName), "[[rigs]]\nname = \"one\"\npath = \"real\"\n[[rigs]]\n"+
		"name = \"two\"\npath = \"//link\"\n")
	_, err := Load(dir)
	if want := `city.toml:6:8: rigs.path: is already the folder of the rig "one", at ` +
		`city.toml:3:8; choose a different folder`; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// A rig's folder that cannot be used is reported as the rig's problem. The city still loads.
func TestUnusableRigFolder(t *testing.T) {
	dir := folder(t, "")
	put(t, filepath.Join(dir, "file"), "")
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"none": filepath.Join(dir, "none") + " does not exist; create it, or use a different " +
			"path",
		"file":      filepath.Join(dir, "file") + " is not a folder; use a different path",
		"file/more": "stat " + filepath.Join(dir, "file/more") + ": not a directory",
		"locked": locked + " cannot be entered (permission denied); change its permissions, or use a different " +
			"path",
		"/usr": "",
	} {
		if path == "locked" && os.Getuid() == 0 {
			continue // root may enter any folder
		}
		put(t, filepath.Join(dir, FileName), "[[rigs]]\nname = \"demo\"\npath = \""+path+"\"\n")
		c, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Rigs[0].Problem; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
