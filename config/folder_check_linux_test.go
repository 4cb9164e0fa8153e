package config

import (
	"context"
	"gcity/config/files"
	"path/filepath"
	"strings"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
)

// A hung rig folder causes a problem only for this rig. It is not accessed twice at the same time.
func TestHungRigFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, free := hungfs.Mount(t, false)
	dir := folder(t, "")
	project := filepath.Join(hung, "project")
	put(t, filepath.Join(dir, FileName), "[[rigs]]\nname = \"hung\"\npath = \""+project+
		"\"\n[[rigs]]\nname = \"well\"\npath = \"/usr\"\n")
	load := func() *City {
		t.Helper()
		c, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rereading(t, dir)
	revision := ""
	for range 5 {
		c := load()
		if want := project + " does not respond; check what is mounted there, or use a different " +
			"path"; c.Rigs[0].Problem != want || c.Rigs[1].Problem != "" {
			t.Errorf("got %q, want %q; %q", c.Rigs[0].Problem, want, c.Rigs[1].Problem)
		}
		if revision != "" && c.Revision != revision {
			t.Error("the revision changed with each load")
		}
		revision = c.Revision
		under := files.PendingChecks()
		if under > 2 { // the reader in the background might be accessing the other folder
			t.Errorf("got %d checks in progress", under)
		}
	}
	free()
	eventually.True(t, "what answers now is taken for one that does", func() bool {
		return !strings.Contains(load().Rigs[0].Problem, "does not respond")
	})
}

func rereading(t *testing.T, dir string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := (Source{Dir: dir}).Inputs(); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
