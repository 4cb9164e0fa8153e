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

// If the city's folder is on a hung file system, only the helper hangs. Other goroutines continue.
func TestHungFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	dir, _, _ := hungfs.Mount(t, false)
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
		t.Error("New: got no error")
	}
}
