package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
)

// The configuration that init writes is valid, and stays valid when its examples are uncommented.
func TestFirstConfig(t *testing.T) {
	all := func(name string) (string, error) { return "/opt/a b/" + filepath.Base(name), nil }
	none := func(string) (string, error) { return "", errors.New("not there") }
	for _, shell := range []string{"", "/bin/zsh", "/bin/sh", "/usr/bin/tmux", "weird shell", `"`} {
		for _, look := range []func(string) (string, error){all, none} {
			text := firstConfig("my.city-1", shell, look)
			c, err := config.Parse(t.TempDir(), []byte(text))
			if err != nil {
				t.Fatalf("shell %q: %v\n%s", shell, err, text)
			}
			if len(c.Agents) != 1 || c.Workspace.Name != "my.city-1" {
				t.Errorf("shell %q: %d agents, name %q; want only the shell", shell, len(c.Agents), c.Workspace.Name)
			}
		}
	}
	whole := strings.NewReplacer("# [[agents]]\n", "[[agents]]\n", "# name ", "name ", "# dir ", "dir ", "# start_command ", "start_command ",
		"# env ", "env ", "# restart ", "restart ", "# nudge ", "nudge ", "# provider ", "provider ", "# emits_permission_warning ", "emits_permission_warning ",
		"# [agents.pool]", "[agents.pool]", "# min ", "min ", "# max ", "max ", "# check ", "check ").
		Replace(firstConfig("x", "/bin/bash", all))
	c, err := config.Parse(t.TempDir(), []byte(whole))
	if err != nil {
		t.Fatalf("the uncommented examples are invalid: %v\n%s", err, whole)
	}
	if want := len(config.Presets()) + 3; len(c.Agents) != want {
		t.Errorf("%d agents, want %d", len(c.Agents), want)
	}
	if p := c.Agents[2].Pool; p == nil || p.Max != 3 {
		t.Errorf("pool of the third agent: got %+v", p)
	}
}

func TestInitTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "city.toml")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), file); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runCLI(t, demoCity(), "init", dir); code != exit.CodeConflict || !strings.Contains(errs, "was not changed") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := folder.WriteNew(file, "x"); err == nil {
		t.Error("init wrote through a dangling link")
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("init wrote through a dangling link")
	}
}

// A city that init has written is listed before it is opened.
func TestANewCityIsListed(t *testing.T) {
	home, dir := map[string]string{"GC_HOME": t.TempDir()}, filepath.Join(t.TempDir(), "pier")
	if code, _, errs := runCLI(t, &fakeCity{env: home}, "init", dir, "--yes"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	code, out, errs := runCLI(t, &fakeCity{env: home}, "cities")
	if code != 0 || !strings.Contains(out, dir) || !strings.Contains(out, "stopped") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestNames(t *testing.T) {
	for base, want := range map[string]string{"my city": "my-city", ".hidden": "hidden", "äöü": "city", "a_b.c-1": "a_b.c-1", "/": "city",
		strings.Repeat("long", 20): strings.Repeat("long", 16)} {
		if got := folder.DefaultCityName(base); got != want || !folder.ValidName(got) {
			t.Errorf("inventName(%q) = %q, want %q", base, got, want)
		}
	}
}

// If the user declines, nothing is written or started.
func TestForegroundAsksFirst(t *testing.T) {
	for answer, want := range map[string]string{"n\n": "no city.toml", "": "no city.toml"} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		var asked strings.Builder
		a := &env.Env{Printer: output.Printer{Out: io.Discard, Err: &asked, ErrTTY: true, Getenv: func(string) string { return "" }}, In: in, InTTY: true}
		err = foreground(t.Context(), a, false)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(asked.String(), "city.toml and run the city? [Y/n]") {
			t.Errorf("%v after %q", err, asked.String())
		}
		if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
			t.Errorf("files in the folder: got %v, %v", entries, err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
