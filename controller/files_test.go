package controller

import (
	"strings"
	"testing"
)

// If the limit of open files is too low for the agents, the configuration gets a warning with the required number.
func TestFewFiles(t *testing.T) {
	for _, c := range []struct {
		limit  uint64
		agents int
		want   string
	}{
		{32, 25, "may open at most 32 files, but 25 agents need about 164: start the controller after `ulimit -n " +
			"328`, or set LimitNOFILE=328 in its service"},
		{163, 25, "may open at most 163 files"},
		{164, 25, ""},
		{0, 25, ""}, // unknown limit
	} {
		if got := FewFiles(c.limit, c.agents); c.want == "" && got != "" ||
			!strings.Contains(got, c.want) {
			t.Errorf("limit %d, %d agents: %q", c.limit, c.agents, got)
		}
	}
}
