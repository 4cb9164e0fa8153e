package cli

import (
	"strings"
	"testing"

	"gcity/beads"
	"gcity/cli/exit"
)

// A formula is cooked completely or not at all, and only for an existing pool.
func TestCook(t *testing.T) {
	s := demoCity()
	for line, want := range map[string]string{
		"formula cook reviw":                                   `did you mean "review"?`,
		"formula cook review":                                  "needs the variable subject",
		"formula cook review --var subject=x --var y=z":        `no variable "y"`,
		"formula cook review --var subject=x --pool demo/work": `did you mean "demo/worker"?`,
	} {
		if code, out, errs := runCLI(t, s, strings.Fields(line)...); code == exit.CodeDone || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: got exit %d, %s%s", line, code, out, errs)
		}
	}
	if s.work != nil && s.work[""] != nil {
		if left, err := s.work[""].List(t.Context(), beads.Query{}); err != nil || len(left) > 0 {
			t.Fatalf("beads remain: %v, %v", left, err)
		}
	}
	code, out, errs := runCLI(t, s, "formula", "cook", "review", "--var", "subject=the door", "--pool", "worker", "--rig", "demo")
	if code != exit.CodeDone || !strings.HasPrefix(out, "cooked de-1: Review the door, 3 steps for pool demo/worker\n") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	made, err := s.work["demo"].List(t.Context(), beads.Query{Labels: []string{"pool:demo/worker"}})
	if err != nil || len(made) != 1 || made[0].Type != beads.TypeMolecule {
		t.Errorf("%v, %v", made, err)
	}
	if got := s.emitted(); got != "bead.created de-1" {
		t.Errorf("events: %q", got)
	}
	if _, out, _ = runCLI(t, s, "bead", "show", "de-1"); !strings.Contains(out, "next         de-2: Read the door") {
		t.Errorf("show:\n%s", out)
	}
}
