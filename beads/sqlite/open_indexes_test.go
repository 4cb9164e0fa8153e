package sqlite

import (
	"context"
	"strings"
	"testing"
	"time"

	"gcity/beads"
)

const dropOpenIndexes = `DROP TRIGGER label_added; DROP TRIGGER label_removed;
	DROP TRIGGER bead_closed; DROP TRIGGER bead_reopened;
	DROP TABLE open_labels; DROP INDEX by_open_assignee; DROP INDEX by_closed`

// A store from an older gcity gets the indexes of open beads. They stay correct while a process of the older version
// writes to the file that it opened before.
func TestOlderProcessKeepsOpenIndexes(t *testing.T) {
	at := t.TempDir()
	older := open(t, at)
	made := map[string]string{}
	add := func(title string) {
		b, err := older.Create(t.Context(), beads.Bead{Title: title, Assignee: "x", Labels: []string{"k"}})
		if err != nil {
			t.Fatal(err)
		}
		made[title] = b.ID
	}
	update := func(title string, p beads.Patch) {
		if _, err := older.Update(t.Context(), made[title], p); err != nil {
			t.Fatal(err)
		}
	}
	add("a")
	add("b")
	add("c")
	add("d")
	update("b", beads.Closing())
	tamper(t, older, dropOpenIndexes)
	older.file.openIndexes = false

	newer := open(t, at)
	check := func(want string) {
		t.Helper()
		for _, q := range []beads.Query{{Labels: []string{"k"}}, {Assignee: "x"}} {
			q.Status = beads.Unclosed()
			for _, s := range []*Store{older, newer} {
				all, err := s.List(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				var have []string
				for _, b := range all {
					have = append(have, b.Title)
				}
				if got := strings.Join(have, " "); got != want {
					t.Errorf("%+v: got %q, want %q", q, got, want)
				}
			}
		}
	}
	check("d c a")
	open := beads.StatusOpen
	update("a", beads.Closing())
	update("b", beads.Patch{Status: &open})
	update("d", beads.Patch{RemoveLabels: []string{"k"}, Assignee: new("")})
	add("e")
	check("e c b")
}

// If the indexes of open beads cannot be created, the store works without them.
func TestStoreWithoutOpenIndexes(t *testing.T) {
	at := t.TempDir()
	first := open(t, at)
	b, err := first.Create(t.Context(), beads.Bead{Title: "a", Labels: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, first, dropOpenIndexes+`; CREATE VIEW by_open_assignee AS SELECT 1`)
	s := open(t, at)
	if _, err := s.Update(t.Context(), b.ID, beads.Patch{Title: new("b")}); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(t.Context(), beads.Query{Labels: []string{"k"}, Status: beads.Unclosed()})
	if err != nil || len(all) != 1 || all[0].Title != "b" || s.file.openIndexes {
		t.Error(all, err, s.file.openIndexes)
	}
}

// A process that opens a store of an older gcity can read it while another process holds its lock. It uses the indexes
// that exist.
func TestOpenIndexesDoNotWaitForLock(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	first := open(t, at)
	b, err := first.Create(t.Context(), beads.Bead{Title: "a", Labels: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, first, `DROP INDEX by_closed`)
	release := locked(t, at, `BEGIN IMMEDIATE`)
	defer release()
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	s := open(t, at)
	all, err := s.List(short, beads.Query{Labels: []string{"k"}, Status: beads.Unclosed()})
	if err != nil || len(all) != 1 || all[0].ID != b.ID || !s.file.openIndexes || s.file.closedIndex {
		t.Error(all, err, s.file.openIndexes, s.file.closedIndex)
	}
	release()
	if open(t, at).Probe(t.Context()) != nil || s.Probe(t.Context()) != nil {
		t.Error("cannot write after the lock is released")
	}
}

// A query for open beads does not visit the closed beads of the same label or assignee. A query for recently closed
// beads does not visit the others.
func TestQueriesSkipOldBeads(t *testing.T) {
	s := open(t, t.TempDir())
	create(t, s, "a")
	for index, q := range map[string]beads.Query{
		"open_labels":      {Labels: []string{"k"}, Assignee: "x", Status: beads.Unclosed()},
		"by_open_assignee": {Assignee: "x", Ready: true},
		"by_closed": {Assignee: "x", Status: []beads.Status{beads.StatusClosed},
			ClosedSince: time.Now()},
	} {
		x := s.file.find(q)
		text, args := x.count()
		var id, parent, unused int
		var step string
		if err := s.file.read.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN `+text, args...).
			Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(x.from, index) || !strings.HasPrefix(step, "SEARCH") {
			t.Errorf("%+v reads %s: %s", q, x.from, step)
		}
	}
}
