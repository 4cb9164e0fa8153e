package watch

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"gcity/internal/hungfs"
)

// A folder that does not respond does not prevent other folders from being watched.
func TestHungFolder(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, free := hungfs.Mount(t, false)
	dir := folder(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan (<-chan struct{}), 1)
	go func() {
		pokes, err := Folders(ctx, []string{filepath.Join(hung, "formulas"), dir}, nil,
			Options{Quiet: time.Millisecond})
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
		t.Fatal("the watch did not start")
	}
	put(t, filepath.Join(dir, "a.formula.toml"), "")
	select {
	case <-pokes:
	case <-late:
		t.Error("the change in the other folder was not reported")
	}
	cancel()
	for open := true; open; {
		select {
		case _, open = <-pokes:
		case <-late:
			free()
			t.Fatal("the watch did not stop")
		}
	}
}
