package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/screen"
)

func (c *town) prefer(text string) (home string) {
	c.t.Helper()
	if c.person == nil {
		c.person = []string{"XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GC_HOME=", "NO_COLOR=", "HOME=" + c.t.TempDir()}
	}
	home = strings.TrimPrefix(c.person[len(c.person)-1], "HOME=")
	if err := os.MkdirAll(filepath.Join(home, ".config", "gcity"), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "gcity", "config.toml"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return home
}

// A real control room uses the user's preferences from the first frame on.
func TestUserPreferences(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.lines(map[string]string{"shell": "exec sh -i"})
	c.run()
	c.until("it runs", func() bool { return c.count("running") == 1 })
	home := c.prefer("detach_keys = 'ctrl+]'\n[keys]\nfocus.events = 'E'\n'quit' = 'Q'\n")

	v := c.attach("shell")
	v.until("ctrl+] detaches")
	v.until("\x1b]2;shell: ctrl+] detaches\a") // the terminal's title, which the program does not overwrite
	v.types("echo typed $((1000+337))\x11\r")
	v.until("typed 1337")
	v.types("\x1d") // ctrl+]
	v.until("\x1b[23;2t")
	v.ends(0)

	v = c.terminal()
	v.shows("E Events")
	v.types("E")
	c.prefer("[keys]\nfocus.events = 'V'\nagent.restrat = 'x'\n")
	v.shows("V Events")
	v.shows("unknown action")
	v.types("q")
	v.ends(0)
	kept, err := filepath.Glob(filepath.Join(home, ".local", "state", "gcity", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("stored state of the room: got %v, %v", kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil || !strings.Contains(string(text), `"focus": "events"`) {
		t.Errorf("kept: %s, %v", text, err)
	}
}

// If a control room loses its terminal, the user's preferences decide what happens to the city.
func TestHangup(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]struct{ controller, agents bool }{"stop": {false, false}, "leave": {false, true}, "headless": {true, true}} {
		t.Run(name, func(t *testing.T) {
			c := newTown(t, 1, "")
			c.prefer("on_hangup = '" + name + "'")
			v := c.host()
			pid := c.born(1).pid
			v.shows("1 running")
			v.cmd.Process.Signal(syscall.SIGHUP)
			if runs.controller {
				c.until("the city runs without a control room", func() bool { return strings.Contains(c.gcity(0, "status"), "headless") })
			} else {
				v.ends(0)
			}
			if is := lives(pid); is != runs.agents {
				t.Errorf("agent running: got %v", is)
			}
		})
	}
}

func (v *viewer) shows(text string) {
	v.c.t.Helper()
	v.c.until("the terminal shows "+text, func() bool { return v.has(text) })
}

func (v *viewer) has(text string) bool {
	s := screen.New(100, 30, 0)
	v.mu.Lock()
	_, _ = s.Write(v.seen.Bytes()) // Write never fails
	v.mu.Unlock()
	return strings.Contains(ansi.Strip(strings.Join(s.Lines(100, 30), "\n")), text)
}
