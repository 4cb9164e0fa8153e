package config

import (
	"fmt"
	"strings"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
)

// A hung prompt or overlay folder does not block loading.
func TestHungPromptsAndOverlays(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, free := hungfs.Mount(t, false)
	dir := folderOf(t, map[string]string{FileName: "[[agents]]\nname = \"a\"\n" +
		"prompt_template = \"" + hung + "/p/p.md.tmpl\"\noverlay_dir = \"" + hung + "/o\"\n"})
	rereading(t, dir)
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, w := range c.Warnings {
		said = append(said, strings.TrimSuffix(w.String(), "; the agent cannot be started"))
	}
	want := "city.toml:3:19: agents.prompt_template: cannot be read: HUNG/p does not respond; " +
		"check what is mounted there, or use a different path\n" +
		"city.toml:4:15: agents.overlay_dir: cannot be used: HUNG/o does not respond; check what " +
		"is mounted there, or use a different path"
	if want = strings.ReplaceAll(want, "HUNG", hung); strings.Join(said, "\n") != want ||
		c.Agents[0].Fault != strings.SplitN(want, "\n", 2)[0] {
		t.Errorf("%v, want %s", said, want)
	}
	free()
	eventually.True(t, "the folder is read again once it responds", func() bool {
		c, err := Load(dir)
		return err == nil && !strings.Contains(fmt.Sprint(c.Warnings), "does not respond")
	})
}
