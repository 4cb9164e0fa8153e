package beads

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type importStore struct {
	Store
	all []Bead
}

func (s *importStore) Restore(_ context.Context, all []Bead) (Restored, error) {
	var done Restored
	for _, b := range all {
		i := 0
		var have *Bead
		for ; i < len(s.all); i++ {
			if s.all[i].ID == b.ID {
				have = &s.all[i]
				break
			}
		}
		b, what, err := Merge(have, b, noon)
		if err != nil {
			return done, err
		}
		done.Count(what)
		if have == nil {
			s.all = append(s.all, b)
		} else {
			s.all[i] = b
		}
	}
	return done, nil
}

func (s *importStore) List(context.Context, Query) ([]Bead, error) {
	var all []Bead
	for i := range s.all {
		all = append(all, s.all[len(s.all)-1-i].Clone())
	}
	return all, nil
}

func imported(t *testing.T, text string) (*importStore, Imported) {
	t.Helper()
	s := &importStore{}
	done, err := Import(t.Context(), s, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s, done
}

// A bead is exported in the JSON format of bd.
func TestIssueShape(t *testing.T) {
	b := bead("gc-3", StatusInProgress, "gc-2")
	b.ParentID, b.Ref, b.Labels, b.Priority, b.Assignee, b.Description = "gc-1", "paint", []string{"a", "b"}, Urgent, "x", "<&>"
	b.Metadata = map[string]string{
		"k": "v", "bd.notes": "as it was", "bd.estimate": "30", "bd.quoted": `"30"`, "bd.title": "kept apart", "bd.status": "hooked",
		"bd.dependencies": `[{"issue_id":"gc-3","depends_on_id":"gc-9","type":"related"}]`,
	}
	var out bytes.Buffer
	if _, err := Export(t.Context(), &importStore{all: []Bead{b}}, &out); err != nil {
		t.Fatal(err)
	}
	const want = `{"_type":"issue","assignee":"x","created_at":"2026-11-21T12:00:00Z","dependencies":[` +
		`{"issue_id":"gc-3","depends_on_id":"gc-9","type":"related"},{"issue_id":"gc-3","depends_on_id":"gc-2","type":"blocks"},` +
		`{"issue_id":"gc-3","depends_on_id":"gc-1","type":"parent-child"}],"description":"<&>","estimate":30,"id":"gc-3","issue_type":"task",` +
		`"labels":["a","b"],"metadata":{"bd.title":"kept apart","gc.ref":"paint","k":"v"},"notes":"as it was","parent":"gc-1","priority":0,` +
		`"quoted":"30","status":"hooked","title":"gc-3","updated_at":"2026-11-21T12:00:00Z"}` + "\n"
	if out.String() != want {
		t.Errorf("%s", cmp.Diff(want, out.String()))
	}
	s, done := imported(t, out.String())
	if len(done.Problems) > 0 || len(s.all) != 1 || !s.all[0].Same(b) {
		t.Errorf("%+v\n%s", done, cmp.Diff(s.all, []Bead{b}))
	}
}

// An import keeps what only bd has. It skips records that are not issues.
func TestImportForeignIssues(t *testing.T) {
	s, done := imported(t, `
{"_type":"issue","id":"mh-a3f","title":"Fix the door","description":"It squeaks.\r\nOil it.","notes":"hall","design":"","acceptance_criteria":"silence","status":"blocked","priority":1,"issue_type":"bug","assignee":"ann","owner":"ann@example.org","estimated_minutes":30,"created_at":"2025-10-16T20:46:02.1+02:00","created_by":"ann","updated_at":"2025-10-17T08:00:00Z","labels":["house","house"],"dependencies":[{"issue_id":"mh-a3f","depends_on_id":"mh-1","type":"blocks","created_at":"2025-10-16T20:46:02Z","created_by":"ann"},{"issue_id":"mh-a3f","depends_on_id":"mh-2","type":"parent-child"},{"issue_id":"mh-a3f","depends_on_id":"mh-3","type":"discovered-from","metadata":"{}"}],"comments":[{"id":1,"text":"really"}],"comment_count":1,"dependency_count":3,"metadata":{"n":42,"s":"text","o":{"a": 1},"none":null}}

{"_type":"memory","key":"k","value":"v"}
{"_type":"issue","id":"mh-gone","title":"deleted","status":"tombstone","created_at":"2025-10-16T20:46:02Z","updated_at":"2025-10-16T20:46:02Z"}
{"id":"mh-1","title":"Buy oil","status":"closed","priority":2,"created_at":"2025-10-16T18:00:00Z","updated_at":"2025-10-16T19:00:00Z","close_reason":"done"}`)
	if done.Other != 2 || len(done.Problems) > 0 || done.Created != 2 {
		t.Fatalf("%+v", done)
	}
	door, oil := s.all[0], s.all[1]
	created := time.Date(2025, 10, 16, 18, 46, 2, 100_000_000, time.UTC)
	want := Bead{
		ID: "mh-a3f", Title: "Fix the door", Description: "It squeaks.\nOil it.", Status: StatusOpen, Type: "bug", Priority: High, Assignee: "ann",
		ParentID: "mh-2", Needs: []string{"mh-1"}, Labels: []string{"house"}, CreatedAt: created, UpdatedAt: time.Date(2025, 10, 17, 8, 0, 0, 0, time.UTC), Rev: 1,
		Metadata: map[string]string{
			"n": "42", "s": "text", "o": `{"a":1}`, "bd.status": "blocked", "bd.notes": "hall", "bd.acceptance_criteria": "silence", "bd.owner": "ann@example.org",
			"bd.estimated_minutes": "30", "bd.created_by": "ann", "bd.comments": `[{"id":1,"text":"really"}]`,
			"bd.dependencies": `[{"issue_id":"mh-a3f","depends_on_id":"mh-3","type":"discovered-from","metadata":"{}"}]`,
		},
	}
	if d := cmp.Diff(want, door); d != "" {
		t.Error(d)
	}
	if oil.Status != StatusClosed || !oil.ClosedAt.Equal(oil.UpdatedAt) || oil.Priority != Normal || oil.Metadata["bd.close_reason"] != "done" {
		t.Errorf("%+v", oil)
	}
}

// An invalid line is reported, and all other lines are imported.
func TestImportInvalidLines(t *testing.T) {
	ok := `{"id":"x-%","title":"t","created_at":"2025-10-16T18:00:00Z","updated_at":"2025-10-16T18:00:00Z"}`
	line := func(id string) string { return strings.Replace(ok, "%", id, 1) }
	s, done := imported(t, strings.Join([]string{
		line("1"),
		`{"id":"x-2",`,
		`[]`,
		`{"id":"x-4","title":"","created_at":"2025-10-16T18:00:00Z"}`,
		`{"id":"x-5","title":"t","priority":"high"}`,
		`{"title":"t"}`,
		`{"id":"x-7","title":"bell\u0007"}`,
		`{"id":"x-8","title":"t","description":"` + strings.Repeat("x", maxLine) + `"}`,
		`{"id":"x-9","title":"t","dependencies":[5]}`,
		strings.Replace(line("1"), `"t"`, `"again"`, 1),
		`{"id":"x-11","title":"without times"}`,
		line("12"),
	}, "\n"))
	want := []string{
		"line 2: not a JSON object: invalid JSON at byte 13",
		"line 3: not a JSON object: a JSON array is not valid here",
		"line 4 (x-4): bead x-4: its title is empty: describe in one line what is to be done",
		"line 5 (x-5): its priority cannot be read: invalid priority: use a number from 0 (most urgent) to 4, not \"high\"",
		"line 6: the bead: its id is missing",
		"line 7 (x-7): bead x-7: its title contains the character U+0007, which is invisible or hides other characters, in line 1: remove it",
		"line 8: the line has more than 4194304 bytes",
		"line 9 (x-9): its dependencies cannot be read: a JSON number is not valid here",
	}
	var got []string
	for _, p := range done.Problems {
		got = append(got, p.Error())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(s.all) != 3 || s.all[0].Title != "again" || s.all[1].ID != "x-11" || !s.all[1].CreatedAt.Equal(noon) || s.all[2].ID != "x-12" {
		t.Errorf("%+v", s.all)
	}
}

type broken struct{}

var errBroken = errors.New("connection lost")

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenStreams(t *testing.T) {
	s := &importStore{all: []Bead{bead("gc-1", StatusOpen)}}
	if _, err := Export(t.Context(), s, broken{}); !errors.Is(err, errBroken) {
		t.Errorf("export: %v", err)
	}
	if done, err := Import(t.Context(), s, broken{}); !errors.Is(err, errBroken) {
		t.Errorf("import: %+v, %v", done, err)
	}
	if _, err := Import(t.Context(), struct{ Store }{}, strings.NewReader("")); err == nil {
		t.Error("a store that is not a Restorer accepted an import")
	}
}

// Imported issues are exported unchanged, and an export can be imported again.
func FuzzIssue(f *testing.F) {
	f.Add(`{"_type":"issue","id":"a-1","title":"t","status":"blocked","priority":0,"notes":"x","dependencies":[{"issue_id":"a-1","depends_on_id":"b","type":"blocks"}],"created_at":"2025-10-16T18:00:00Z"}`)
	f.Add(`{"id":"a-1","title":"t","metadata":{"bd.status":"open","bd.dependencies":"[1]","gc.ref":"r","bd.x":"null","bd.y":"1 "},"updated_at":"2025-10-16T18:00:00Z"}`)
	f.Add(`{"id":"a-1","title":"t","x":"\u001b","y":{"a" : "<"},"z":"\"q\"","status":"tombstone","created_at":"2025-10-16T18:00:00+25:00"}`)
	f.Fuzz(func(t *testing.T, line string) {
		b, err := fromIssue([]byte(line))
		if err != nil {
			return
		}
		if b, _, err = Merge(nil, b, noon); err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := Export(t.Context(), &importStore{all: []Bead{b}}, &out); err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		s, done := imported(t, out.String())
		if len(s.all) != 1 || !s.all[0].Same(b) {
			t.Fatalf("%s\n%+v\n%s", out.String(), done, cmp.Diff([]Bead{b}, s.all))
		}
		var any map[string]any
		if err := json.Unmarshal(out.Bytes(), &any); err != nil {
			t.Fatal(err)
		}
	})
}
