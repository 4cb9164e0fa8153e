package folder

import (
	"path/filepath"
	"strings"
	"testing"
)

// If a file cannot be created, the error names the file, whatever its content.
func TestFileThatCannotBeCreated(t *testing.T) {
	state := filepath.Join(t.TempDir(), "missing", ".gc")
	err := HideFromGit(state)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(state, ".gitignore")) ||
		strings.Contains(err.Error(), "configuration") {
		t.Errorf("%v", err)
	}
}
