package sqlite

import (
	"bytes"
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
	if n, omitted, err := beads.Export(t.Context(), s, &want); n != all || len(omitted) > 0 || err != nil {
		t.Fatal(n, omitted, err)
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
	n, omitted, err := beads.Export(t.Context(), s, &got)
	if err != nil || n+len(omitted) != all || n < all-20 {
		t.Fatalf("exported %d, omitted %+v, %v", n, omitted, err)
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
