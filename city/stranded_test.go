package city

import (
	"fmt"
	"strings"
	"testing"
)

func TestStrandedLines(t *testing.T) {
	s := Snapshot{Stranded: []Stranded{
		{Agent: "ada", Why: "is suspended in city.toml", Beads: []string{"gc-1"}, Count: 1},
		{Agent: "bob", Why: "is quarantined", Beads: []string{"gc-2", "gc-3", "gc-4"}, Count: 5},
		{Agent: "cid", Why: "is no longer an agent here", Gone: true, Beads: []string{"gc-8"}, Count: 1},
	}}
	got := strings.Join(s.StrandedLines(), "\n")
	want := "gc-1 is assigned to ada, which is suspended in city.toml; start that agent, or unassign the bead with `gcity bead update gc-1 --status open --assignee ''`\n" +
		"gc-2, gc-3, gc-4 and 2 more are assigned to bob, which is quarantined; start that agent, or unassign each bead with `gcity bead update gc-2 --status open --assignee ''`\n" +
		"gc-8 is assigned to cid, which is no longer an agent here; unassign the bead with `gcity bead update gc-8 --status open --assignee ''`"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for i := range 3 {
		s.Stranded = append(s.Stranded, Stranded{Agent: fmt.Sprint("c", i), Why: "is quarantined", Beads: []string{"gc-9"}, Count: 1})
		if lines := s.StrandedLines(); len(lines) != min(5, len(s.Stranded)) {
			t.Errorf("%d agents: %q", len(s.Stranded), lines)
		}
	}
	s.Stranded = append(s.Stranded, s.Stranded...)
	if lines := s.StrandedLines(); len(lines) != 5 || lines[4] != "more work is assigned to 8 other agents that are not running" {
		t.Errorf("many agents: %q", lines)
	}
}
