package fleet

import (
	"os"
	"testing"

	"gcity/cli/folder"
)

// A search that fails does not change the number of sessions that a city is known to have.
func TestFailedSearchKeepsTheSessions(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(folder.StateDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 2} {
		if got := searchAgain(t.Context(), dir, search{sessions: 2}); got.sessions != want || got.at.IsZero() {
			t.Errorf("got %+v, want %d sessions", got, want)
		}
		if err := os.WriteFile(folder.StateDir(dir)+"/sessions", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
