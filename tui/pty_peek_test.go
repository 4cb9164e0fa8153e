package tui

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
)

func (c *console) modes() *term.State {
	c.t.Helper()
	s, err := term.GetState(c.tty.Fd())
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// slowPager prints a text, waits for a line, and clears its output.
const slowPager = `PAGER=sed 's/module59/MODULE/'; echo THE PAGER WAITS; read line </dev/tty; printf '\033[2J\033[H'`

func TestTerminalPager(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 100, 30, slowPager)
	c.sees("prober")
	c.keys("jjjjjj0")
	c.sees("0 builder")
	c.sees("compiling")
	room := c.modes()
	for range 2 {
		c.keys("|")
		c.sees("THE PAGER WAITS")
		c.sees("MODULE")
		c.keys("\x1a") // ctrl+z stops neither the pager nor the room
		c.keys("\r")
		c.sees("0 builder following")
		if now := c.modes(); !reflect.DeepEqual(room, now) {
			t.Errorf("the modes of the terminal were %+v, now %+v", room, now)
		}
	}
	c.keys("|")
	c.sees("THE PAGER WAITS")
	c.keys("\x03") // ends the pager, not the city
	c.sees("0 builder following")
	c.signal(syscall.SIGTERM)
	c.ends("terminated <nil>")
}

func TestTerminalTermDuringAPager(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 100, 30, slowPager)
	c.sees("prober")
	c.keys("jjjjjj0")
	c.sees("compiling")
	c.keys("|")
	c.sees("THE PAGER WAITS")
	c.signal(syscall.SIGINT) // like a ctrl+c that arrives while the pager takes over the terminal
	c.keys("\r")
	c.sees("0 builder following")
	c.keys("|")
	c.sees("THE PAGER WAITS")
	c.signal(syscall.SIGTERM)
	c.ends("terminated <nil>")
}

func TestTerminalWithoutAPager(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 100, 30, "PAGER=no-such-pager-anywhere")
	c.sees("prober")
	c.keys("jjjjjj0")
	c.sees("compiling")
	c.keys("|")
	c.sees(`the pager "no-such-pager-anywhere" was not found (set by PAGER)`)
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

func TestTerminalSave(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	dir := t.TempDir()
	c := open(t, "readonly", 200, 40, "HOME="+dir)
	c.sees("builds and tests") // only the list shows this text; agents' names might already be visible in Events
	c.keys("jjjjjj0")
	c.sees("compiling")
	path := filepath.Join(dir, "kept.txt")
	for _, want := range []string{"saved 64 lines to", "the file exists"} {
		c.keys("\x13")
		c.sees("save 64 lines to: builder-")
		c.keys("\x15~/kept.txt\r")
		c.sees(want)
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), "ok   pkg/module00       0.000s  (cached)\nok") || strings.Contains(string(text), "\x1b") {
			t.Errorf("saved %q, %v", text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	c.keys("\x13")
	c.sees("save 64 lines")
	c.keys("\x15/no/such/folder/x\r")
	c.sees("folder /no/such/folder does not exist")
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

// The terminal, the open descriptors and the room are the same after many visits as after one.
func TestTerminalManyVisits(t *testing.T) {
	if testing.Short() {
		t.Skip("many visits")
	}
	const visits = 30
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	c.keys("jjjjjj")
	c.sees("0 builder following")
	room, first := c.modes(), 0
	for i := range visits {
		c.keys("a")
		c.sees("hello from builder")
		c.keys("\x11")
		c.sees("0 builder following")
		if now := c.modes(); !reflect.DeepEqual(room, now) {
			t.Fatalf("after %d visits: got modes %+v, before %+v", i+1, now, room)
		}
		if i == 1 {
			first = c.descriptors()
		}
	}
	if n := c.descriptors(); n > first+1 { // the pane might be opening a stream
		t.Errorf("after %d visits: got %d open descriptors, after two %d", visits, n, first)
	}
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}
