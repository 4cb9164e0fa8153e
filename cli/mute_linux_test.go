package cli

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/exit"
	"gcity/internal/hungfs"
)

func TestUnresponsiveCityFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole cities")
	}
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, false)
	for _, args := range [][]string{{"start"}, {"status"}} {
		cmd := exec.Command("gcity", append(args, "--city", filepath.Join(hung, "c"))...)
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != exit.CodeFailed || !strings.Contains(string(out), "does not respond; check what is mounted there") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
