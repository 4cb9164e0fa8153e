package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// passing makes the agents of examples/town fast, and disables the automation that creates orders.
const passing = `
[automations]
skip = ["orders"]

[[patches.providers]]
name = "stand-in"
command = 'echo "$GC_AGENT" $$ >"$GC_CITY/births"; exec sh "$GC_CITY/agents/stand-in.sh"'
env = { PACE = "0.1" }

[[patches.agents]]
dir = "mill"
name = "hand"
pool = { min = 2, max = 2 }
`

func exampleTown(t *testing.T, more string) *town {
	t.Helper()
	c := newTown(t, 0, "")
	if err := os.Remove(filepath.Join(c.dir, "city.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(c.dir, os.DirFS("../../examples/town")); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(c.dir, "city.toml"))
	if err != nil {
		t.Fatal(err)
	}
	c.config(string(own) + more)
	return c
}

// Each order passes through the example town exactly once, even if the controller is killed. The next controller adopts
// all agents.
func TestWorkIsHandedOn(t *testing.T) {
	t.Parallel()
	const staff = 8
	c := exampleTown(t, passing)
	first := c.begin()
	c.ctl = first
	c.born(staff)
	orders := map[string][]string{"mill": {"grind the oats", "sift the bran"}, "ferry": {"carry the hay"}}
	for rig, all := range orders {
		for _, what := range all {
			c.gcity(0, "sling", "steward", rig+": "+what)
		}
	}
	c.until("a hand is at work", func() bool { return len(c.held("mill/hand-")) > 0 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	c.until("work continues without a controller", func() bool { return len(c.ledger("mill")) == len(orders["mill"]) })
	if c.answers() {
		t.Error("a controller is running")
	}

	c.run()
	c.until("the next controller has adopted all agents", func() bool { return c.count("running") == staff })
	c.gcity(0, "sling", "steward", "ferry: fetch the doctor")
	orders["ferry"] = append(orders["ferry"], "fetch the doctor")
	c.until("all orders are done", func() bool {
		return len(c.beads("--all", "--status", "open,in_progress")) == 0 && len(c.ledger("ferry")) == 2
	})
	for rig, all := range orders {
		got := c.ledger(rig)
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Errorf("the ledger of %s has %q, want %q", rig, got, all)
		}
		if made := c.beads("--rig", rig, "--limit", "0"); len(made) != len(all) {
			t.Errorf("got %d beads for %d orders of %s", len(made), len(all), rig)
		}
	}
	if n := strings.Count(c.gcity(0, "mail", "inbox", "steward", "--all", "--json"), `"done: `); n != 4 {
		t.Errorf("the steward got %d messages about 4 orders", n)
	}
	if len(c.births) > 0 || len(c.pids) != staff {
		t.Errorf("got %d additional starts; all agents: %v", len(c.births), c.pids)
	}
	for _, a := range c.agents() {
		if a.PID != c.pids[a.Name] {
			t.Errorf("%s: got pid %d, but it started as %d", a.Name, a.PID, c.pids[a.Name])
		}
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

type workView struct{ ID, Title, Assignee string }

func (c *town) beads(args ...string) []workView {
	c.t.Helper()
	var list struct{ Items []workView }
	if err := json.Unmarshal([]byte(c.gcity(0, append([]string{"bead", "list", "--json"}, args...)...)), &list); err != nil {
		c.t.Fatal(err)
	}
	return list.Items
}

func (c *town) held(prefix string) []workView {
	return slices.DeleteFunc(c.beads("--all", "--status", "in_progress"), func(w workView) bool { return !strings.HasPrefix(w.Assignee, prefix) })
}

func (c *town) ledger(rig string) (titles []string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "rigs", rig, "ledger.txt"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		_, what, _ := strings.Cut(line, " ")
		title, _, _ := strings.Cut(what, ", by ")
		titles = append(titles, title)
	}
	return titles
}
