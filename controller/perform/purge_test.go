package perform

import (
	"fmt"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

// By default, old run records are removed, except the newest of each automation. Wisps are kept.
func TestOldRecordsOfRunsGo(t *testing.T) {
	w, store := workBench(t)
	var all []beads.Bead
	add := func(kind, label string, n int, age time.Duration, open bool) {
		for i := range n {
			at := time.Now().Add(-age).Add(time.Duration(i-n) * time.Minute)
			b := beads.Bead{ID: fmt.Sprintf("tw-%d", len(all)+1), Title: "x", Type: kind,
				Status: beads.StatusClosed, Labels: []string{label}, CreatedAt: at, UpdatedAt: at,
				ClosedAt: &at}
			if open {
				b.Status, b.ClosedAt = beads.StatusInProgress, nil
			}
			all = append(all, b)
		}
	}
	day := 24 * time.Hour
	add(city.RunType, city.RunLabel+"often", 150, 20*day, false)
	add(city.RunType, city.RunLabel+"often", 1, 20*day, true)
	add(city.RunType, city.RunLabel+"often", 70, day, false)
	add(city.RunType, city.RunLabel+"seldom", 30, 400*day, false)
	add(city.RunType, city.RunLabel+"lately", 150, day, false)
	add(beads.TypeMolecule, wispLabel, 5, 400*day, false)
	if _, err := store.Restore(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	f := effect.Purge{Runs: 14 * day, Of: []string{"lately", "often", "seldom"}}
	if in := w.r.work.purge(t.Context(), f).(effect.Purged); in.Err != nil || in.N != 120 {
		t.Errorf("%+v", in)
	}
	for label, want := range map[string]int{city.RunLabel + "often": 101,
		city.RunLabel + "seldom": 30, city.RunLabel + "lately": 150, wispLabel: 5} {
		if n, err := store.Count(t.Context(), beads.Query{Labels: []string{label}}); err != nil ||
			n != want {
			t.Errorf("%s: %d are left, want %d: %v", label, n, want, err)
		}
	}
}
