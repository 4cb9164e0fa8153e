package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
	"gcity/internal/proc"
)

// If the folder of the records is on a hung file system, a call of the script returns after its deadline. Other
// goroutines continue in the meantime.
func TestHungFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	for _, deaf := range []bool{false, true} {
		h := open(t, muxScript(t))
		dir, asked, free := hungfs.Mount(t, deaf)
		h.o.Dir = filepath.Join(dir, "below")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := h.runs(ctx, "gc-a")
			ended <- err
		}()
		if deaf {
			<-asked
		}
		eventually.True(t, "the script's process runs", func() bool {
			runtime.GC()
			return len(proc.Descendants(os.Getpid())) > 0
		})
		cancel()
		if err := eventually.Receive(t, "the result", ended); !errors.Is(err, context.Canceled) {
			t.Errorf("unkillable %v: got %v", deaf, err)
		}
		free()
	}
}
