package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gcity/config"
)

// A watch notices a new or removed rig folder without polling.
func TestCityReportsRigFolders(t *testing.T) {
	dir := folder(t, "")
	project := filepath.Join(folder(t, ""), "src", "mine", "demo")
	put(t, filepath.Join(dir, config.FileName), agents(1)+"[[rigs]]\nname = \"demo\"\npath = \""+
		project+"\"\n")
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond, Poll: time.Hour})
	expect := func(want string) {
		t.Helper()
		c, err := config.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Rigs[0].Problem; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect(project + " does not exist; create it, or use a different path")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	poked(t, pokes)
	expect("")
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}
	poked(t, pokes)
	expect(project + " does not exist; create it, or use a different path")
	put(t, project, "a file")
	poked(t, pokes)
	expect(project + " is not a folder; use a different path")
}

func TestMissingAncestor(t *testing.T) {
	dir := folder(t, "")
	for path, want := range map[string]string{"/": "/", dir: dir, dir + "/a": dir + "/a",
		dir + "/a/b/c": dir + "/a", "/usr/none": "/usr/none"} {
		if got := missingAncestor(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
