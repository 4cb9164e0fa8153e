package plugin

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
	"gcity/internal/proc"
)

// If the city's folder is on a hung file system, only the helper hangs. Other goroutines continue, and New returns an
// error, even if the helper cannot be killed.
func TestHungFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	for _, unkillable := range []bool{false, true} {
		dir, _, free := hungfs.Mount(t, unkillable)
		ended := make(chan error, 1)
		go func() {
			_, err := New(Options{
				Program: self(t), City: filepath.Join(dir, "city"), Dir: t.TempDir(),
				Environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0"),
			})
			ended <- err
		}()
		eventually.True(t, "the helper's process runs", func() bool {
			runtime.GC()
			return len(proc.Descendants(os.Getpid())) > 0
		})
		if err := eventually.Receive(t, "the result", ended); err == nil {
			t.Errorf("unkillable %v: New got no error", unkillable)
		}
		free()
	}
}
