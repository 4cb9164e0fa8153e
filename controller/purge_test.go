package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

// Without a word in the configuration records of runs do not pile up for ever: the old ones go, but for the newest of each
// automation. Wisps stay.
func TestOldRecordsOfRunsGo(t *testing.T) {
	w, store := workTown(t)
	var all []beads.Bead
	add := func(kind, label string, n int, age time.Duration, open bool) {
		for i := range n {
			at := time.Now().Add(-age).Add(time.Duration(i-n) * time.Minute)
			b := beads.Bead{ID: fmt.Sprintf("tw-%d", len(all)+1), Title: "x", Type: kind, Status: beads.StatusClosed, Labels: []string{label}, CreatedAt: at, UpdatedAt: at, ClosedAt: &at}
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
	var f effect.Purge
	w.m.work.swept, w.m.conf.NoWork = true, false
	for _, name := range []string{"often", "seldom", "lately"} {
		w.m.work.runs.Recall(map[string]automation.Memory{name: {}})
	}
	w.m.out = nil
	w.m.purge(time.Now())
	for _, e := range w.m.out {
		f = e.(effect.Purge)
	}
	if in := w.runner.purge(t.Context(), f).(effect.Purged); in.Err != nil || in.N != 120 {
		t.Errorf("%+v", in)
	}
	for label, want := range map[string]int{city.RunLabel + "often": 101, city.RunLabel + "seldom": 30, city.RunLabel + "lately": 150, wispLabel: 5} {
		if n, err := store.Count(t.Context(), beads.Query{Labels: []string{label}}); err != nil || n != want {
			t.Errorf("%s: %d are left, want %d: %v", label, n, want, err)
		}
	}
}

// A look for backups that are due is ordered every ten minutes, one at a time, and a failure is shown until one succeeds.
func TestBackUp(t *testing.T) {
	w, _ := workTown(t)
	m := w.m
	m.conf.Backups, m.settling = true, false
	now := time.Now()
	orders := func() (n int) {
		m.out = nil
		m.backUp(now)
		return len(m.out)
	}
	if orders() != 1 || orders() != 0 {
		t.Error("a look is not ordered once")
	}
	m.step(now, effect.BackedUp{Err: errors.New("the disk is full")})
	if m.work.unbacked != "work cannot be backed up: the disk is full" || orders() != 0 {
		t.Error(m.work.unbacked)
	}
	if now = now.Add(backupLook); orders() != 1 {
		t.Error("it is not tried again")
	}
	m.step(now, effect.BackedUp{})
	if m.work.unbacked != "" {
		t.Error(m.work.unbacked)
	}
}
