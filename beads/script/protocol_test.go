package script_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/script"
)

func told(t *testing.T, cases string) (s *script.Store, log func() string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.sh")
	text := "#!/bin/sh\necho \"$*\" >>\"$BEADS_DIR/../log\"\ncase \"$1\" in\n" + cases + "\n*) exit 2 ;;\nesac\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return open(t, "./store.sh", dir), func() string {
		t.Helper()
		out, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(out), dir, "DIR")
	}
}

const began = "ensure-ready\ninit DIR sc\nconfig-set issue_prefix sc\n"

// If a script implements only the required operations, the other operations are built from them. Each unknown operation
// is tried only once.
func TestScriptSupportsFewOperations(t *testing.T) {
	s, log := told(t, `list) echo '[{"id":"a-1","title":"x","status":"blocked","labels":["l"],"created_at":"2026-04-01T10:00:00Z"},{"id":"a-2","title":"y","status":"closed"}]' ;;`)
	for range 2 {
		all, err := s.List(t.Context(), beads.Query{Ready: true, Labels: []string{"l"}})
		if err != nil || len(all) != 1 || all[0].ID != "a-1" || all[0].Status != beads.StatusOpen || all[0].Metadata["script.status"] != "blocked" {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	if want := began + "ready\nlist\nlist\n"; log() != want {
		t.Errorf("calls:\n%swant\n%s", log(), want)
	}
	if _, err := s.Create(t.Context(), beads.Bead{Title: "z"}); err == nil || !strings.Contains(err.Error(), "must implement create") {
		t.Errorf("a script that cannot create: got %v", err)
	}
	if err := s.Close(); err != nil || !strings.HasSuffix(log(), "create\nshutdown\n") {
		t.Errorf("%v\n%s", err, log())
	}
}

// Exit code 2 of a required operation is a failure, after which gcity calls the operation again.
func TestRequiredOperationIsRetried(t *testing.T) {
	s, log := told(t, `list) [ -e "$BEADS_DIR/../again" ] || { echo >"$BEADS_DIR/../again"; echo "syntax error" >&2; exit 2; }; echo '[{"id":"a-1","title":"x"}]' ;;`)
	if _, err := s.List(t.Context(), beads.Query{}); err == nil || errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("got %v", err)
	}
	if all, err := s.List(t.Context(), beads.Query{}); err != nil || len(all) != 1 {
		t.Errorf("got %v, %v\n%s", all, err, log())
	}
}

// A script gets the operation and the IDs as arguments, and all other values as JSON.
func TestScriptInput(t *testing.T) {
	s, log := told(t, `get) cat "$BEADS_DIR/../bead" ;;
create|update|close|set-metadata) cat >>"$BEADS_DIR/../log"; echo >>"$BEADS_DIR/../log"
  printf '{"id":"a-1","title":"x","type":"task","labels":["m","l"],"status":"%s"}' "$([ "$1" = close ] && echo closed || echo open)" | tee "$BEADS_DIR/../bead" ;;`)
	a, err := s.Create(t.Context(), beads.Bead{Title: "x", Labels: []string{"l", "m"}})
	if err != nil || a.ID != "a-1" || a.Rev == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := s.Update(t.Context(), a.ID, beads.Patch{SetMetadata: map[string]string{"k": "a value\nof two lines"}, IfRev: &a.Rev}); err != nil {
		t.Errorf("metadata that the script does not return: got %v", err)
	}
	if b, err := s.Update(t.Context(), a.ID, beads.Closing()); err != nil || b.Status != beads.StatusClosed {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := s.Update(t.Context(), a.ID, beads.Patch{Title: new("y"), IfRev: &a.Rev}); !errors.Is(err, beads.ErrConflict) {
		t.Errorf("update of a changed bead: got %v", err)
	}
	_, err = s.Update(t.Context(), a.ID, beads.Patch{Assignee: new("ann")})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "did not store its assignee") {
		t.Errorf("fields that the script does not store: got %v", err)
	}
	got := log()
	for _, want := range []string{"\ncreate\n{", `"labels":["l","m"]`, `"type":"task"`, "\nupdate a-1\n{", "\nset-metadata a-1 k\na value\nof two lines\n", "\nclose a-1\n{"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A bead that the script has stored without some of its fields is closed.
func TestIncompleteBeadIsClosed(t *testing.T) {
	s, log := told(t, `create|update) echo '{"id":"a-1","title":"x"}' ;;
close) ;; get) echo '{"id":"a-1","title":"x"}' ;;`)
	_, err := s.Create(t.Context(), beads.Bead{Title: "x", Description: "long", Priority: beads.Urgent})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "without its priority, description, so the bead was closed") {
		t.Errorf("%v", err)
	}
	if !strings.HasSuffix(log(), "create\nupdate a-1\nclose a-1\n") {
		t.Errorf("%s", log())
	}
}

// A bead that cannot be completed after its creation is closed, and the error names it.
func TestBeadThatCannotBeCompletedIsClosed(t *testing.T) {
	s, log := told(t, `create) echo '{"id":"a-1","title":"x"}' ;; close) echo '{"id":"a-1","title":"x","status":"closed"}' ;;
update) echo "no disk" >&2; exit 1 ;;`)
	_, err := s.Create(t.Context(), beads.Bead{Title: "x", Description: "long"})
	if err == nil || !strings.Contains(err.Error(), "bead a-1 was created, but not completely: ") || !strings.HasSuffix(err.Error(), ": no disk") {
		t.Errorf("%v", err)
	}
	if !strings.HasSuffix(log(), "\nclose a-1\n") {
		t.Errorf("%s", log())
	}
}

// Every error of a script is reported with its cause, and never looks like an empty store.
func TestFailingScripts(t *testing.T) {
	for cases, want := range map[string]string{
		`list) echo null ;;`: "must print a JSON array", `list) ;;`: "but it printed nothing", `list) echo '{}' ;;`: "JSON array",
		`list) echo "no disk" >&2; exit 1 ;;`: "failed during list (exit code 1): no disk", `list) kill -9 $$ ;;`: "killed by a signal",
		`ensure-ready) echo "no server" >&2; exit 3 ;;`: "no server", `get) ;;`: "during list (exit code 2): it printed nothing; a store script must implement list",
	} {
		s, _ := told(t, cases)
		if all, err := s.List(t.Context(), beads.Query{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", cases, all, err)
		}
	}
	s, _ := told(t, `list) sleep 600 & wait ;;`)
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := s.List(short, beads.Query{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a script that hangs: got %v", err)
	}
	gone := open(t, "/no/such/script", t.TempDir())
	if _, err := gone.Get(t.Context(), "a-1"); err == nil || errors.Is(err, beads.ErrNotFound) || !strings.Contains(err.Error(), "make it executable") {
		t.Errorf("a missing script: got %v", err)
	}
	city := t.TempDir()
	if err := os.WriteFile(filepath.Join(city, "own-store.sh"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	offPath, err := script.Open(script.Options{Script: "own-store.sh", Dir: t.TempDir(), City: city, Prefix: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := offPath.Get(t.Context(), "a-1"); err == nil || !strings.HasSuffix(err.Error(), `write "exec:./own-store.sh" for the file in the city's folder`) {
		t.Errorf("a script in the city's folder, without a slash: got %v", err)
	}
	for _, answer := range []string{"null", "", "[]"} {
		s, _ := told(t, `get) echo '`+answer+`' ;;`)
		if _, err := s.Get(t.Context(), "a-1"); !errors.Is(err, beads.ErrNotFound) {
			t.Errorf("get with the output %q: got %v", answer, err)
		}
	}
}

// "not found" about anything other than the bead is a failure of the store.
func TestNotFound(t *testing.T) {
	for said, gone := range map[string]bool{
		"bead a-1 not found": true, "Not found.": true, "no such bead": true, `issue not found: "a-1"`: true,
		"store.sh: line 9: jq: command not found": false, "dolt: executable file not found in $PATH": false, "a-10 not found": false,
	} {
		s, _ := told(t, `get) echo '`+said+`' >&2; exit 1 ;;`)
		if _, err := s.Get(t.Context(), "a-1"); err == nil || errors.Is(err, beads.ErrNotFound) != gone {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// A bead that cannot be parsed stays unchanged, is reported, and does not affect other beads.
func TestUnreadableBeads(t *testing.T) {
	s, _ := told(t, `list) echo '[{"id":"a-1","title":"x"},{"id":"a-2","title":"\u001b[31m"},{"id":"a-3","title":"t","created_at":"noon"},3]' ;;
get) echo '{"id":"a-2","title":""}' ;;`)
	all, err := s.List(t.Context(), beads.Query{})
	if err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	aside, err := s.Unreadable(t.Context())
	if err != nil || len(aside) != 3 || aside[0].ID != "a-2" || aside[1].ID != "a-3" {
		t.Errorf("%+v, %v", aside, err)
	}
	if _, err := s.Get(t.Context(), "a-2"); !errors.Is(err, beads.ErrUnreadable) {
		t.Errorf("%v", err)
	}
}

// A bead stays blocked by a bead that cannot be parsed.
func TestUnreadableBeadBlocksOthers(t *testing.T) {
	s, _ := told(t, `list) echo '[{"id":"a-1","title":"x","needs":["a-2"]},{"id":"a-2","title":"\u001b[31m"},{"id":"a-3","title":"y","needs":["a-4"]},{"id":"a-4","title":"\u001b[31m","status":"closed"}]' ;;
ready) exit 2 ;;`)
	all, err := s.List(t.Context(), beads.Query{Ready: true})
	if err != nil || len(all) != 1 || all[0].ID != "a-3" {
		t.Errorf("%+v, %v", all, err)
	}
}

// A record without an ID does not affect changes of links.
func TestRecordWithoutID(t *testing.T) {
	s, _ := told(t, `list) echo '[{"id":"a-1","title":"x"},{"id":"a-2","title":"y"},3]' ;;
get) echo '{"id":"a-1","title":"x"}' ;; update) echo '{"id":"a-1","title":"x","needs":["a-2"]}' ;;`)
	if b, err := s.Update(t.Context(), "a-1", beads.Patch{Needs: &[]string{"a-2"}}); err != nil || len(b.Needs) != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// A script may create a molecule in its own way.
func TestMolCook(t *testing.T) {
	s, log := told(t, `mol-cook) cat >>"$BEADS_DIR/../log"; echo a-1 ;;
get) echo '{"id":"a-1","title":"paint","type":"molecule","ref":"paint"}' ;;
children) echo '[{"id":"a-2","title":"dry","ref":"dry","parent_id":"a-1","needs":["a-3"]},{"id":"a-3","title":"brush","ref":"brush","parent_id":"a-1"}]' ;;`)
	made, err := s.CreateAll(t.Context(), []beads.Bead{
		{ID: "$r", Title: "paint", Type: beads.TypeMolecule, Ref: "paint"}, {ID: "$b", Title: "brush", Ref: "brush", ParentID: "$r"},
		{Title: "dry", Ref: "dry", ParentID: "$r", Needs: []string{"$b"}},
	})
	if err != nil || len(made) != 3 || made[1].ID != "a-3" || made[2].ID != "a-2" {
		t.Errorf("%+v, %v", made, err)
	}
	if !strings.Contains(log(), `"formula":"paint"`) || strings.Contains(log(), "\ncreate") {
		t.Errorf("%s", log())
	}
}

// gcity completes a molecule that a script has created without some fields. If that fails, or if the script has not
// created all beads, gcity closes the molecule.
func TestIncompleteMolecule(t *testing.T) {
	const (
		root    = `{"id":"a-1","title":"paint","type":"molecule","ref":"paint"}`
		step    = `{"id":"a-2","title":"dry","ref":"dry","parent_id":"a-1"}`
		labeled = `{"id":"a-1","title":"paint","type":"molecule","ref":"paint","labels":["pool:worker"]}`
		closes  = "\nclose) ;;\nget) echo '{\"id\":\"'$2'\",\"title\":\"x\",\"status\":\"closed\"}' ;;"
	)
	for _, c := range []struct{ name, cases, err, closed string }{
		{"labels stored later", `mol-cook) echo '[` + root + `,` + step + `]' ;; update) echo '` + labeled + `' ;;`, "", ""},
		{"labels not stored", `mol-cook) echo '[` + root + `,` + step + `]' ;; update) echo '` + root + `' ;;` + closes,
			"bead a-1 was created, but not completely: the store script ./store.sh changed bead a-1, but did not store its labels", "a-1 a-2"},
		{"missing step", `mol-cook) echo '` + labeled + `' ;; children) echo '[{"id":"a-3","title":"wash","parent_id":"a-1"}]' ;; update) exit 1 ;;` + closes,
			`created a-1 without the step "dry" (dry)`, "a-1 a-3"},
		{"unreadable step", `mol-cook) echo '[` + labeled + `,{"id":"a-2","title":""}]' ;; update) exit 1 ;;` + closes,
			"are still open: a-2", "a-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, log := told(t, c.cases)
			made, err := s.CreateAll(t.Context(), []beads.Bead{
				{ID: "$r", Title: "paint", Type: beads.TypeMolecule, Ref: "paint", Labels: []string{"pool:worker"}}, {Title: "dry", Ref: "dry", ParentID: "$r"},
			})
			if c.err == "" && (err != nil || len(made) != 2 || len(made[0].Labels) != 1) {
				t.Errorf("got %+v, %v", made, err)
			}
			if c.err != "" && (made != nil || err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %+v, %v", made, err)
			}
			var closed []string
			for line := range strings.Lines(log()) {
				if id, ok := strings.CutPrefix(line, "close "); ok {
					closed = append(closed, strings.TrimSpace(id))
				}
			}
			if strings.Join(closed, " ") != c.closed {
				t.Errorf("closed %q, want %s", closed, c.closed)
			}
		})
	}
}
