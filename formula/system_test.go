package formula

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gcity/internal/disk"
)

// Several processes can write the built-in formulas at the same time. A write does not remove the temporary files of
// another.
func TestSystemIsWrittenConcurrently(t *testing.T) {
	runtime := filepath.Join(t.TempDir(), ".gc")
	dir := filepath.Join(runtime, "system", "formulas")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fresh, old, other := disk.Temp(dir+"/x"), disk.Temp(dir+"/x"), filepath.Join(dir, "other")
	hours := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.WriteFile(fresh, nil, 0o600), os.WriteFile(old, nil, 0o600),
		os.Chtimes(old, hours, hours), os.WriteFile(other, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			if _, err := System(runtime); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for path, kept := range map[string]bool{fresh: true, old: false, other: false} {
		if _, err := os.Lstat(path); (err == nil) != kept {
			t.Errorf("%s: %v, want kept = %v", path, err, kept)
		}
	}
}
