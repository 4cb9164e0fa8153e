package client

import (
	"errors"
	"path/filepath"
	"testing"

	"gcity/city"
)

// If no server is running, the error names the program and the socket.
func TestNotRunningNamesTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	_, err := Dial(path)
	absent, ok := errors.AsType[*city.NotRunning](err)
	if !errors.Is(err, ErrNotRunning) || !ok || absent.Program != "controller" || absent.Socket != path {
		t.Errorf("Dial: %v", err)
	}
	if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable || e.Message != err.Error() {
		t.Errorf("Dial: %+v", e)
	}
}
