package perform

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

// A purge removes the crash files, heartbeats and records of turns of agents that the city has not had for a long time.
func TestPurgeRemovesAgentFiles(t *testing.T) {
	w, _ := workBench(t)
	now := time.Now()
	old := now.Add(-agentFilesTTL - time.Hour)
	files := map[string]bool{} // whether the file stays
	add := func(at time.Time, stays bool, parts ...string) {
		path := filepath.Join(append([]string{w.r.w.At, ".gc"}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, changed := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(changed, at, at); err != nil {
				t.Fatal(err)
			}
		}
		files[path] = stays
	}
	rigAgent := session.Encode("rig/worker")
	add(old, true, "crashes", rigAgent, "1.ansi")
	add(old, false, "crashes", "gone", "1.ansi")
	add(now, true, "crashes", "lately", "1.ansi")
	add(old, true, "crashes", "notes.txt")
	add(old, true, "heartbeats", rigAgent+".json")
	add(old, false, "heartbeats", "gone.json")
	add(now, true, "heartbeats", "lately.json")
	add(old, true, "heartbeats", "notes.txt")
	add(old, true, "turns", rigAgent+".json")
	add(old, false, "turns", "gone.json")
	add(now, true, "turns", "lately.json")
	f := effect.Purge{Runs: time.Hour, Agents: []string{"rig/worker"}}
	if in := w.r.work.purge(t.Context(), f).(effect.Purged); in.Err != nil || in.N != 0 {
		t.Errorf("%+v", in)
	}
	for path, stays := range files {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.r.w.At, ".gc", "crashes", "gone")); err == nil {
		t.Error("the folder of an agent that no longer exists is left")
	}
}
