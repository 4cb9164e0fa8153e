package workstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/beads"
	"gcity/cli/folder"
)

func shelf(t *testing.T) Place {
	t.Helper()
	dir := t.TempDir()
	where := Place{Rig: "shop", Dir: filepath.Join(dir, "shop"), Prefix: "sh", City: dir}
	if err := errors.Join(os.Mkdir(where.Dir, 0o700), os.Mkdir(folder.StateDir(dir), 0o700)); err != nil {
		t.Fatal(err)
	}
	addBead(t, where)
	return where
}

func addBead(t *testing.T, where Place) string {
	t.Helper()
	s, err := OpenStore(where)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Create(t.Context(), beads.Bead{Title: "a"})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return b.ID
}

// A backup is made at most once a day, and three are kept.
func TestDailyBackups(t *testing.T) {
	where := shelf(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	look := func() (all, days []string) {
		t.Helper()
		if err := backUpAll(t.Context(), []Place{where}, now); err != nil {
			t.Fatal(err)
		}
		have, err := where.backups()
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range have {
			all = append(all, filepath.Base(b.path))
			days = append(days, b.at.Format("02"))
		}
		return all, days
	}
	look()
	now = now.Add(23 * time.Hour)
	if all, _ := look(); len(all) != 1 {
		t.Errorf("a second backup on the first day: got %v", all)
	}
	s, err := where.embedded()
	if err != nil {
		t.Fatal(err)
	}
	_, err = where.BackUp(t.Context(), s, Manual, now)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		now = now.Add(25 * time.Hour)
		look()
	}
	if all, days := look(); strings.Join(days, " ") != "07 06 05 02" || !strings.HasPrefix(all[3], "manual-") {
		t.Errorf("backups: got %v", all)
	}
	if err := os.RemoveAll(filepath.Join(where.Dir, folder.WorkFolder)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(25 * time.Hour)
	if all, _ := look(); len(all) != 4 {
		t.Errorf("backups after the store was lost: got %v", all)
	}
	s, err = where.embedded()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Accept(t.Context())
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		now = now.Add(25 * time.Hour)
		look()
	}
	if all, _ := look(); len(all) != 7 {
		t.Errorf("backups of the previous store: got %v", all)
	}
}

// After the clock was set back, a new backup is still the newest one. It is kept, and is made only once a day.
func TestBackupsAfterTheClockWasSetBack(t *testing.T) {
	where := shelf(t)
	now := time.Now()
	backUp := func(now time.Time) string {
		t.Helper()
		if err := backUpAll(t.Context(), []Place{where}, now); err != nil {
			t.Fatal(err)
		}
		path, err := where.NewestBackup()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	seen := map[string]bool{}
	for _, ahead := range []time.Duration{365 * day, 366 * day, 367 * day} {
		at := now.Add(ahead)
		path := backUp(at)
		seen[path] = true
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	path := backUp(now)
	if len(seen) != 3 || seen[path] {
		t.Fatalf("the newest backup is %s of %v", path, seen)
	}
	if again := backUp(now.Add(day / 2)); again != path {
		t.Errorf("a second backup on the same day: %s after %s", again, path)
	}
	if next := backUp(now.Add(day + time.Hour)); seen[next] || next == path {
		t.Errorf("no backup on the next day: %s", next)
	}
	if all, err := where.backups(); err != nil || len(all) != backupsKept {
		t.Errorf("%v, %v", all, err)
	}
}

// Backups that are made at the same time are all kept.
func TestBackupsAtTheSameTime(t *testing.T) {
	where := shelf(t)
	now := time.Now()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := where.embedded()
			if err != nil {
				t.Error(err)
				return
			}
			_, err = where.BackUp(t.Context(), s, Manual, now)
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if have, err := where.backups(); err != nil || len(have) != 4 {
		t.Errorf("got %v, %v; want 4 backups", have, err)
	}
}
