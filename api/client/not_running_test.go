package client

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The control room shows the part of this error before ": no response on "; see unreachableReason in tui/feed.
func TestNotRunningNamesTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	_, err := Dial(path)
	if !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), " is running: no response on "+path) {
		t.Errorf("Dial: %v", err)
	}
}
