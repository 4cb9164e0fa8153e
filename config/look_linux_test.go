package config

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	wait "gcity/internal/await"
	"gcity/internal/mute"
)

// A folder that does not answer is its rig's problem: the others are known, nobody asks it twice at a time, and when it
// answers that is known too.
func TestRigsFolderDoesNotAnswer(t *testing.T) {
	if !mute.Apart(t) {
		return
	}
	hung, _, free := mute.Folder(t, false)
	dir := folder(t, "")
	project := filepath.Join(hung, "project")
	put(t, filepath.Join(dir, FileName), "[[rigs]]\nname = \"hung\"\npath = \""+project+"\"\n[[rigs]]\nname = \"well\"\npath = \"/usr\"\n")
	load := func() *City {
		t.Helper()
		c, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	watching(t, dir, WatchOptions{Quiet: time.Millisecond, Poll: 2 * time.Millisecond, Polling: true})
	revision := ""
	for range 5 {
		c := load()
		if want := project + " does not answer; look at what is mounted there, or write another path"; c.Rigs[0].Problem != want || c.Rigs[1].Problem != "" {
			t.Errorf("%q, want %q; %q", c.Rigs[0].Problem, want, c.Rigs[1].Problem)
		}
		if revision != "" && c.Revision != revision {
			t.Error("the configuration is another one at each look")
		}
		revision = c.Revision
		under := folders.Under()
		if under > 2 { // the watch may be looking at the other one just now
			t.Errorf("%d looks are under way", under)
		}
	}
	free()
	wait.Until(t, "what answers now is taken for one that does", func() bool { return !strings.Contains(load().Rigs[0].Problem, "does not answer") })
}

// Formulas and automations are watched in the folders that answer, whatever another one does.
func TestWatchFoldersThatDoNotAnswer(t *testing.T) {
	if !mute.Apart(t) {
		return
	}
	hung, _, free := mute.Folder(t, false)
	dir := folder(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan (<-chan struct{}), 1)
	go func() {
		pokes, err := WatchFolders(ctx, []string{filepath.Join(hung, "formulas"), dir}, nil, WatchOptions{Quiet: time.Millisecond})
		if err != nil {
			t.Error(err)
		}
		begun <- pokes
	}()
	late := time.After(patience)
	var pokes <-chan struct{}
	select {
	case pokes = <-begun:
	case <-late:
		free()
		t.Fatal("the watch does not begin")
	}
	put(t, filepath.Join(dir, "a.formula.toml"), "")
	select {
	case <-pokes:
	case <-late:
		t.Error("a change beside it is not seen")
	}
	cancel()
	for open := true; open; {
		select {
		case _, open = <-pokes:
		case <-late:
			free()
			t.Fatal("the watch does not end")
		}
	}
}
