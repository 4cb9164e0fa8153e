package e2e

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// hostile prints "begin" with escape sequences in the middle of the word.
const hostile = `printf '<be\033]52;c;aGFja2Vk\007\033[21t\033P$qm\033\\\033[5i\005gin>\n'` + "\r"

func (v *viewer) forbidden() (found []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range []string{"\x1b]52;c", "\x1b[21t", "\x1bP$q", "\x1b[5i", "\x05"} {
		if strings.Contains(v.seen.String(), s) {
			found = append(found, s)
		}
	}
	return found
}

// An agent's output can only draw on an attached terminal. --raw passes everything, and [session] passthrough allows
// some sequences.
func TestAttachIsFiltered(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	c := newTown(t, 0, "")
	const agents = "\n[[agents]]\nname = \"shell\"\nstart_command = \"exec sh -i\"\n\n[[agents]]\nname = \"pane\"\nsession = \"tmux\"\nstart_command = \"exec sh -i\"\n"
	c.config("[workspace]\nname = \"t\"\n" + agents)
	c.ctl = c.begin()
	c.until("both run", func() bool { return c.answers() && c.count("running") == 2 })
	tries := func(want int, args ...string) {
		t.Helper()
		v := c.terminal(args...)
		if len(args) == 0 {
			v.shows("2 running")
			v.types("a")
		}
		v.until("attached to")
		v.types(hostile)
		v.until("<begin>")
		if got := v.forbidden(); len(got) != want {
			t.Errorf("%v passes %q", args, got)
		}
		v.types("\x11")
		if len(args) == 0 {
			v.shows("it keeps running")
			v.cmd.Process.Signal(syscall.SIGTERM)
		}
		v.ends(0)
	}
	tries(0, "agent", "attach", "shell")
	tries(0, "agent", "attach", "pane")
	tries(0)
	v := c.terminal("agent", "attach", "--raw", "shell")
	v.types(strings.Replace(hostile, "gin>", "gun>", 1))
	v.until("\x1b]52;c;aGFja2Vk\a\x1b[21t\x1bP$qm\x1b\\\x1b[5i\x05gun>")
	v.types("\x11")
	v.ends(0)

	c.config("[workspace]\nname = \"t\"\n[session]\npassthrough = [\"clipboard\"]\n" + agents)
	c.gcity(0, "reload")
	v = c.attach("shell")
	v.types(hostile)
	v.until("<be\x1b]52;c;aGFja2Vk\agin>")
	v.types("\x11")
	v.ends(0)

	c.config("[workspace]\nname = \"t\"\n" + agents)
	if err := c.ctl.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ctl.Wait()
	tries(0, "agent", "attach", "shell")
	c.gcity(0, "stop")
	c.nothingLeft()
}

// An attached terminal supports full-screen programs, including programs that query the terminal.
func TestRealProgramsInAnAttach(t *testing.T) {
	t.Parallel()
	lines := map[string]string{
		"less": "exec less city.toml", "top": "exec top -d 1", "vim": "exec vim -u NONE city.toml", "fish": "exec fish --no-config",
		"tmux": "exec tmux -L inner-$$ -f /dev/null new-session 'exec sh -i'",
	}
	for name := range lines {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	c := newTown(t, 0, "")
	c.lines(lines)
	c.run()
	c.until("all run", func() bool { return c.count("running") == len(lines) })
	for _, p := range []struct{ name, types, shows string }{
		{"less", "/start_command\rg", "[workspace]"}, {"top", "", "load average"}, {"vim", ":set ruler\rG$", "All"},
		{"fish", "echo fish $(math 6 x 7)\r", "fish 42"}, {"tmux", "echo tmux $((6*7))\r", "tmux 42"},
	} {
		v := c.attach(p.name)
		v.until("attached to " + p.name)
		v.types(p.types)
		v.shows(p.shows)
		v.types("\x11")
		v.until("detached from " + p.name)
		v.ends(0)
	}
}
