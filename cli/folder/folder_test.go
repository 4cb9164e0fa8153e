package folder

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFileThatCannotBeCreated(t *testing.T) {
	state := filepath.Join(t.TempDir(), "missing", ".gc")
	err := HideFromGit(state)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(state, ".gitignore")) ||
		strings.Contains(err.Error(), "configuration") {
		t.Errorf("%v", err)
	}
}
