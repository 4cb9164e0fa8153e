package e2e

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Exactly one run handles each event, even if the controller is killed.
func TestEveryEventOnce(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	whole := "[workspace]\nname = \"deals\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"w\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmax = 3\n"
	c.config(whole)
	c.automation("deal", "exec = 'grep -o \"n[0-9]*n\" $GC_EVENTS_FILE >>dealt'\ngate = \"event\"\non = \"deploy.done\"\n")
	const n, kills = 40, 6
	ctl := c.run()
	c.until("the automation waits", func() bool { return strings.Contains(c.gcity(0, "automation", "list"), "deal") })
	for i := range n {
		c.gcity(0, "event", "emit", "deploy.done", "--message", "n"+strconv.Itoa(i)+"n")
		if i%(n/kills) == n/kills-1 {
			if err := ctl.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			ctl.Wait()
			ctl = c.run()
		}
	}
	dealt := func() map[string]int {
		seen := map[string]int{}
		f, err := os.Open(filepath.Join(c.dir, "dealt"))
		if err != nil {
			return seen
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			seen[lines.Text()]++
		}
		return seen
	}
	c.until("the automation has nothing left to do", func() bool {
		list := c.gcity(0, "automation", "list")
		return strings.Contains(list, "no deploy.done") && !strings.Contains(list, "running")
	})
	seen, lost := dealt(), 0
	for i := range n {
		switch k := seen["n"+strconv.Itoa(i)+"n"]; {
		case k > 1:
			t.Errorf("event %d was handled %d times, want once", i, k)
		case k == 0:
			lost++
		}
	}
	interrupted := strings.Count(c.gcity(0, "automation", "history", "deal", "--limit", "200"), "interrupted")
	if interrupted == 0 && lost > 0 || interrupted > kills {
		t.Errorf("%d events were not handled; %d runs were interrupted", lost, interrupted)
	}
	c.config("[broken") // the previous configuration stays in effect
	c.until("the file is rejected", func() bool {
		return strings.Contains(c.gcity(0, "events", "--type", "controller.config_rejected"), "old configuration")
	})
	c.gcity(0, "event", "emit", "deploy.done", "--message", "n99n")
	c.until("the event is handled nevertheless", func() bool { return dealt()["n99n"] == 1 })
	c.config(whole)
	c.gcity(0, "bead", "create", "one", "--label", "pool:w")
	c.gcity(0, "bead", "create", "two", "--label", "pool:w")
	c.until("the pool has a member for each piece of work", func() bool { p := c.pools(); return len(p) == 1 && p[0].Size == 2 })
	c.gcity(0, "stop")
	c.nothingLeft()
}

func (c *town) automation(name, text string) {
	c.t.Helper()
	c.automationIn(filepath.Join(".gc", "formulas"), name, text)
}

func (c *town) automationIn(folder, name, text string) {
	c.t.Helper()
	dir := filepath.Join(folder, "automations", name)
	if err := os.MkdirAll(filepath.Join(c.dir, dir), 0o755); err != nil {
		c.t.Fatal(err)
	}
	c.put(filepath.Join(dir, "automation.toml"), "[automation]\n"+text)
}
