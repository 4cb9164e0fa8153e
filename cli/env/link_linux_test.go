package env

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/cli/output"
	"gcity/config"
)

// A folder that the user cannot enter is not reported as a folder without a city.
func TestCityInForbiddenFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o400); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Geteuid() == 0 { // root may enter every folder
		if err := os.Chmod(dir, 0o000); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = unix.SetfsuidRetUid(0) }()
	}
	_, err := lookForCity(&Env{Dir: dir, Printer: output.Printer{Getenv: func(string) string { return "" }}})
	if err == nil || !strings.HasSuffix(err.Error(), "permission denied") {
		t.Errorf("got %v, want permission denied", err)
	}
}
