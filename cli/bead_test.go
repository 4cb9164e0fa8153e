package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/workstore"
)

func (s *fakeCity) emitted() string {
	var out []string
	for _, c := range s.done {
		if e, ok := c.(city.Emit); ok {
			out = append(out, e.Event.Type+" "+e.Event.Subject)
		}
	}
	return strings.Join(out, ", ")
}

// Each command that changes a bead emits an event.
func TestBeadLife(t *testing.T) {
	s := demoCity()
	for _, step := range []struct{ line, out, err string }{
		{"bead create first --priority 1 --label pool:demo/worker", "created br-1: first\n", ""},
		{"bead create second --needs br-1", "created br-2: second\n", ""},
		{"bead create there --rig demo", "created de-1: there\n", ""},
		{"bead update br-1 --status in_progress --assignee me --if-rev 1", "updated br-1: first\n", ""},
		{"bead update br-1 --status open --if-rev 1", "", "was changed in the meantime"},
		{"bead close br-1 de-1 --reason well", "closed br-1: first\nclosed de-1: there\n", ""},
		{"bead update br-1 --assignee me", "br-1 already has these values: first\n", ""},
		{"bead create", "", "TITLE is missing"},
		{"bead create --force", "", "if an argument begins with \"-\", put \"--\" before it"},
		{"bead create x --description a --description-file -", "", "mutually exclusive"},
		{"bead create x --needs de-1", "", "de-1 is in the store of rig demo, and links work only within one store"},
		{"bead update br-2 --parent de-1", "", "de-1 is in the store of rig demo, and links work only within one store"},
		{"bead update br-2", "", "no change given"},
		{"bead update br-2 --if-rev 4", "", "no change given"},
		{"bead update br-2 --status done", "", "open, in_progress or closed"},
		{"bead create x --priority 9", "", "--priority"},
		{"bead create x --set nothing", "", "KEY=VALUE"},
		{"bead create x --needs br-9", "", `--needs: bead "br-9" not found`},
		{"bead create x --parent br-9", "", `--parent: bead "br-9" not found`},
		{"bead update br-2 --parent br-9", "", `--parent: bead "br-9" not found`},
		{"bead list --rig dem", "", `did you mean "demo"?`},
		{"--read-only bead close br-2", "", "bead close is not allowed"},
	} {
		_, out, errs := runCLI(t, s, strings.Fields(step.line)...)
		if out != step.out || !strings.Contains(errs, step.err) || (errs == "") != (step.err == "") {
			t.Errorf("%s: %q, %s", step.line, out, errs)
		}
	}
	if _, out, _ := runCLI(t, s, "bead", "close", "br-1", "--reason", "again"); !strings.Contains(out, "was already closed at ") || !strings.Contains(out, "assigned to me (well): first") {
		t.Errorf("closed again: %q", out)
	}
	const want = "bead.created br-1, bead.created br-2, bead.created de-1, bead.updated br-1, bead.closed br-1, bead.closed de-1"
	if got := s.emitted(); got != want {
		t.Errorf("events: %s", got)
	}
	b, err := s.work[""].Get(t.Context(), "br-1")
	if err != nil || b.Metadata[beads.CloseReason] != "well" || b.Assignee != "me" {
		t.Errorf("%+v, %v", b, err)
	}
	if _, out, _ := runCLI(t, s, "bead", "ready"); !strings.Contains(out, "br-2") || strings.Contains(out, "br-1") {
		t.Errorf("ready:\n%s", out)
	}
}

func TestBeadCodes(t *testing.T) {
	s := demoCity()
	runCLI(t, s, "bead", "create", "x")
	for line, want := range map[string]int{
		"bead show br-1": exit.CodeDone, "bead show br-7": exit.CodeUsage, "bead update br-1 --title y --if-rev 9": exit.CodeConflict,
		"bead create": exit.CodeUsage, "bead list --status nope": exit.CodeUsage, "bead list --limit -1": exit.CodeUsage, "bead show": exit.CodeUsage,
	} {
		if code, out, errs := runCLI(t, s, strings.Fields(line)...); code != want {
			t.Errorf("%s: got exit %d, %s%s", line, code, out, errs)
		}
	}
	s.work[""].Break(errors.New("disk on fire"))
	if code, out, errs := runCLI(t, s, "bead", "list"); code != exit.CodeFailed || out != "" || !strings.Contains(errs, "disk on fire") {
		t.Errorf("list of a broken store: got exit %d, %q, %s", code, out, errs)
	}
}

// Lists say how many beads they omit. ready lists the most urgent bead first.
func TestBeadLists(t *testing.T) {
	s := demoCity()
	runCLI(t, s, "bead", "create", "a", "--priority", "3")
	runCLI(t, s, "bead", "create", "b", "--priority", "0")
	runCLI(t, s, "bead", "create", "c", "--type", workstore.TypeRun)
	_, out, _ := runCLI(t, s, "bead", "list", "--limit", "1")
	if !strings.Contains(out, "br-2") || !strings.Contains(out, "1 of 2; --limit 0 lists all") {
		t.Errorf("list:\n%s", out)
	}
	var list struct {
		Items []beads.Bead
		Total int
	}
	_, out, _ = runCLI(t, s, "bead", "list", "--limit", "1", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 1 || list.Total != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	_, out, _ = runCLI(t, s, "bead", "ready", "--limit", "1", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 1 || list.Items[0].ID != "br-2" {
		t.Errorf("%v\n%s", err, out)
	}
	if _, out, _ = runCLI(t, s, "bead", "list", "--type", workstore.TypeRun); !strings.Contains(out, "br-3") {
		t.Errorf("runs:\n%s", out)
	}
	if _, out, _ = runCLI(t, s, "bead", "list", "--rig", "demo"); !strings.Contains(out, "no work in rig demo yet; create some with `gcity bead create TITLE --rig demo`") {
		t.Errorf("an empty store: got %q", out)
	}
	if _, out, _ = runCLI(t, s, "bead", "list", "--assignee", "nobody"); out != "no matching work in the city\n" {
		t.Errorf("nothing: %q", out)
	}
}

func TestDescriptionFile(t *testing.T) {
	s := demoCity()
	file := filepath.Join(t.TempDir(), "text")
	for _, c := range []struct {
		text string
		code int
		want string
	}{{"one\r\n\ntwo\n\n", exit.CodeDone, "one\n\ntwo"}, {strings.Repeat("x", beads.MaxText), exit.CodeDone, strings.Repeat("x", beads.MaxText)}, {strings.Repeat("x", beads.MaxText+1), exit.CodeUsage, ""}} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := runCLI(t, s, "bead", "create", "x", "--description-file", file, "--json")
		var b beads.Bead
		if code != c.code || code == exit.CodeDone && json.Unmarshal([]byte(out), &b) != nil || b.Description != c.want {
			t.Errorf("%.20q: got exit %d, %.80q, %s", c.text, code, b.Description, errs)
		}
	}
	if code, _, errs := runCLI(t, s, "bead", "update", "br-1", "--description-file", filepath.Join(t.TempDir(), "none")); code != exit.CodeFailed || !strings.Contains(errs, "cannot read the description") {
		t.Errorf("update with a missing file: got exit %d, %s", code, errs)
	}
}

// Closing a molecule reports its open steps; --steps closes them too.
func TestCloseSteps(t *testing.T) {
	s := demoCity()
	for _, line := range []string{"bead create root", "bead create a --parent br-1", "bead create b --parent br-1", "bead create c --parent br-2", "bead close br-3"} {
		runCLI(t, s, strings.Fields(line)...)
	}
	if _, out, _ := runCLI(t, s, "bead", "close", "br-1"); out != "closed br-1: root\n  2 steps are still open: `gcity bead close br-1 --steps` closes them too\n" {
		t.Errorf("%q", out)
	}
	if _, out, _ := runCLI(t, s, "bead", "close", "br-1", "--steps"); !strings.HasPrefix(out, "closed br-4: c\nclosed br-2: a\nbr-1 was already closed") {
		t.Errorf("%q", out)
	}
	if _, out, _ := runCLI(t, s, "bead", "list", "--status", "open"); out != "no matching work in the city\n" {
		t.Errorf("left: %s", out)
	}
}

// import rejects beads that are already in another store of the city, unless --force is set.
func TestImportOfBeadsInAnotherStore(t *testing.T) {
	s := demoCity()
	runCLI(t, s, "bead", "create", "a", "--rig", "demo")
	file := filepath.Join(t.TempDir(), "work.jsonl")
	if code, _, errs := runCLI(t, s, "bead", "export", file, "--rig", "demo"); code != exit.CodeDone {
		t.Fatal(errs)
	}
	if code, _, errs := runCLI(t, s, "bead", "import", file); code != exit.CodeUsage || !strings.Contains(errs, "de-1 already exists in rig demo") || !strings.Contains(errs, "--rig demo") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := runCLI(t, s, "bead", "import", file, "--rig", "demo"); code != exit.CodeDone {
		t.Errorf("import into the rig's own store: got exit %d, %s", code, errs)
	}
	if code, _, errs := runCLI(t, s, "bead", "import", file, "--force"); code != exit.CodeDone {
		t.Errorf("import with --force: got exit %d, %s", code, errs)
	}
}

// BEADS_DIR must be a store of this city; --rig takes precedence over it.
func TestWhichStore(t *testing.T) {
	s := demoCity()
	s.env = map[string]string{"BEADS_DIR": t.TempDir()}
	if code, _, errs := runCLI(t, s, "bead", "list"); code != exit.CodeUsage || !strings.Contains(errs, "not a work store of this city or its rigs") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, out, errs := runCLI(t, s, "bead", "create", "x", "--rig", "demo"); code != exit.CodeDone || !strings.Contains(out, "de-1") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s.env = nil
	if code, out, errs := runCLI(t, s, "bead", "show", "de-1"); code != exit.CodeDone || !strings.Contains(out, "stored in    rig demo") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	dir := t.TempDir()
	all := []workstore.Place{{Dir: filepath.Join(dir, "city"), Prefix: "ci"}, {Rig: "demo", Dir: filepath.Join(dir, "demo"), Prefix: "de"}}
	if err := os.Mkdir(all[1].Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(all[1].Dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{"city/.beads": "", "demo/.beads/": "demo", "link/.beads": "demo"} {
		if p, err := workstore.PlaceOf(filepath.Join(dir, env), all); err != nil || p.Rig != want {
			t.Errorf("%s: %q, %v", env, p.Rig, err)
		}
	}
	for _, env := range []string{"demo", "other/.beads"} {
		if _, err := workstore.PlaceOf(filepath.Join(dir, env), all); err == nil {
			t.Errorf("BEADS_DIR=%s was accepted as a store of the city", env)
		}
	}
}

// Importing the same file again changes nothing and emits no event. Invalid lines make the import fail.
func TestExportImport(t *testing.T) {
	from, to := demoCity(), demoCity()
	runCLI(t, from, "bead", "create", "a")
	runCLI(t, from, "bead", "create", "b", "--needs", "br-1")
	file := filepath.Join(t.TempDir(), "work.jsonl")
	for _, args := range [][]string{{"export", file}, {"backup", file}, {"backup"}} {
		code, _, errs := runCLI(t, from, append([]string{"--read-only", "bead"}, args...)...)
		if _, err := os.Stat(file); code != exit.CodeFailed || !strings.Contains(errs, "not allowed with --read-only") || err == nil {
			t.Errorf("%q with --read-only: got exit %d, %s, %v", args, code, errs, err)
		}
	}
	if code, out, errs := runCLI(t, from, "bead", "export", file); code != exit.CodeDone || !strings.Contains(out, "exported 2 beads") {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for range 2 {
		if code, _, errs := runCLI(t, to, "bead", "import", file); code != exit.CodeDone || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
	}
	if got := to.emitted(); got != "bead.imported " {
		t.Errorf("events: %q", got)
	}
	if err := os.WriteFile(file, []byte("{\"_type\":\"issue\",\"id\":\"q-1\",\"title\":\"ok\"}\nno\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runCLI(t, to, "bead", "import", file)
	if code != exit.CodeFailed || !strings.Contains(out, "1 created") || !strings.Contains(out, "1 not imported") || !strings.Contains(errs, "line 2") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// Events that a run's command emits contain the depth of nested runs.
func TestDepth(t *testing.T) {
	for in, want := range map[string]string{"": `{"depth":3}`, `{"a":1}`: `{"a":1,"depth":3}`, `{"depth":9}`: `{"depth":9}`, `{"depth":2}`: `{"depth":3}`, `{"depth":"2"}`: `{"depth":3}`, `null`: `{"depth":3}`} {
		if got, err := withDepth(json.RawMessage(in), 3); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}
	if got, err := withDepth(json.RawMessage(`[1]`), 0); err != nil || string(got) != `[1]` {
		t.Errorf("outside a run: %s, %v", got, err)
	}
	if got, err := withDepth(json.RawMessage(`[1]`), 3); err == nil {
		t.Errorf("a list in a run: %s", got)
	}
	s := demoCity()
	s.env = map[string]string{"GC_EVENT_DEPTH": "2", "GC_AUTOMATION": "digest"}
	runCLI(t, s, "bead", "create", "x")
	e := s.done[0].(city.Emit).Event
	if e.Actor != "digest" || !strings.Contains(string(e.Payload), `"depth":2`) {
		t.Errorf("%+v", e)
	}
	if code, _, text := runCLI(t, s, "event", "emit", "x.y", "--payload", "[1]"); code != exit.CodeUsage || !strings.Contains(text, "must be a JSON object") {
		t.Errorf("emit of a list in a run: exit %d, %s", code, text)
	}
	long := `{"a":"` + strings.Repeat("x", 100_000) + `"}`
	if code, _, text := runCLI(t, s, "event", "emit", "x.y", "--payload", long); code != exit.CodeUsage || !strings.Contains(text, "is too long") {
		t.Errorf("emit of a long payload: exit %d, %.200s", code, text)
	}
}

func TestBeadClaim(t *testing.T) {
	s := demoCity()
	runCLI(t, s, "bead", "create", "first")
	const mine = "w-1"
	if code, out, _ := runCLI(t, s, "bead", "update", "br-1", "--claim", "--assignee", mine); code != exit.CodeDone || !strings.Contains(out, "first") {
		t.Errorf("%d, %s", code, out)
	}
	runCLI(t, s, "bead", "update", "br-1", "--label", "x")
	if code, _, text := runCLI(t, s, "bead", "update", "br-1", "--claim", "--assignee", "w-2"); code != exit.CodeConflict || !strings.Contains(text, `br-1 is already assigned to "w-1"`) {
		t.Errorf("%d, %s", code, text)
	}
	if _, out, _ := runCLI(t, s, "bead", "update", "br-1", "--claim", "--assignee", mine); out != "br-1 already has these values: first\n" {
		t.Error(out)
	}
	runCLI(t, s, "bead", "close", "br-1")
	for _, refused := range []struct{ line, why string }{
		{"bead update br-1 --claim --assignee " + mine, "br-1 was already closed"},
		{"bead update br-1 --claim", "no assignee given"},
		{"bead update br-1 --claim --assignee me --title y", "cannot be combined with other changes"},
		{"bead update br-1 --claim --assignee me --if-rev 3", "cannot be combined with other changes"},
		{"bead update br-9 --claim --assignee me", `bead "br-9" not found`},
	} {
		if code, _, text := runCLI(t, s, strings.Fields(refused.line)...); code == exit.CodeDone || !strings.Contains(text, refused.why) {
			t.Errorf("%s: %d, %s", refused.line, code, text)
		}
	}
}
