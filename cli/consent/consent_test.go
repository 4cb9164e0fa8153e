package consent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/trust"
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

type onQuestion func()

func (f onQuestion) Write(p []byte) (int, error) {
	if strings.HasSuffix(string(p), "[y/N] ") {
		f()
	}
	return len(p), nil
}

// newCheckout returns a git checkout with a city, and functions that run git and commit a file in it.
func newCheckout(t *testing.T) (dir string, git func(...string), write func(name, text string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("GCITY_TRUST", "")
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write = func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-qm", name)
	}
	git("init", "-q", "-b", "main")
	write("city.toml", "[formulas]\ndir = \"auto\"\n[[agents]]\nname = \"a\"\nstart_command = \"sleep 9\"\n")
	return dir, git, write
}

// A program that a pull adds while the question is open is not trusted.
func TestTrustCoversOnlyShownPrograms(t *testing.T) {
	dir, git, write := newCheckout(t)
	git("checkout", "-qb", "other")
	write("auto/automations/late/automation.toml", "[automation]\ngate = \"cooldown\"\ninterval = \"1h\"\nexec = \"late\"\n")
	git("checkout", "-q", "main")
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	pullAndAgree := onQuestion(func() {
		git("checkout", "-q", "other")
		if _, err := typed.WriteString("y\n"); err != nil {
			t.Error(err)
		}
		typed.Close()
	})
	e := &env.Env{Dir: dir, In: in, InTTY: true,
		Printer: output.Printer{Out: io.Discard, Err: pullAndAgree, ErrTTY: true, Getenv: os.Getenv, Now: time.Now}}
	if err := MayStart(e, dir); err != nil {
		t.Fatal(err)
	}
	err = folder.Trusted(dir, nil).Err()
	if r, ok := errors.AsType[*trust.Refusal](err); !ok || len(r.New) != 1 || r.New[0].What != "automation late" {
		t.Errorf("got %v", err)
	}
}

// A program that a pull adds directly after the configuration was read is not trusted.
func TestTrustAfterAPullWhileReading(t *testing.T) {
	dir, git, write := newCheckout(t)
	git("checkout", "-qb", "other")
	write("city.toml", "[[agents]]\nname = \"a\"\nstart_command = \"sleep 8\"\n")
	git("checkout", "-q", "main")
	reads := 0
	shown, err := DescribeTrust(func() (*config.City, error) {
		c, err := folder.LoadCity(dir)
		if reads++; reads == 2 {
			git("checkout", "-q", "other")
		}
		return c, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := shown.Confirm(time.Now()); err != nil {
		t.Fatal(err)
	}
	err = folder.Trusted(dir, nil).Err()
	if r, ok := errors.AsType[*trust.Refusal](err); !ok || len(r.New) != 1 || r.New[0].What != "agent a" {
		t.Errorf("got %v", err)
	}
}
