package config

import (
	"strings"
	"testing"
	"time"

	wait "gcity/internal/await"
	"gcity/internal/mute"
)

// What agents are told and given may be where nobody answers: that is said, and holds nobody up.
func TestPromptsAndOverlaysThatDoNotAnswer(t *testing.T) {
	if !mute.Apart(t) {
		return
	}
	hung, _, free := mute.Folder(t, false)
	dir := folderOf(t, map[string]string{FileName: "[[agents]]\nname = \"a\"\nprompt_template = \"" + hung + "/p/p.md.tmpl\"\noverlay_dir = \"" + hung + "/o\"\n"})
	watching(t, dir, WatchOptions{Quiet: time.Millisecond, Poll: 2 * time.Millisecond, Polling: true})
	_, err := Load(dir)
	want := "city.toml:3:19: agents.prompt_template: cannot be read: HUNG/p does not answer; look at what is mounted there, or write another path\n" +
		"city.toml:4:15: agents.overlay_dir: cannot be used: HUNG/o does not answer; look at what is mounted there, or write another path"
	if want = strings.ReplaceAll(want, "HUNG", hung); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	free()
	wait.Until(t, "what answers now is taken for one that does", func() bool {
		_, err := Load(dir)
		return err != nil && !strings.Contains(err.Error(), "does not answer")
	})
}
