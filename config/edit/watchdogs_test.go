package edit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/config"
)

func watchdogCity(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	tree := os.DirFS(filepath.Join("..", "testdata", "watchdogs"))
	err := fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Removing a rig also removes its watchdogs and their patches.
func TestRemoveRigWithWatchdogs(t *testing.T) {
	files := watchdogCity(t)
	files["city.toml"] += "\n[[watchdogs]]\nname = \"more\"\nrig = \"south\"\nwatches = \"judge\"\n"
	files["packs/lane/topology.toml"] = strings.Replace(files["packs/lane/topology.toml"], `triage = "judge"`, "", 1)
	dir := folderOf(t, files)
	if _, err := config.Load(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := RemoveRig(config.Source{Dir: dir}, "south", false); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Watchdogs {
		if c.Watchdogs[i].Rig == "south" {
			t.Errorf("%+v", c.Watchdogs[i])
		}
	}
	if data, _ := os.ReadFile(filepath.Join(dir, config.FileName)); strings.Contains(string(data), "south") {
		t.Errorf("%s", data)
	}
}
