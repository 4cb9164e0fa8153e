package pty

import (
	"os"
	"testing"

	"gcity/session/pty/internal/wire"
)

// A record that is truncated while it is mapped counts as missing until the holder writes it again.
func TestTruncatedActivity(t *testing.T) {
	p := newProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "exec cat"))
	before := named(t, p, "a").Activity
	if before.IsZero() {
		t.Fatal("no activity")
	}
	path := p.files.path("a", wire.LockFile)
	record, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if st := named(t, p, "a"); !st.Activity.IsZero() || !st.Alive {
		t.Errorf("without a record: got %+v", st)
	}
	if err := os.WriteFile(path, record, 0o600); err != nil {
		t.Fatal(err)
	}
	if st := named(t, p, "a"); !st.Activity.Equal(before) {
		t.Errorf("with the record again: got %+v, want the activity of %s", st, before)
	}
}

// The files of an older holder do not hide the state of the current one, and are removed with the session.
func TestFilesOfOlderHolder(t *testing.T) {
	p := newProvider(t, t.TempDir())
	folder := p.files.path("a", "")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{wire.OldRecordFile, wire.OldActivityFile} {
		if err := os.WriteFile(folder+name, []byte(`{"id":"old"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st := start(t, p, spec(p.files.city, "a", "exec cat"))
	if rec, err := p.files.record("a"); err != nil || rec.ID != st.ID {
		t.Errorf("the record has the ID %q, %v, want %q", rec.ID, err, st.ID)
	}
	if named(t, p, "a").Activity.IsZero() {
		t.Error("no activity")
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Acknowledge(t.Context(), "a", st.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the session's folder remains: %v", err)
	}
}
