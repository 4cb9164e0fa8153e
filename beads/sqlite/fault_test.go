package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"gcity/beads"
)

func create(t *testing.T, s *Store, title string) beads.Bead {
	t.Helper()
	b, err := s.Create(t.Context(), beads.Bead{Title: title})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func titles(t *testing.T, s *Store, want string) {
	t.Helper()
	all, err := s.List(t.Context(), beads.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all {
		got = append(got, b.Title)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("the store contains %v, want %v", got, want)
	}
}

func everyCall(t *testing.T, limit time.Duration, s *Store, check func(what string, err error)) {
	for what, call := range map[string]func(context.Context) error{
		"get": func(ctx context.Context) error { _, err := s.Get(ctx, "gc-1"); return err },
		"list": func(ctx context.Context) error {
			_, err := s.List(ctx, beads.Query{})
			return err
		},
		"count": func(ctx context.Context) error {
			_, err := s.Count(ctx, beads.Query{})
			return err
		},
		"version": func(ctx context.Context) error { _, err := s.Version(ctx); return err },
		"aside":   func(ctx context.Context) error { _, err := s.Unreadable(ctx); return err },
		"probe":   s.Probe,
		"create": func(ctx context.Context) error {
			_, err := s.Create(ctx, beads.Bead{Title: "x"})
			return err
		},
		"update": func(ctx context.Context) error {
			_, err := s.Update(ctx, "gc-1", beads.Closing())
			return err
		},
		"purge": func(ctx context.Context) error {
			_, err := s.Purge(ctx, beads.Query{}, time.Now())
			return err
		},
		"restore": func(ctx context.Context) error {
			_, err := s.Restore(ctx, []beads.Bead{{ID: "x-1", Title: "x"}})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		check(what, call(ctx))
		cancel()
	}
}

func tamper(t *testing.T, s *Store, statement string, args ...any) {
	t.Helper()
	db, err := pool(s.path, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statement, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(statement, err)
	}
}

func TestReadsCreateNothing(t *testing.T) {
	at := t.TempDir()
	s := open(t, at)
	titles(t, s, "")
	if v, err := s.Version(t.Context()); v != 0 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	if _, err := s.Update(t.Context(), "gc-1", beads.Closing()); !errors.Is(err,
		beads.ErrNotFound) {
		t.Error(err)
	}
	if n, err := s.Purge(t.Context(), beads.Query{}, time.Now()); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if entries, err := os.ReadDir(at); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Other users have no access to the files, and git ignores the files.
func TestFiles(t *testing.T) {
	s := open(t, t.TempDir())
	create(t, s, "a")
	for path, want := range map[string]fs.FileMode{
		s.folder: fs.ModeDir | 0o700, s.path: 0o600, s.path + "-wal": 0o600, s.path + "-shm": 0o600,
		filepath.Join(s.folder, ".gitignore"): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	there := t.TempDir()
	if err := os.Mkdir(filepath.Join(there, Folder), 0o750); err != nil {
		t.Fatal(err)
	}
	s = open(t, there)
	create(t, s, "a")
	if _, err := os.Stat(filepath.Join(s.folder, ".gitignore")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a .gitignore was written to an existing folder: %v", err)
	}
}

func TestStrangePaths(t *testing.T) {
	for _, name := range []string{"a b", "what?mode=memory", "50%41", "a#b", "it's", "ü;x",
		"file:x"} {
		at := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		s := open(t, at)
		create(t, s, "a")
		titles(t, open(t, at), "a")
		if _, err := os.Stat(filepath.Join(at, Folder, File)); err != nil {
			t.Error(err)
		}
	}
	if s, err := Open(t.TempDir(), "a b"); err == nil {
		t.Errorf("an invalid prefix was accepted: %v", s)
	}
}

// A missing folder is not an empty store.
func TestNoFolder(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "gone"))
	everyCall(t, time.Minute, s, func(what string, err error) {
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, beads.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	})
}

// Every call to an unreadable store fails.
func TestUnreadableFiles(t *testing.T) {
	made := open(t, t.TempDir())
	for range 50 {
		create(t, made, strings.Repeat("a long title ", 30))
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(made.path)
	if err != nil {
		t.Fatal(err)
	}
	pages := bytes.Clone(whole)
	for i := 4096; i < len(pages); i++ {
		pages[i] = 0xa5
	}
	other := open(t, t.TempDir())
	create(t, other, "a")
	tamper(t, other, `PRAGMA application_id = 0; PRAGMA user_version = 0`)
	newer := open(t, t.TempDir())
	create(t, newer, "a")
	tamper(t, newer, `PRAGMA user_version = 2`)
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"not a database": {[]byte(strings.Repeat("this is no database\n", 500)), "is damaged"},
		"damaged pages":  {pages, "is damaged"},
		"cut off":        {whole[:4096], "is damaged"},
		"another's":      {content(t, other), "belongs to another program"},
		"of a newer gcity": {content(t, newer), "(schema 2; this gcity " +
			"supports 1)"},
	} {
		at := t.TempDir()
		s := open(t, at)
		if err := os.Mkdir(s.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		everyCall(t, time.Minute, s, func(what string, err error) {
			if err == nil || errors.Is(err, beads.ErrNotFound) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if now := content(t, s); !bytes.Equal(now, c.content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func content(t *testing.T, s *Store) []byte {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Unreadable records stay unchanged, are reported, and do not affect other records.
func TestUnreadableRecords(t *testing.T) {
	s := open(t, t.TempDir())
	want := map[string]string{
		"paused":   "its status is",
		"newer":    "it was written in a newer format (2; this gcity supports 1)",
		"urgent":   "invalid priority 12",
		"metadata": "cannot read its metadata",
		"escape":   "its title contains the character U+001B",
		"closed":   "contradicts the time",
	}
	ids := map[string]string{}
	for name := range want {
		ids[name] = create(t, s, name).ID
	}
	fine := create(t, s, "fine")
	waiting, err := s.Create(t.Context(), beads.Bead{Title: "waiting",
		Needs: []string{ids["paused"]}})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]string{
		"paused": `status = 'paused'`, "newer": `record = 2, status = 'closed'`,
		"urgent": `priority = 12`, "metadata": `metadata = '{'`,
		"escape": `title = 'x' || char(27)`, "closed": `closed = 5`,
	} {
		tamper(t, s, `UPDATE beads SET `+set+` WHERE id = ?`, ids[name])
	}
	titles(t, s, "waiting fine")
	aside, err := s.Unreadable(t.Context())
	if err != nil || len(aside) != len(want) {
		t.Errorf("%v, %v", aside, err)
	}
	for name, id := range ids {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, beads.ErrUnreadable) ||
			!strings.Contains(err.Error(), want[name]) {
			t.Errorf("get %s: %v", name, err)
		}
		if _, err := s.Update(t.Context(), id, beads.Closing()); !errors.Is(err, beads.ErrUnreadable) {
			t.Errorf("update %s: %v", name, err)
		}
		for _, a := range aside {
			if a.ID == id && (!strings.Contains(a.Reason, want[name]) ||
				a.Closed != (name == "newer")) {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
	if r, err := s.Restore(t.Context(), []beads.Bead{{ID: ids["paused"], Title: "x",
		UpdatedAt: time.Now().Add(time.Hour)}}); err != nil || r.Kept != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if n, err := s.Purge(t.Context(), beads.Query{}, time.Now().Add(time.Hour)); n != 0 ||
		err != nil {
		t.Errorf("Purge: got %d, %v", n, err)
	}
	ready, err := s.List(t.Context(), beads.Query{Ready: true})
	if err != nil || !cmp.Equal(ready, []beads.Bead{fine}) {
		t.Errorf("%v, %v: %s has a need with an unknown status", ready, err, waiting.ID)
	}
}

// A writer that waits for another process's lock gets an error at its deadline. Readers do not wait.
func TestLockedByOtherProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("waits four seconds")
	}
	t.Parallel()
	at := t.TempDir()
	s := open(t, at)
	create(t, s, "a")
	release := locked(t, at, `BEGIN IMMEDIATE`)
	defer release()
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := s.Create(short, beads.Bead{Title: "b"})
	if !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasSuffix(err.Error(), "is locked by another process") {
		t.Error(err)
	}
	short, cancel = context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := s.Probe(short); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasSuffix(err.Error(), "is locked by another process") {
		t.Errorf("a probe: %v", err)
	}
	titles(t, s, "a")
	release()
	if err := s.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	create(t, s, "c")
	titles(t, s, "c a")
}

// Without a write-ahead log, readers also wait and get an error.
func TestLockedReaders(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	s := open(t, at)
	s.journal = func(string) (string, error) { return "delete", nil }
	create(t, s, "a")
	release := locked(t, at, `BEGIN EXCLUSIVE`)
	defer release()
	everyCall(t, 50*time.Millisecond, s, func(what string, err error) {
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, beads.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	})
	release()
	titles(t, s, "a")
}

// On a hung disk, a call fails at its deadline.
func TestHungDisk(t *testing.T) {
	s := open(t, t.TempDir())
	come := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s.journal = func(string) (string, error) {
		cancel()
		<-come
		return "wal", nil
	}
	if _, err := s.Create(ctx, beads.Bead{Title: "a"}); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "does not respond") {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if all, err := s.List(short, beads.Query{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", all, err)
	}
	close(come)
	create(t, s, "b")
	titles(t, s, "b")
}

// A full disk is reported, and no data is lost.
func TestFullDisk(t *testing.T) {
	s := open(t, t.TempDir())
	create(t, s, "a")
	limit := func(pages string) {
		err := s.file.write.hold(t.Context(), func(x *txn) error {
			var n int
			_, err := x.one(`PRAGMA max_page_count = `+pages, nil, &n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("1")
	_, err := s.Create(t.Context(), beads.Bead{Title: "b",
		Description: strings.Repeat("x", 100_000)})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
	titles(t, s, "a")
	limit("1000000")
	create(t, s, "c")
	titles(t, s, "c a")
}

// On a disk that is really full, SQLite can still overwrite existing data. The probe fails until the disk has space for
// changes.
func TestProbeOnAFullDisk(t *testing.T) {
	at := t.TempDir()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := open(t, at)
	create(t, s, "a")
	if err := s.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(at, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	big := beads.Bead{Title: "b", Description: strings.Repeat("x", 100_000)}
	if _, err := s.Create(t.Context(), big); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
	if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the probe of a store that cannot grow: got %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	create(t, s, "c")
	titles(t, s, "c a")
	if left, err := filepath.Glob(filepath.Join(s.folder, ".probe*")); err != nil || len(left) > 0 {
		t.Errorf("probes left files behind: %v, %v", left, err)
	}
}

// The next call detects that the store was removed or replaced while the city runs.
func TestRemovedAndReplaced(t *testing.T) {
	s, other := open(t, t.TempDir()), open(t, t.TempDir())
	create(t, s, "a")
	first, _ := s.Version(t.Context())
	if err := os.RemoveAll(s.folder); err != nil {
		t.Fatal(err)
	}
	titles(t, s, "")
	create(t, s, "b")
	titles(t, open(t, dir(s)), "b")
	if v, err := s.Version(t.Context()); v == first || err != nil {
		t.Errorf("version: got %d again, %v", v, err)
	}
	create(t, other, "c")
	data := content(t, other)
	for _, path := range []string{s.path + "-wal", s.path + "-shm", s.path} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	titles(t, s, "c")
}

// A closed store leaves no goroutine (L10).
func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(t.TempDir(), "gc")
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "a")
	titles(t, s, "a")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	everyCall(t, time.Minute, s, func(what string, err error) {
		if err == nil || !strings.Contains(err.Error(), "is closed") {
			t.Errorf("%s: %v", what, err)
		}
	})
	if err := open(t, t.TempDir()).Close(); err != nil {
		t.Errorf("a store that was never used: got %v", err)
	}
	entries, err := os.ReadDir(s.folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("Close left files behind: %v, %v", entries, err)
	}
}

// Stores on a network file system do not use a write-ahead log.
func TestJournalMode(t *testing.T) {
	for kind, want := range map[int64]bool{0x6969: true, 0xff534d42: true, -0xacb2be: true,
		0x65735546: true, 0xef53: false, 0x01021994: false, 0x9123683e: false, 0x58465342: false,
		0x794c7630: false} {
		if remote(kind) != want {
			t.Errorf("%#x", kind)
		}
	}
	if _, err := journalMode(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("got a journal mode for a missing folder")
	}
	s := open(t, t.TempDir())
	create(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The same store is used alternately over the network and locally.
	for _, mode := range []string{"delete", "wal", "delete"} {
		s = open(t, dir(s))
		s.journal = func(string) (string, error) { return mode, nil }
		create(t, s, mode)
		if _, err := os.Stat(s.path + "-wal"); (err == nil) != (mode == "wal") {
			t.Errorf("%s: %v", mode, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
