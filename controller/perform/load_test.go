package perform

import (
	"testing"

	"gcity/controller/effect"
)

func TestIsNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		load effect.Load
		want bool
	}{
		{"in force", effect.Load{Known: "r", Now: true}, false},
		{"refused before", effect.Load{Known: "q", RejectedRevision: "r", Now: true}, false},
		{"changed", effect.Load{Known: "q", RejectedRevision: "p", Now: true}, true},
		{"seen by a patrol for the first time", effect.Load{Known: "q", SeenAtPatrol: "p"}, false},
		{"seen by two patrols", effect.Load{Known: "q", SeenAtPatrol: "r"}, true},
	} {
		if got := isNew(tt.load, "r"); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
