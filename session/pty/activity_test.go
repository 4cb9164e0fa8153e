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
	path := p.files.path("a", wire.ActivityFile)
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
