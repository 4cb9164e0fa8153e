package agents

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

// CPU and memory are shown only if they were measured and the terminal is wide enough. w-2 comes before w-10.
func TestFigures(t *testing.T) {
	agents := []city.Agent{
		{Name: "w-10", State: city.Running, Since: noon,
			Usage: &city.Usage{CPU: 140.4, RSS: 300 << 20}},
		{Name: "w-2", State: city.Running, Since: noon,
			Usage: &city.Usage{CPU: 0.32, RSS: 1 << 20}},
		{Name: "x", State: city.Running, Since: noon},
	}
	draw := func(a *env.Env, agents []city.Agent) string {
		var b strings.Builder
		if err := WriteAgents(a, &b, agents); err != nil {
			t.Fatal(err)
		}
		return ansi.Strip(b.String())
	}
	a := &env.Env{Printer: output.Printer{Getenv: func(string) string {
		return ""
	}, Now: func() time.Time {
		return noon
	}}}
	const want = `STATE    AGENT  SINCE   CPU      MEM  PID  WHY
running  w-2    0s     0.3%  1.0 MiB
running  w-10   0s     140%  300 MiB
running  x      0s        -        -
`
	if got := draw(a, agents); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := draw(a, agents[2:]); strings.Contains(got, "CPU") {
		t.Errorf("usage is shown although it was not measured:\n%s", got)
	}
	until := noon.Add(time.Hour)
	crashed := city.Agent{Name: "y", State: city.Quarantined, Since: noon, Until: &until, Restarts: 3,
		Reason: "crashed 4 times in 4s, last: exit 3 after a long time"}
	a.OutTTY = true // the width of a buffer is unknown, so 80 columns are assumed
	if got := draw(a, agents); strings.Contains(got, "CPU") {
		t.Errorf("usage is shown on a narrow terminal:\n%s", got)
	}
	if got := draw(a, []city.Agent{crashed}); !strings.Contains(got, "last: e… · until ") {
		t.Errorf("the end of the quarantine is truncated:\n%s", got)
	}
}
