package agents

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

// A decision is separated from its reason, also if its name is long.
func TestRecentDecisions(t *testing.T) {
	var out strings.Builder
	e := &env.Env{Printer: output.Printer{Out: &out, Now: func() time.Time { return noon }}}
	writeRecent(e, []city.Decision{{At: noon, What: "start", Why: "declared"},
		{At: noon, What: city.CannotStart, Why: "no program"},
		{At: noon, What: "check failed", Why: "the check printed nothing"}}, nil)
	for _, want := range []string{"  start         declared\n", "  cannot start  no program\n",
		"  check         printed nothing\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// Without a controller, a drain can last longer than its deadline.
func TestDrainDeadlineHasPassed(t *testing.T) {
	e := &env.Env{Printer: output.Printer{Now: func() time.Time { return noon }}}
	for left, want := range map[time.Duration]string{time.Minute: "in 1m", -time.Second: "has passed"} {
		by := noon.Add(left)
		if got := draining(e, &city.DrainInfo{By: "pool", Since: noon, Deadline: &by}); !strings.Contains(got, want) {
			t.Errorf("deadline in %s: got %q", left, got)
		}
	}
}
