package cli

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/doctor"
	"gcity/cli/env"
	"gcity/cli/output"
)

// status and doctor list beads of agents that are not running, and say what to do.
func TestStrandedWorkIsReported(t *testing.T) {
	s := &city.Snapshot{Stranded: []city.Stranded{
		{Agent: "w\x1b[2J", Why: "is suspended with rig demo", Beads: []string{"gc-1", "gc-2"}, Count: 2},
		{Agent: "old", Why: "is no longer an agent here", Gone: true, Beads: []string{"gc-3"}, Count: 1},
	}}
	a := &env.Env{Printer: output.Printer{Getenv: func(string) string { return "" }, Now: func() time.Time { return noon }}}
	f := doctor.CheckStranded(t.Context(), &doctor.Subject{Running: s})
	if f.State != "note" || f.Fix == "" {
		t.Errorf("%+v", f)
	}
	for who, text := range map[string]string{"status": strings.Join(troubles(a, s), "\n"), "doctor": f.Detail} {
		lines := strings.Split(text, "\n")
		if len(lines) != 2 || strings.Contains(text, "\x1b") || !strings.Contains(lines[0], "gc-1, gc-2 are assigned to w") ||
			!strings.Contains(lines[0], "is suspended with rig demo") || !strings.Contains(lines[1], "`gcity bead update gc-3 --status open --assignee ''`") {
			t.Errorf("%s says %q", who, text)
		}
	}
	for _, p := range []doctor.Subject{{}, {Running: &city.Snapshot{}}} {
		if f := doctor.CheckStranded(t.Context(), &p); f.State != "ok" {
			t.Errorf("%+v", f)
		}
	}
}
