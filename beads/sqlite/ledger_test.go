package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gcity/beads"
)

func known(t testing.TB, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	s.ledger = Ledger{File: filepath.Join(dir, "stores", "city.json"), Folder: ".", Restore: "gcity bead restore"}
	return s
}

func remove(t *testing.T, s *Store) {
	t.Helper()
	if err := os.RemoveAll(s.folder); err != nil {
		t.Fatal(err)
	}
}

func backup(t *testing.T, s *Store) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	return to
}

// If the store is lost, every call fails. No new store is created.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(t *testing.T, s *Store)
		why  string
	}{
		"missing": {remove, "is missing"},
		"empty": {func(t *testing.T, s *Store) {
			remove(t, s)
			if err := errors.Join(os.Mkdir(s.folder, 0o700), os.WriteFile(s.path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "is empty"},
		"another": {func(t *testing.T, s *Store) {
			remove(t, s)
			create(t, open(t, dir(s)), "other")
			create(t, known(t, t.TempDir()), "elsewhere")
		}, "is not the store that the city used before"},
	} {
		t.Run(name, func(t *testing.T) {
			s := known(t, t.TempDir())
			create(t, s, "a")
			c.lose(t, s)
			for _, s := range []*Store{s, known(t, dir(s))} {
				everyCall(t, patience, s, func(what string, err error) {
					lost, ok := errors.AsType[*LostError](err)
					if !ok || lost.Why != c.why || lost.Last < 1 {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			if _, err := os.Stat(s.path); name == "missing" && err == nil {
				t.Error("a store was created")
			}
		})
	}
}

// With a damaged ledger, an existing store still works, but a missing store is an error.
func TestDamagedLedger(t *testing.T) {
	s := known(t, t.TempDir())
	create(t, s, "a")
	spoil := func() {
		if err := os.WriteFile(s.ledger.File, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil()
	fresh := known(t, dir(s))
	titles(t, fresh, "a")
	create(t, fresh, "b")
	if id, ok, err := fresh.ledger.Read(); !ok || err != nil || id.Last < 2 {
		t.Errorf("%v %v %v", id, ok, err)
	}
	spoil()
	remove(t, s)
	if _, err := fresh.Create(t.Context(), beads.Bead{Title: "c"}); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Error(err)
	}
}

// A process with too many open files does not report the store as lost.
func TestLedgerWithoutOpenFiles(t *testing.T) {
	s := known(t, t.TempDir())
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 0, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	err := s.missing("is missing")
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if _, lost := errors.AsType[*LostError](err); lost || !errors.Is(err, syscall.EMFILE) {
		t.Error(err)
	}
}

// A number is never used in two IDs.
func TestIDsNeverRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("creates many beads")
	}
	t.Parallel()
	for name, recover := range map[string]func(t *testing.T, s *Store, copy string){
		"restored": func(t *testing.T, s *Store, copy string) {
			remove(t, s)
			if got, err := s.Recover(t.Context(), copy, false); err != nil || got.Beads != 1 {
				t.Fatal(got, err)
			}
			titles(t, s, "early")
		},
		"restored over an intact store": func(t *testing.T, s *Store, copy string) {
			if _, err := s.Recover(t.Context(), copy, false); !errors.Is(err, beads.ErrConflict) {
				t.Fatal(err)
			}
			got, err := s.Recover(t.Context(), copy, true)
			if err != nil {
				t.Fatal(err)
			}
			titles(t, s, "early")
			if c, err := inspect(t.Context(), got.Kept); err != nil || c.Beads != 101 {
				t.Error(c, err)
			}
		},
		"accepted": func(t *testing.T, s *Store, _ string) {
			remove(t, s)
			if _, err := s.Accept(t.Context()); err != nil {
				t.Fatal(err)
			}
			titles(t, s, "")
		},
		"accepted another": func(t *testing.T, s *Store, _ string) {
			remove(t, s)
			create(t, open(t, dir(s)), "other")
			if _, err := s.Accept(t.Context()); err != nil {
				t.Fatal(err)
			}
			titles(t, s, "other")
		},
		"replaced by an older copy": func(t *testing.T, s *Store, copy string) {
			data, err := os.ReadFile(copy)
			if err != nil {
				t.Fatal(err)
			}
			remove(t, s)
			if err := errors.Join(os.Mkdir(s.folder, 0o700), os.WriteFile(s.path, data, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := known(t, t.TempDir())
			used := map[string]bool{create(t, s, "early").ID: true}
			copy := backup(t, s)
			for n := range 100 {
				used[create(t, s, fmt.Sprint(n)).ID] = true
			}
			recover(t, s, copy)
			for _, s := range []*Store{s, known(t, dir(s))} {
				if b := create(t, s, "late"); used[b.ID] {
					t.Errorf("the ID %s was used twice", b.ID)
				}
			}
			if s, err := s.Examine(t.Context()); err != nil || len(s.ForeignFiles) > 0 {
				t.Error(s, err)
			}
		})
	}
}

// A damaged store can be replaced without force. A damaged backup does not replace anything.
func TestRecoverDamaged(t *testing.T) {
	s := known(t, t.TempDir())
	create(t, s, "a")
	copy := backup(t, s)
	data := content(t, s)
	junk := []byte(strings.Repeat("junk", 4096))
	if err := errors.Join(os.WriteFile(s.path, junk, 0o600), os.WriteFile(copy+".bad", data[:5000], 0o600)); err != nil {
		t.Fatal(err)
	}
	s = known(t, dir(s))
	if _, err := s.Recover(t.Context(), copy+".bad", true); err == nil {
		t.Error("a damaged backup was restored")
	}
	if now, err := os.ReadFile(s.path); err != nil || string(now) != string(junk) {
		t.Error("a failed restore changed the store", err)
	}
	got, err := s.Recover(t.Context(), copy, false)
	if err != nil {
		t.Fatal(err)
	}
	titles(t, s, "a")
	if kept, err := os.ReadFile(got.Kept); err != nil || string(kept) != string(junk) {
		t.Error(err)
	}
}

// A restored store has its journal mode before the first process opens it.
func TestRecoveredJournalMode(t *testing.T) {
	for _, want := range []string{"wal", "delete"} {
		s := known(t, t.TempDir())
		s.journal = func(string) (string, error) { return want, nil }
		create(t, s, "a")
		if _, err := s.Recover(t.Context(), backup(t, s), true); err != nil {
			t.Fatal(err)
		}
		var mode string
		err := withDatabase(s.path, "mode=ro&", func(db *sql.DB) error {
			return db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode)
		})
		if err != nil || mode != want {
			t.Errorf("got journal mode %q and %v, want %q", mode, err, want)
		}
	}
}

// A write during a restore is in the store or in the kept file.
func TestRecoverUnderWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	at := t.TempDir()
	s := known(t, at)
	create(t, s, "a")
	copy := backup(t, s)
	made := make([][]string, 4)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range made {
		w := known(t, at)
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				b, err := w.Create(t.Context(), beads.Bead{Title: "w"})
				if err != nil {
					t.Error(err)
					return
				}
				made[n] = append(made[n], b.ID)
			}
		})
	}
	var files []string
	for range 5 {
		got, err := s.Recover(t.Context(), copy, true)
		if err != nil {
			t.Error(err)
			break
		}
		files = append(files, got.Kept)
	}
	close(stop)
	wg.Wait()
	have := map[string]int{}
	for _, path := range append(files, s.path) {
		to := filepath.Join(t.TempDir(), Folder)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", "-wal"} {
			if data, err := os.ReadFile(path + end); err == nil {
				if err := os.WriteFile(filepath.Join(to, File+end), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		all, err := open(t, filepath.Dir(to)).List(t.Context(), beads.Query{Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			have[b.ID]++
		}
	}
	for _, ids := range made {
		for _, id := range ids {
			if have[id] != 1 {
				t.Errorf("%s: got %d files with this ID", id, have[id])
			}
		}
	}
}
