package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gcity/beads"
)

// An export of a store with a damaged page contains all beads that are not on this page, and names the others.
func TestExportOfADamagedStore(t *testing.T) {
	t.Parallel()
	const all, pageSize = 200, 4096
	s := open(t, t.TempDir())
	batch := make([]beads.Bead, all)
	for i := range batch {
		batch[i] = beads.Bead{Title: fmt.Sprintf("title %d", i),
			Description: fmt.Sprintf("text %d;", i) + strings.Repeat(" long", 100)}
	}
	made, err := s.CreateAll(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if done, err := beads.Export(t.Context(), s, &want); done.Beads != all || len(done.Omitted) > 0 ||
		done.Damage != nil || err != nil {
		t.Fatal(done, err)
	}
	data := content(t, s)
	page := bytes.Index(data, []byte("text 100;")) / pageSize * pageSize
	copy(data[page:], bytes.Repeat([]byte{0xa5}, pageSize))
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir(s))
	if _, err := s.List(t.Context(), beads.Query{Limit: -1}); err == nil ||
		!strings.Contains(err.Error(), "is damaged") {
		t.Fatalf("List: %v", err)
	}
	var got bytes.Buffer
	done, err := beads.Export(t.Context(), s, &got)
	omitted := done.Omitted
	if err != nil || done.Beads+len(omitted) != all || done.Beads < all-20 || done.Damage == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	lost := func(id string) bool {
		return slices.ContainsFunc(omitted, func(u beads.Unreadable) bool {
			return u.ID == id && strings.Contains(u.Reason, "malformed")
		})
	}
	if !lost(made[100].ID) {
		t.Errorf("omitted %+v", omitted)
	}
	i, rest := 0, strings.SplitAfter(want.String(), "\n")
	for line := range strings.Lines(got.String()) {
		for ; lost(made[i].ID); i++ {
		}
		if line != rest[i] {
			t.Errorf("line of %s: got %s, want %s", made[i].ID, line, rest[i])
		}
		i++
	}
}

// If only the index that List uses is damaged, an export contains all beads and reports the damage.
func TestExportWithADamagedIndex(t *testing.T) {
	t.Parallel()
	const all, pageSize = 20, 4096
	s := open(t, t.TempDir())
	batch := make([]beads.Bead, all)
	for i := range batch {
		batch[i] = beads.Bead{Title: fmt.Sprintf("title %d", i)}
	}
	if _, err := s.CreateAll(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if _, err := beads.Export(t.Context(), s, &want); err != nil {
		t.Fatal(err)
	}
	page, err := reading(t.Context(), s, nil, func(ctx context.Context, f *file) (n int, err error) {
		st, err := f.reader(ctx, `SELECT rootpage FROM sqlite_schema WHERE name = 'by_age'`)
		if err == nil {
			err = st.QueryRowContext(ctx).Scan(&n)
		}
		return n, err
	})
	if err != nil {
		t.Fatal(err)
	}
	data := content(t, s)
	copy(data[(page-1)*pageSize:], bytes.Repeat([]byte{0xa5}, pageSize))
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := beads.Export(t.Context(), open(t, dir(s)), &got)
	if err != nil || done.Beads != all || len(done.Omitted) > 0 || done.Damage == nil ||
		!strings.Contains(done.Damage.Error(), "is damaged") || got.String() != want.String() {
		t.Errorf("%+v, %v", done, err)
	}
}
