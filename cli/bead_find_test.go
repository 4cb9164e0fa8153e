package cli

import (
	"strings"
	"testing"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/cli/exit"
)

func TestBeadRoutes(t *testing.T) {
	s := demoCity()
	old := fake.New("old")
	for _, title := range []string{"of old", "of old, too"} {
		if _, err := old.Create(t.Context(), beads.Bead{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	runCLI(t, s, "bead", "create", "of the city")
	runCLI(t, s, "bead", "create", "of the rig", "--rig", "demo")
	past, err := old.List(t.Context(), beads.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.work["demo"].Restore(t.Context(), past); err != nil {
		t.Fatal(err)
	}
	// The rig used to have the city's prefix, so both stores contain this ID.
	if _, err := s.work["demo"].Restore(t.Context(), []beads.Bead{{ID: "br-1", Title: "twin", Type: "task", Status: beads.StatusOpen, CreatedAt: noon, UpdatedAt: noon}}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ line, out, err string }{
		{"bead show de-1 --json", `"of the rig"`, ""},
		{"bead show old-1 --json", `"of old"`, ""},
		{"bead show br-1 --json", `"of the city"`, ""},
		{"bead show br-1 --json --rig demo", `"twin"`, ""},
		{"bead close old-1", "closed old-1: of old", ""},
		{"bead update old-2 --needs br-1 --rig demo", "updated old-2", ""},
		{"bead update old-2 --needs br-1,old-1", "updated old-2", ""},
		{"bead create x --needs old-1", "", "old-1 is in the store of rig demo, and links work only within one store"},
		{"bead show zz-9", "", "bead \"zz-9\" not found; run `gcity bead list` to see all; " + `bead IDs of this city start with br- (the city), de- (rig demo)`},
		{"bead show br-9", "", `bead "br-9" not found`},
		{"bead list --all --json", `"total": 5`, ""},
		{"bead list --all --limit 2 --json", `"total": 5`, ""},
		{"bead ready --all", "of the rig", ""},
		{"bead list --all --rig demo", "", "use only one of them"},
		{"bead list --type nothing --all", "no matching work in the city and its rigs", ""},
	} {
		_, out, errs := runCLI(t, s, strings.Fields(step.line)...)
		if !strings.Contains(out, step.out) || !strings.Contains(errs, step.err) || (errs == "") != (step.err == "") || strings.Contains(errs, "br-9") && strings.Contains(errs, "begins with") {
			t.Errorf("%s: %q, %s", step.line, out, errs)
		}
	}
}

func TestRigFromTheEnvironment(t *testing.T) {
	s := demoCity()
	s.env = map[string]string{"GC_RIG": "demo"}
	if _, out, errs := runCLI(t, s, "bead", "create", "mine"); out != "created de-1: mine\n" {
		t.Errorf("%q, %s", out, errs)
	}
	s.env["GC_RIG"] = "dmo"
	if code, _, errs := runCLI(t, s, "bead", "list"); code != exit.CodeUsage || !strings.Contains(errs, `did you mean "demo"?`) {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, out, errs := runCLI(t, s, "bead", "list", "--rig", "demo"); !strings.Contains(out, "mine") {
		t.Errorf("%q, %s", out, errs)
	}
	s.env = nil
	if _, out, _ := runCLI(t, s, "bead", "list"); !strings.Contains(out, "gcity bead list --all") {
		t.Errorf("%q", out)
	}
}
