package consent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/cli/env"
	"gcity/cli/output"
)

// A command does not report a city as untrusted after the user has trusted it.
func TestTrustEndsTheWarning(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	file := filepath.Join(dir, "city.toml")
	if err := os.WriteFile(file, []byte("[[agents]]\nname = \"a\"\nstart_command = \"sleep 9\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := typed.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	e := &env.Env{Dir: dir, In: in, InTTY: true, Printer: output.Printer{Out: &shown, Err: &shown, ErrTTY: true,
		Getenv: os.Getenv, Now: time.Now}}
	if _, err := env.LoadHere(e); err != nil || e.Untrusted == nil {
		t.Fatalf("got %v; want an untrusted city", err)
	}
	if err := MayStart(e, dir); err != nil {
		t.Fatalf("%v\n%s", err, shown.String())
	}
	if want := "\nAllow this program of " + dir + " to run as you? [y/N] "; !strings.HasSuffix(shown.String(), want) {
		t.Errorf("the question is %q, want %q", shown.String(), want)
	}
	if e.Untrusted != nil {
		t.Errorf("want no untrusted city, got %v", e.Untrusted)
	}
}
