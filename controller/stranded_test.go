package controller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
)

// Work that is assigned to a suspended agent is reported after a while. It is no longer reported when it has been
// returned.
func TestStrandedWorkIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := fake.New("tw")
		w := newTown(t, strings.Replace(two, "[[agents]]", "[[agents]]\nsuspended = true", 1),
			func(o *Options) {
				o.Stores = func(string) (beads.Store, error) { return store, nil }
			})
		end := w.begin()
		defer end()
		synctest.Wait()
		if got := w.state("a"); got != string(city.Suspended) {
			t.Fatal(got)
		}
		b, err := store.Create(t.Context(), beads.Bead{Title: "x", Status: beads.StatusInProgress,
			Assignee: "a"})
		if err != nil {
			t.Fatal(err)
		}
		lines := func() string {
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(s.StrandedLines(), "\n")
		}
		time.Sleep(city.StrandedAfter - time.Minute)
		if got := lines(); got != "" {
			t.Errorf("too soon: %s", got)
		}
		time.Sleep(3 * time.Minute)
		if got := lines(); !strings.HasPrefix(got, b.ID+" is assigned to a, which is "+
			"suspended in city.toml: ") {
			t.Errorf("after a while: %q", got)
		}
		if _, err := w.Do(t.Context(), city.UpdateBead{ID: b.ID,
			Patch: beads.Patch{Status: new(beads.StatusOpen), Assignee: new("")}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := lines(); got != "" {
			t.Errorf("given back: %s", got)
		}
	})
}
