package bd_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/bd"
	"gcity/beads/beadstest"
	"gcity/beads/guard"
)

// path of the real tool; "" = not installed
var real, _ = exec.LookPath(bd.Program)

// TestMain makes the test binary act as the tool bd.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_BD") != "" {
		os.Exit(playTool(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func with(t *testing.T, first string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\nOWN='" + own + "'\n" + first + "\n# the race detector sleeps at the end " +
		"of a process\nPLAY_BD=1 GORACE=atexit_sleep_ms=0 exec '" + own + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bd"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("SECRET", "not for bd")
}

func open(t *testing.T, dir string) *bd.Store {
	t.Helper()
	s, err := bd.Open(bd.Options{Dir: dir, Prefix: "bt", Actor: "tester", Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lacks() map[string]string {
	const ids, order, times = "consecutive IDs: bd assigns its own",
		"the order of labels: bd sorts them",
		"gcity's times and revisions"
	return map[string]string{
		"ids have consecutive numbers": ids, "an explicit ID": ids, "created beads are stored": order,
		"a patch changes only its fields": order,
		"labels append":                   order, "defaults": times, "closing a closed bead has no effect": times,
		"links cannot form a cycle":     "two links between the same beads",
		"a batch creates all its beads": "atomic batches: bd creates the beads one by one",
	}
}

func suite(t *testing.T) {
	dirs := map[beads.Store]string{}
	beadstest.Run(t, beadstest.Harness{
		New: func(t *testing.T) beads.Store {
			dir := t.TempDir()
			s := open(t, dir)
			dirs[s] = dir
			return s
		},
		Reopen: func(t *testing.T, s beads.Store) beads.Store { return open(t, dirs[s]) },
		Slow:   true,
		Skip:   lacks(),
	})
}

func TestSuite(t *testing.T) {
	with(t, "")
	suite(t)
}

// The real tool passes the suite, if it is installed.
func TestRealTool(t *testing.T) {
	if real == "" {
		t.Skip("bd is not on the PATH")
	}
	if os.Getenv("GCITY_REAL_BD") == "" {
		t.Skip("takes a quarter of an hour; run with GCITY_REAL_BD=1")
	}
	suite(t)
}

// noting appends the arguments of each bd call to a file.
const noting = `echo "$*" >>"$BEADS_DIR/../calls"`

func calls(t *testing.T, dir string) []string {
	t.Helper()
	out, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "calls")); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`"gc.created_at":"[^"]*",?`).ReplaceAllString(string(out), "")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Fields that only beads have are stored in bd's own form. No operation makes needless calls.
func TestBeadInBd(t *testing.T) {
	with(t, noting)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if all, err := s.List(t.Context(), beads.Query{}); err != nil || len(all) != 0 {
		t.Errorf("List of an empty store: got %v, %v", all, err)
	}
	root, err := s.Create(t.Context(), beads.Bead{Title: "-root", Type: "run",
		Labels: []string{"of the root"}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the first create", calls(t, dir), []string{
		"version", "init --quiet --stealth -p bt --skip-hooks", "create --title=-root -t run -p 2 --json " +
			"--labels=of the root --metadata={}", "config get types.custom --json",
		"config set types.custom run", "create --title=-root -t run -p 2 --json --labels=of the " +
			"root --metadata={}",
	})
	first, err := s.Create(t.Context(), beads.Bead{Title: "first"})
	if err != nil {
		t.Fatal(err)
	}
	calls(t, dir)
	want := beads.Bead{
		Title: "child", Priority: beads.High, Assignee: "ann", Ref: "r/1",
		Labels: []string{"z", "a"}, Description: "two  lines",
		ParentID: root.ID, Needs: []string{first.ID},
		Metadata: map[string]string{"n": "3", "s": "x y"},
	}
	child, err := s.Create(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	got := calls(t, dir)
	if len(got) != 4 || !strings.HasPrefix(got[2], "update "+child.ID+
		" --json --remove-label=of the root") {
		t.Errorf("labels of the parent: got %q", got)
	}
	if read, err := s.Get(t.Context(), child.ID); err != nil || !read.Same(child) ||
		read.Rev != child.Rev || child.Ref != "r/1" ||
		!slices.Equal(child.Labels, []string{"a", "z"}) || child.ParentID != root.ID ||
		!slices.Equal(child.Needs, []string{first.ID}) ||
		child.Metadata["n"] != "3" || child.Metadata["s"] != "x y" ||
		child.Description != "two  lines" || child.Priority != beads.High {
		t.Errorf("created %+v\nread %+v, %v", child, read, err)
	}
	all, err := s.List(t.Context(), beads.Query{Parent: root.ID})
	if err != nil || len(all) != 1 || all[0].Rev != child.Rev {
		t.Errorf("revisions of List and Get differ: %+v, %v", all, err)
	}
	calls(t, dir)
	p := beads.Closing()
	p.SetMetadata = map[string]string{beads.CloseReason: "done"}
	p.IfRev = &child.Rev
	closed, err := s.Update(t.Context(), child.ID, p)
	if err != nil || closed.Metadata[beads.CloseReason] != "done" || closed.ClosedAt == nil ||
		closed.Rev == child.Rev {
		t.Errorf("%+v, %v", closed, err)
	}
	same(t, "a close", calls(t, dir), []string{"show " + child.ID + " --json",
		"close " + child.ID + " --json --force --reason=done", "show " + child.ID + " --json"})
	if again, err := s.Update(t.Context(), child.ID, beads.Closing()); err != nil ||
		again.Rev != closed.Rev {
		t.Errorf("closed twice: got %+v, %v", again, err)
	}
	if _, err := s.Update(t.Context(), child.ID, p); !errors.Is(err, beads.ErrConflict) {
		t.Errorf("update of a changed bead: got %v", err)
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got calls\n%s\nwant\n%s", what, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// A store uses its own database, even if a parent folder has one, or the one that its redirect file names.
func TestDatabaseOfOtherFolder(t *testing.T) {
	with(t, "")
	city := t.TempDir()
	above := open(t, city)
	create := func(s *bd.Store, title string) beads.Bead {
		t.Helper()
		b, err := s.Create(t.Context(), beads.Bead{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	titles := func(s *bd.Store) (titles []string) {
		t.Helper()
		all, err := s.List(t.Context(), beads.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			titles = append(titles, b.Title)
		}
		slices.Sort(titles)
		return titles
	}
	create(above, "of the city")
	for _, dir := range []string{"below", "worktree/.beads"} {
		if err := os.MkdirAll(filepath.Join(city, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	rig := open(t, filepath.Join(city, "below"))
	create(rig, "of the rig")
	same(t, "the rig's beads", titles(rig), []string{"of the rig"})
	same(t, "the city's beads", titles(above), []string{"of the city"})

	redirect := filepath.Join(city, "worktree", ".beads", "redirect")
	if err := os.WriteFile(redirect, []byte("../below/.beads\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	worktree := open(t, filepath.Join(city, "worktree"))
	same(t, "the redirected beads", titles(worktree), []string{"of the rig"})
	create(worktree, "of the worktree")
	same(t, "the rig's beads", titles(rig), []string{"of the rig", "of the worktree"})
}

// A store without a database reports it if bd cannot create one, and if bd does not work.
func TestNoDatabase(t *testing.T) {
	with(t, `[ "$1" != init ] || { echo "Found existing database: /elsewhere/.beads/x: already initialized"; exit 1; }`)
	dir := t.TempDir()
	_, err := open(t, dir).Create(t.Context(), beads.Bead{Title: "x"})
	if err == nil || !strings.Contains(err.Error(), "no database in "+dir) ||
		!strings.Contains(err.Error(), "/elsewhere") {
		t.Errorf("database of another folder: got %v", err)
	}

	with(t, "echo not this architecture >&2; exit 1")
	if all, err := open(t, t.TempDir()).List(t.Context(), beads.Query{}); err == nil ||
		!strings.Contains(err.Error(), "not this architecture") {
		t.Errorf("broken bd: got %v, %v", all, err)
	}

	with(t, "")
	dir = t.TempDir()
	file := filepath.Join(dir, ".beads", "beads.db")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if all, err := s.List(t.Context(), beads.Query{}); err == nil ||
		!strings.Contains(err.Error(), "move the files") {
		t.Errorf("store of another provider: got %v, %v", all, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), beads.Bead{Title: "x"}); err != nil {
		t.Error(err)
	}
}

// A molecule is created completely, and in the order of its needs.
func TestMoleculeInBd(t *testing.T) {
	with(t, "")
	s := open(t, t.TempDir())
	made, err := s.CreateAll(t.Context(), []beads.Bead{
		{ID: "$root", Title: "paint", Type: beads.TypeMolecule, Ref: "paint",
			Labels: []string{"wisp"}, Needs: []string{"$dry"}},
		{ID: "$dry", Title: "dry", ParentID: "$root", Needs: []string{"$brush"}},
		{ID: "$brush", Title: "brush", ParentID: "$root"},
	})
	if err != nil {
		t.Fatal(err)
	}
	root, dry, brush := made[0], made[1], made[2]
	if dry.ParentID != root.ID || brush.ParentID != root.ID || len(dry.Labels) != 0 ||
		!slices.Equal(root.Needs, []string{dry.ID}) ||
		!slices.Equal(dry.Needs, []string{brush.ID}) {
		t.Errorf("%+v", made)
	}
	ready, err := s.List(t.Context(), beads.Query{Ready: true})
	if err != nil || len(ready) != 1 || ready[0].ID != brush.ID {
		t.Errorf("ready: %+v, %v", ready, err)
	}
}

// bd's own statuses and values are converted.
func TestOutputOfBd(t *testing.T) {
	const one = `{"id":"b-1","title":"x","priority":2,"issue_type":"task","created_at":"2026-04-01T10:00:00Z","updated_at":"2026-04-01T10:00:00Z"`
	for said, want := range map[string]string{
		`note: hello` + "\n[" + one + `,"status":"hooked"}]`:                       "in_progress",
		`{"schema_version":1,"data":[` + one + `,"status":"deferred"}]}`:           "open",
		one + `,"schema_version":1,"status":"tombstone"}`:                          "closed",
		`[` + one + `,"status":"open","metadata":{"n":3,"o":{"a": [1]},"s":"t"}}]`: `{"a":[1]}`,
		`Error: disk failure`: `printed "Error: disk failure"`,
		`[{"id":"b-1","title":"\u001b[2J","status":"open","issue_type":"task","priority":2}]`:                   "cannot read the record",
		`[` + one + `,"status":"open","dependencies":[{"id":"b-9","dependency_type":"blocks"},{"id":"b-8"}]}]`:  "b-9",
		`[` + one + `,"status":"closed","close_reason":"given up","closed_at":"2026-04-02T10:00:00Z"}]`:         "given up",
		`[` + one + `,"status":"open","dependencies":[{"issue_id":"b-1","depends_on_id":"b-7","type":"blocks"}`: "printed",
	} {
		dir := initialised(t)
		with(t, "cat <<'END'\n"+said+"\nEND\nexit 0")
		b, err := open(t, dir).Get(t.Context(), "b-1")
		got := strings.Join(append([]string{string(b.Status), b.Metadata["o"],
			b.Metadata[beads.CloseReason]}, b.Needs...), " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\ngives %q, want %q", said, got, want)
		}
	}
}

// An issue that is not a valid bead still exists: other beads wait for it and can have links to it, and a purge keeps
// it and its ancestors. The store names it.
func TestUnreadableIssues(t *testing.T) {
	with(t, "")
	dir := t.TempDir()
	s := open(t, dir)
	create := func(b beads.Bead) string {
		t.Helper()
		b, err := s.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	parent := create(beads.Bead{Title: "parent"})
	broken := create(beads.Bead{Title: "escape code", ParentID: parent})
	waiting := create(beads.Bead{Title: "waiting", Needs: []string{broken}})
	if _, err := s.Update(t.Context(), parent, beads.Patch{Status: new(beads.StatusClosed)}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".beads", "metadata.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), "escape code", `escape \u001b[2J`, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ids := func(q beads.Query) (ids []string) {
		t.Helper()
		all, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			ids = append(ids, b.ID)
		}
		slices.Sort(ids)
		return ids
	}
	same(t, "ready", ids(beads.Query{Ready: true}), nil)
	found, err := s.Unreadable(t.Context())
	if err != nil || len(found) != 1 || found[0].ID != broken {
		t.Errorf("unreadable: got %+v, %v", found, err)
	}
	if _, err := s.Get(t.Context(), broken); !errors.Is(err, beads.ErrUnreadable) {
		t.Errorf("Get: %v", err)
	}
	one := create(beads.Bead{Title: "one link", Needs: []string{broken}})
	two := create(beads.Bead{Title: "two links", Needs: []string{broken, waiting}})
	if _, err := s.Update(t.Context(), waiting, beads.Patch{ParentID: new(broken)}); err != nil {
		t.Errorf("link of an existing bead: %v", err)
	}
	if n, err := s.Purge(t.Context(), beads.Query{}, time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("Purge: removed %d, %v", n, err)
	}
	same(t, "after the purge", ids(beads.Query{}),
		slices.Sorted(slices.Values([]string{parent, waiting, one, two})))

	with(t, `cat <<'END'
[{"id":"b-1","title":"\u001b[2J","status":"open","issue_type":"task","priority":2}]
END
exit 0`)
	same(t, "an unreadable issue alone", ids(beads.Query{}), nil)

	const closed = `"status":"closed","issue_type":"task","priority":2,"created_at":"2026-04-01T10:00:00Z","closed_at":"2026-04-01T11:00:00Z"`
	with(t, "cat <<'END'\n"+`[{"id":"b-1","title":"parent",`+closed+`},{"id":"b-2","title":"\u001b[2J","parent":"b-1",`+closed+`}]`+"\nEND\nexit 0")
	if n, err := s.Purge(t.Context(), beads.Query{}, time.Now()); n != 0 || err != nil {
		t.Errorf("Purge with a closed unreadable issue: removed %d, %v", n, err)
	}

	with(t, `echo '{"error":"disk failure"}'
exit 0`)
	if all, err := s.List(t.Context(), beads.Query{}); err == nil {
		t.Errorf("a message instead of issues: got %+v", all)
	}
}

func initialised(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "metadata.json"), []byte("{}"),
		0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// If bd fails, the result is an error and never an empty store.
func TestFailingBd(t *testing.T) {
	dir := initialised(t)
	for first, want := range map[string]string{
		`echo '{"error":"database is locked"}'; exit 1`: "bd list failed (exit code " +
			"1): database is locked",
		`echo '{"schema_version":1,"error":"no access"}' >&2; exit 1`: "no access",
		`echo plain words >&2; exit 3`:                                "(exit code 3): plain words",
		`exit 1`:                                                      "it printed nothing",
		`echo '[]' ; kill -9 $$`:                                      "exit code -1",
		`echo '{"schema_version":1,"data":{"error":"within"}}'; exit 1`: "within",
	} {
		with(t, first)
		if all, err := open(t, dir).List(t.Context(), beads.Query{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %q", first, all, err, want)
		}
	}
	with(t, `echo '{"error":"no issue found matching b-1"}'; exit 1`)
	if _, err := open(t, dir).Get(t.Context(), "b-1"); !errors.Is(err, beads.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for _, other := range []string{"failed to open database: exec: dolt: executable file not " +
		"found in $PATH", "database b not found"} {
		with(t, `echo '{"error":"`+other+`"}'; exit 1`)
		if _, err := open(t, dir).Get(t.Context(), "b-1"); err == nil ||
			errors.Is(err, beads.ErrNotFound) || !strings.Contains(err.Error(), other) {
			t.Errorf("%s: %v", other, err)
		}
	}
	with(t, "sleep 600 & wait")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).List(gone, beads.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := open(t, dir).List(t.Context(), beads.Query{})
	if !errors.Is(err, bd.ErrAbsent) || !strings.Contains(err.Error(), "install it") {
		t.Errorf("%v", err)
	}
}

// If bd rejects a request, the error is about the bead and not a failure of the store.
func TestRefusals(t *testing.T) {
	with(t, "")
	s := open(t, t.TempDir())
	b, err := s.Create(t.Context(), beads.Bead{Title: "a task"})
	if err != nil {
		t.Fatal(err)
	}
	epic, err := s.Create(t.Context(), beads.Bead{Title: "an epic", Type: "epic"})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(field string, err error) {
		t.Helper()
		if invalid, ok := errors.AsType[*beads.Invalid](err); !ok || invalid.Field != field ||
			!guard.Rejected(err) {
			t.Errorf("got %v, want an error about the %s", err, field)
		}
	}
	_, err = s.Update(t.Context(), b.ID, beads.Patch{Needs: &[]string{epic.ID}})
	refused("needs", err)
	_, err = s.Create(t.Context(), beads.Bead{Title: "another", Needs: []string{epic.ID}})
	refused("needs", err)
	for why, field := range map[string]string{
		`metadata edit failed for b-1: invalid metadata key "a b"`:                           "metadata",
		`Error updating b-1: invalid issue type: x`:                                          "type",
		`dependency b-1 -> b-2 already exists with type \"related\" (requested \"blocks\")`:  "links",
		`cannot reassign b-1: held by \"ann\" (in_progress); pass --force only if abandoned`: "assignee",
		`validation failed for issue b-1: title must be 500 characters or less (got 501)`:    "title",
		`invalid status \"held\" (built-in: open, in_progress, blocked)`:                     "status",
	} {
		with(t, `case $1 in update|config) echo '{"error":"`+why+`"}'; exit 1;; esac`)
		_, err := s.Update(t.Context(), b.ID, beads.Patch{Title: new("changed")})
		refused(field, err)
	}
	with(t, `[ $1 != update ] || { echo "Error updating b-1: invalid connection" >&2; exit 1; }`)
	if _, err := s.Update(t.Context(), b.ID, beads.Patch{Title: new("changed")}); guard.Rejected(err) {
		t.Errorf("a failure of the database: got %v", err)
	}
}

// The store also stores values that bd's usual arguments do not accept, and reports a type that bd renames.
func TestUnusualValues(t *testing.T) {
	with(t, "")
	s := open(t, t.TempDir())
	b, err := s.Create(t.Context(), beads.Bead{Title: "x", Description: "-",
		Labels: []string{`"a" b`, "c"}, Metadata: map[string]string{"review-by": "ann", "plain": "1"}})
	if err != nil || b.Description != "-" {
		t.Fatalf("%+v, %v", b, err)
	}
	b, err = s.Update(t.Context(), b.ID, beads.Patch{AddLabels: []string{`d"`},
		RemoveLabels: []string{`"a" b`}})
	if err != nil || !slices.Equal(b.Labels, []string{"c", `d"`}) {
		t.Errorf("labels: got %+v, %v", b, err)
	}
	if all, err := s.List(t.Context(), beads.Query{Labels: []string{`d"`}}); len(all) != 1 {
		t.Errorf("beads with a label: got %+v, %v", all, err)
	}
	p := beads.Patch{Type: new("research"),
		SetMetadata: map[string]string{"review-by": "bob", "plain": "", "a/b": "<c>"}}
	b, err = s.Update(t.Context(), b.ID, p)
	if err != nil || b.Type != "research" || len(b.Metadata) != 2 ||
		b.Metadata["review-by"] != "bob" || b.Metadata["a/b"] != "<c>" {
		t.Errorf("%+v, %v", b, err)
	}
	p = beads.Patch{SetMetadata: map[string]string{"review-by": ""}, Description: new("y")}
	if b, err = s.Update(t.Context(), b.ID, p); err != nil || len(b.Metadata) != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err = s.Update(t.Context(), b.ID, beads.Patch{Description: new("-")}); err != nil ||
		b.Description != "-" {
		t.Errorf("%+v, %v", b, err)
	}
	_, err = s.Update(t.Context(), b.ID, beads.Patch{Type: new("feat")})
	if !guard.Rejected(err) || !strings.Contains(err.Error(), `bd has stored it as "feature"`) {
		t.Errorf("renamed type: got %v", err)
	}
}

// A bead with a status that only bd has is ready if it is ready in bd. Other beads wait for it, unless it is pinned.
func TestReadyWithStatusesOfBd(t *testing.T) {
	with(t, "")
	dir := t.TempDir()
	s := open(t, dir)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(bd.Program, args...)
		cmd.Env = append(os.Environ(), "SECRET=", "BEADS_DIR="+filepath.Join(dir, ".beads"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if _, err := s.Create(t.Context(), beads.Bead{Title: "closed", Status: beads.StatusClosed}); err != nil {
		t.Fatal(err)
	}
	run("config", "set", "status.custom", "review:frozen,triaged:active,wip:wip")
	for _, status := range []string{"review", "triaged", "wip", "pinned", "blocked", "open"} {
		b, err := s.Create(t.Context(), beads.Bead{Title: status})
		if err != nil {
			t.Fatal(err)
		}
		run("update", b.ID, "--status="+status)
		if _, err := s.Create(t.Context(), beads.Bead{Title: "after " + status,
			Needs: []string{b.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := s.List(t.Context(), beads.Query{Ready: true})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, b := range ready {
		titles = append(titles, b.Title)
	}
	slices.Sort(titles)
	same(t, "ready", titles, []string{"after pinned", "open", "triaged"})
}

// Work in progress can be reassigned and returned, unless its assignee has changed in the meantime.
func TestReassign(t *testing.T) {
	with(t, "")
	s := open(t, t.TempDir())
	b, err := s.Create(t.Context(), beads.Bead{Title: "held", Assignee: "ann", Status: beads.StatusInProgress})
	if err != nil {
		t.Fatal(err)
	}
	b, err = s.Update(t.Context(), b.ID, beads.Patch{Assignee: new("bob")})
	if err != nil || b.Assignee != "bob" {
		t.Errorf("reassigned: got %+v, %v", b, err)
	}
	with(t, `case "$*" in *--if-assignee=bob*) PLAY_BD=1 "$OWN" update `+b.ID+
		` --if-assignee=bob --assignee=eve >/dev/null;; esac`)
	back := beads.Patch{Assignee: new(""), Status: new(beads.StatusOpen)}
	if _, err := s.Update(t.Context(), b.ID, back); !errors.Is(err, beads.ErrConflict) {
		t.Errorf("reassigned by bd in the meantime: got %v", err)
	}
	with(t, "")
	if b, err = s.Update(t.Context(), b.ID, back); err != nil || b.Assignee != "" ||
		b.Status != beads.StatusOpen {
		t.Errorf("returned: got %+v, %v", b, err)
	}
}

// Each operation reports a missing bead as missing, not as a failure of the store.
func TestMissingBead(t *testing.T) {
	with(t, "")
	dir := t.TempDir()
	s := open(t, dir)
	a, err := s.Create(t.Context(), beads.Bead{Title: "a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Create(t.Context(), beads.Bead{Title: "b"})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(op, why string) {
		t.Helper()
		with(t, `[ "$1" != `+op+` ] || { echo '{"error":"`+why+`"}'; exit 1; }`)
	}
	var invalid *beads.Invalid
	link := beads.Patch{Needs: &[]string{a.ID}}
	for _, why := range []string{"no issue found matching " + a.ID, "issue not found: " + a.ID} {
		fails("create", why)
		if _, err := s.Create(t.Context(), beads.Bead{Title: "c", Needs: []string{a.ID},
			ParentID: b.ID}); !errors.As(err, &invalid) || !strings.Contains(err.Error(), a.ID) {
			t.Errorf("%s: create: %v", why, err)
		}
		fails("dep", why)
		if _, err := s.Update(t.Context(), b.ID, link); !errors.As(err, &invalid) ||
			invalid.Which != "bead "+b.ID {
			t.Errorf("%s: dep: %v", why, err)
		}
	}
	for _, why := range []string{"no issue found", "no issue found matching " + b.ID} {
		fails("dep", why)
		if _, err := s.Update(t.Context(), b.ID, link); !errors.Is(err, beads.ErrNotFound) {
			t.Errorf("%s: %v", why, err)
		}
	}
	fails("dep", "database is locked")
	if _, err := s.Update(t.Context(), b.ID, link); err == nil ||
		errors.Is(err, beads.ErrNotFound) || errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
	with(t, `case "$*" in "delete "*`+a.ID+
		`*) [ -e "$BEADS_DIR/../gone" ] || { touch "$BEADS_DIR/../gone"; PLAY_BD=1 GORACE=atexit_sleep_ms=0 "$OWN" delete `+a.ID+` --force >/dev/null
		echo '{"error":"no issue found matching `+a.ID+`"}'; exit 1; };; esac`)
	for _, id := range []string{a.ID, b.ID} {
		if _, err := s.Update(t.Context(), id, beads.Closing()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Purge(t.Context(), beads.Query{}, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if all, err := s.List(t.Context(), beads.Query{}); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
