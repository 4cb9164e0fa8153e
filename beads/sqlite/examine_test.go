package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Examine does not change or create files.
func TestExamine(t *testing.T) {
	at := t.TempDir()
	s := open(t, at)
	if c, err := s.Examine(t.Context()); err != nil || !cmp.Equal(c, Condition{}) {
		t.Errorf("no store: %+v, %v", c, err)
	}
	if entries, err := os.ReadDir(at); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.MkdirAll(filepath.Join(s.folder, "formulas"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.yaml", "metadata.json"} {
		if err := os.WriteFile(filepath.Join(s.folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	strangers := []string{"config.yaml", "metadata.json"}
	if c, err := s.Examine(t.Context()); err != nil || !cmp.Equal(c, Condition{ForeignFiles: strangers}) {
		t.Errorf("a folder of another program: got %+v, %v", c, err)
	}
	if _, err := os.Stat(s.path); err == nil {
		t.Error("Examine created a store in another program's folder")
	}
	create(t, s, "a")
	c, err := s.Examine(t.Context())
	if err != nil || c.Log == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	c.Log = 0
	if want := (Condition{Exists: true, Schema: newest, ForeignFiles: strangers}); !cmp.Equal(c, want) {
		t.Error(cmp.Diff(want, c))
	}
	if err := errors.Join(os.Chmod(s.path, 0o640), os.Chmod(s.folder, 0o770)); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Examine(t.Context()); err != nil || !cmp.Equal(c.Exposed, []string{s.folder + " (-rwxrwx---)", s.path + " (-rw-r-----)"}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// Examine finds a damaged page in the store's file.
func TestExamineDamage(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for range 200 {
		create(t, s, strings.Repeat("a long title ", 30))
	}
	data := content(t, s)
	if len(data) < 20*4096 {
		t.Fatalf("only %d bytes", len(data))
	}
	copy(data[15*4096:], bytes.Repeat([]byte{0xa5}, 4096))
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := open(t, dir(s)).Examine(t.Context())
	if len(c.Damage) == 0 && (err == nil || !strings.Contains(err.Error(), "is damaged")) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestExamineLocked(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	s := open(t, at)
	s.journal = func(string) (string, error) { return "delete", nil }
	create(t, s, "a")
	defer locked(t, at, `BEGIN EXCLUSIVE`)()
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if c, err := s.Examine(short); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("%+v, %v", c, err)
	}
}

// A large write-ahead log is reported only while a long read prevents a checkpoint.
func TestExamineLargeLog(t *testing.T) {
	s := open(t, t.TempDir())
	create(t, s, "a")
	db, err := pool(s.path, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	long, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := long.QueryRow(`SELECT count(*) FROM beads`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	tamper(t, s, `CREATE TABLE large AS SELECT zeroblob(68 << 20) AS bytes`)
	if c, err := s.Examine(t.Context()); err != nil || c.Log <= LargeLog {
		t.Errorf("during a read: %d bytes, %v", c.Log, err)
	}
	if err := long.Rollback(); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Examine(t.Context()); err != nil || c.Log != 0 {
		t.Errorf("after the read: %d bytes, %v", c.Log, err)
	}
}
