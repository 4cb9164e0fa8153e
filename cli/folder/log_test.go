package folder

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A city that starts often does not leave a goroutine behind for each start.
func TestFileLogsAreKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(StateDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	const starts = 10
	var logs FileLogs
	before := runtime.NumGoroutine()
	for range starts {
		log := logs.Open(dir)
		if _, err := log.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if more := runtime.NumGoroutine() - before; more >= starts {
		t.Errorf("%d starts left %d goroutines", starts, more)
	}
	text, err := os.ReadFile(filepath.Join(StateDir(dir), "controller.log"))
	if err != nil || len(text) != starts*len("line\n") {
		t.Errorf("the log contains %q, %v", text, err)
	}
}
