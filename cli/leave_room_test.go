package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/tui"
)

// After a room has closed, there is one line about each city: the hosted one, and the one that the room showed.
func TestAfterRoom(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	hosted := tui.ShownCity{Name: "demo", Folder: dir, Agents: 2, Responds: true}
	kept := "demo: the agents keep running without a controller; " +
		"`gcity` in its folder controls them again\n"
	for _, c := range []struct {
		exit  tui.Exit
		shown tui.ShownCity
		want  string
	}{
		{tui.KeepAgents, hosted, kept},
		{tui.StopCity, hosted, "demo is not running; `gcity` in its folder starts it again\n"},
		{tui.KeepAgents, tui.ShownCity{}, kept}, // the room showed all cities
		{tui.KeepAgents, tui.ShownCity{Name: "other", Folder: "/srv/other", Agents: 10, Responds: true}, kept +
			"other (/srv/other) keeps running in the background with 10 agents; " +
			"`gcity` in its folder opens its control room\n"},
		{tui.KeepAgents, tui.ShownCity{Name: "other", Folder: "/srv/other", Mode: "console", Responds: true}, kept +
			"other (/srv/other) keeps running in another control room, but no agent is running; " +
			"`gcity` in its folder opens its control room\n"},
		{tui.KeepAgents, tui.ShownCity{Name: "other", Folder: "/srv/other"}, kept +
			"other (/srv/other) is not running; `gcity` in its folder starts it again\n"},
	} {
		var said bytes.Buffer
		e := &env.Env{Printer: output.Printer{Out: &said, Err: &said, Now: time.Now,
			Getenv: func(string) string { return "" }}}
		if err := afterRoom(e, hosted, c.shown, c.exit); err != nil || said.String() != c.want {
			t.Errorf("%s: %q, %v; want %q", c.exit, said.String(), err, c.want)
		}
	}
}

// The log of a room that joins a city is in the folder for the control room's state, which might not exist yet.
func TestRoomLog(t *testing.T) {
	home := t.TempDir()
	e := &env.Env{Printer: output.Printer{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
	logger, file, closeLog := roomLog(e)
	logger.Error("the control room panicked")
	closeLog()
	text, err := os.ReadFile(file)
	if want := filepath.Join(home, ".local/state/gcity/room.log"); file != want || !strings.Contains(string(text), `"the control room panicked"`) {
		t.Errorf("%s contains %q (%v); want a line in %s", file, text, err, want)
	}
	e.Getenv = func(string) string { return "" }
	if _, file, closeLog := roomLog(e); file != "" {
		closeLog()
		t.Errorf("without a home folder, the log is %s", file)
	}
}
