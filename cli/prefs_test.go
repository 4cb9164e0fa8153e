package cli

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/internal/eventually"
	"gcity/prefs"
	"gcity/tui"
	"gcity/tui/panel"
)

// The preferences and the control room have the same columns, and on_hangup decides how the control room exits.
func TestPrefsMatchTheRoom(t *testing.T) {
	if a, b := prefs.Columns(), panel.ColumnNames(); !slices.Equal(a, b) {
		t.Errorf("columns of the preferences: %v; of the control room: %v", a, b)
	}
	for text, want := range map[string]tui.Exit{"": tui.Hangup, "headless": tui.Hangup, "stop": tui.StopCity, "leave": tui.KeepAgents} {
		a := homeOf(t, "on_hangup = \""+text+"\"")
		if got := onHangup(a); got != want {
			t.Errorf("on_hangup %q: got %s, want %s", text, got, want)
		}
	}
}

func TestPrefsOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/room.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(guide), "\n    theme = ")
	example, _, closed := strings.Cut(rest, "\n\n")
	if !ok || !closed {
		t.Fatal("the guide has no example of preferences")
	}
	a := homeOf(t, "theme = "+strings.ReplaceAll(example, "\n    ", "\n"))
	if p := env.Prefs(a); p.Theme == "" || len(p.Keys) < 2 {
		t.Errorf("preferences in the example: got %+v", p)
	}
	for _, wrong := range env.BadPrefs(a) {
		if !strings.Contains(wrong, "no key now") {
			t.Error(wrong)
		}
	}
}

// A panic while preferences are read does not crash the controller in the same process.
func TestPrefsPanic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := prefs.Files{Config: filepath.Join(dir, "config.toml"), Themes: filepath.Join(dir, "themes")}
	a := &env.Env{Printer: output.Printer{Getenv: func(string) string { panic("as asked") }}}
	var said strings.Builder
	var wg sync.WaitGroup
	changes := env.WatchPrefs(t.Context(), a, &wg, env.OwnPrefs{Files: f}, slog.New(slog.NewTextHandler(&said, nil)))
	again, late := time.NewTicker(time.Second), time.After(eventually.Timeout)
	defer again.Stop()
	for n, open := 0, true; open; n++ { // nothing reports that the watch has started, so write until it notices a change
		if err := os.WriteFile(f.Config, fmt.Appendf(nil, "# %d\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case _, open = <-changes:
		case <-again.C:
		case <-late:
			t.Fatal("the preferences were not read in time")
		}
	}
	wg.Wait()
	if !strings.Contains(said.String(), "as asked") {
		t.Errorf("said: %q", said.String())
	}
}

func TestMemoryFile(t *testing.T) {
	environ := map[string]string{"HOME": "/home/a"}
	getenv := func(name string) string { return environ[name] }
	one, two := env.MemoryFile(getenv, "/x/town"), env.MemoryFile(getenv, "/y/town")
	if one == two || filepath.Dir(one) != "/home/a/.local/state/gcity" || !strings.HasPrefix(filepath.Base(one), "town-") {
		t.Errorf("two cities with the same name share a file: %s, %s", one, two)
	}
	environ["XDG_STATE_HOME"] = "/state"
	if got := env.MemoryFile(getenv, "/x/"+strings.Repeat("ä/é ", 99)); filepath.Dir(got) != "/state/gcity" || len(filepath.Base(got)) > 80 {
		t.Errorf("file of an unusual folder name: got %s", got)
	}
	clear(environ)
	if got := env.MemoryFile(getenv, "/x/town"); got != "" {
		t.Errorf("without a home: got %s", got)
	}
}

func homeOf(t *testing.T, text string) *env.Env {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "gcity"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "gcity", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &env.Env{Printer: output.Printer{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
}
