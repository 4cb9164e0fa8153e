package fleet

import (
	"strings"
	"testing"
)

// A problem with the default port is only a note.
func TestTroublesOfTheDefaultPort(t *testing.T) {
	const taken = "the API is not available on 127.0.0.1:8080: another program is listening on that address; gcity retries"
	all := []string{"the registry cannot be read", taken}
	troubles, notes := splitTroubles(all, "127.0.0.1:8080")
	if len(troubles) != 1 || len(notes) != 1 || !strings.HasPrefix(notes[0], taken) ||
		!strings.Contains(notes[0], "supervisor.toml") {
		t.Errorf("by default: got %q, %q", troubles, notes)
	}
	if troubles, notes := splitTroubles(all, ""); len(troubles) != 2 || len(notes) > 0 {
		t.Errorf("with a setting: got %q, %q", troubles, notes)
	}
}
