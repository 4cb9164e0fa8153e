package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// standing is the state that an agent must keep when another controller takes over.
type standing struct {
	Name, State, Reason string
	Until               *time.Time
}

func (c *town) standings() string {
	c.t.Helper()
	var list struct{ Items []standing }
	if err := json.Unmarshal([]byte(c.gcity(0, "agent", "list", "--json")), &list); err != nil {
		c.t.Fatal(err)
	}
	out, err := json.MarshalIndent(list.Items, "", " ")
	if err != nil {
		c.t.Fatal(err)
	}
	return string(out)
}

// L6: the next controller takes over backoffs, quarantines and drains. It starts nothing.
func TestRoomHandsOver(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.put("city.toml", `[workspace]
name = "town"
[daemon]
patrol_interval = "10m"
restart_backoff = "10m"
max_restarts = 1
[[agents]]
name = "loops"
start_command = "exit 3"
[[agents]]
name = "drains"
start_command = "exec sleep 1000"
`)
	v := c.host()
	v.shows("1 quarantined")
	c.gcity(0, "agent", "drain", "drains")
	v.shows("1 draining")
	before := c.standings()
	starts := c.gcity(0, "events", "--type", "agent.started")
	v.types("q")
	v.shows("keep the city running in the background")
	c.until("a headless controller runs the city", func() bool {
		v.types("h") // a dialog ignores keys that arrive right after it opens
		// status fails while no controller is running
		out, err := exec.Command(c.bin, "status", "--city", c.dir).CombinedOutput()
		return err == nil && strings.Contains(string(out), " · background (gcity --headless, ")
	})
	if after := c.standings(); after != before {
		t.Errorf("before the handover:\n%s\nafter it:\n%s", before, after)
	}
	if again := c.gcity(0, "events", "--type", "agent.started"); again != starts {
		t.Errorf("starts before the handover:\n%s\nand after it:\n%s", starts, again)
	}
}

// The room does not release a city that no background controller could run.
func TestRoomKeepsWhatNothingElseCanRun(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	// the room's program is removed while it runs, as an upgrade to another folder does
	kept := c.bin
	c.bin = copyOf(t, kept)
	c.put("city.toml", oneIdler)
	v := c.host()
	v.shows("1 running")
	pid := c.agents()[0].PID
	if err := os.Remove(c.bin); err != nil {
		t.Fatal(err)
	}
	c.bin = kept
	c.put("city.toml", "bad = [")
	v.types("q")
	v.shows("keep the city running in the background")
	c.until("the room says why it stays", func() bool {
		v.types("h") // a dialog ignores keys that arrive right after it opens
		return v.has("The control room stays open")
	})
	v.shows("city.toml")
	if got := c.gcity(0, "status"); !strings.Contains(got, "control room (pid ") {
		t.Errorf("status: got\n%s", got)
	}
	c.until("the dialog closes", func() bool {
		v.types("n")
		return !v.has("The control room stays open")
	})

	c.put("city.toml", oneIdler)
	v.types("q")
	v.shows("keep the city running in the background")
	c.until("a headless controller runs the city", func() bool {
		v.types("h")
		// status fails while no controller is running
		out, err := exec.Command(c.bin, "status", "--city", c.dir).CombinedOutput()
		return err == nil && strings.Contains(string(out), " · background (gcity --headless, ")
	})
	if got := c.agents()[0].PID; got != pid {
		t.Errorf("pid of the agent: got %d, want %d", got, pid)
	}
}

const oneIdler = `[workspace]
name = "town"
[[agents]]
name = "idler"
start_command = "exec sleep 1000"
`

func copyOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "gcity")
	if err := os.WriteFile(to, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}
