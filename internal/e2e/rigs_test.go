package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A city and its rig can have automations with the same names.
func TestRigAutomations(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	if err := os.MkdirAll(filepath.Join(c.dir, "demo", "own"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.config("[workspace]\nname = \"town\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n" +
		"[[rigs]]\nname = \"demo\"\npath = \"demo\"\nformulas_dir = \"demo/own\"\n" +
		"[[agents]]\nname = \"w\"\ndir = \"demo\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmax = 2\n")
	const tick = "gate = \"cooldown\"\ninterval = \"1h\"\nexec = '''echo $GC_AUTOMATION $PWD $BEADS_DIR >>ticks'''\n"
	c.automation("tick", tick)
	c.automationIn("demo/own", "tick", tick)
	c.formula("demo/own", "pair")
	c.automationIn("demo/own", "cook", "gate = \"manual\"\nformula = \"pair\"\npool = \"w\"\n")
	c.run()
	c.until("both have run", func() bool { return len(c.words("ticks")) == 3 && len(c.words("demo/ticks")) == 3 })
	c.idle("tick", "tick:rig:demo", "cook:rig:demo")
	rig := filepath.Join(c.dir, "demo")
	if got := c.words("demo/ticks"); !slices.Equal(got, []string{"tick:rig:demo", rig, rig + "/.beads"}) {
		t.Errorf("environment of the rig's automation: got %v", got)
	}
	if got := c.words("ticks"); !slices.Equal(got, []string{"tick", c.dir, c.dir + "/.beads"}) {
		t.Errorf("environment of the city's automation: got %v", got)
	}
	c.gcity(0, "automation", "run", "tick", "--rig", "demo", "--wait")
	if city, rig := len(c.words("ticks")), len(c.words("demo/ticks")); city != 3 || rig != 6 {
		t.Errorf("after a manual run in the rig: got %d and %d words", city, rig)
	}
	if n := strings.Count(c.gcity(0, "automation", "history", "tick", "--rig", "demo"), "ok "); n != 2 {
		t.Errorf("history of the rig's automation: got %d runs, want 2", n)
	}
	c.gcity(0, "automation", "run", "cook", "--wait")
	var made beadsView
	c.ask("beads?label=pool:demo/w", &made)
	if len(made.Items) != 1 || !strings.HasPrefix(made.Items[0].ID, "de-") {
		t.Errorf("beads for the rig's pool: got %v", made.Items)
	}
	c.until("the rig's pool has a member for the work", func() bool { p := c.pools(); return len(p) == 1 && p[0].Name == "demo/w" && p[0].Size == 1 })
	c.gcity(0, "rig", "suspend", "demo")
	c.until("the rig's automations are suspended, the city's are not", func() bool {
		return c.automations()["tick:rig:demo"].State == "off" && c.automations()["tick"].State == "idle"
	})
	c.gcity(0, "stop")
	c.nothingLeft()
}

// Edits of [automations] in city.toml take effect. A run that exceeds max_timeout is killed.
func TestAutomationSettings(t *testing.T) {
	t.Parallel()
	const city = "[workspace]\nname = \"town\"\n[daemon]\npatrol_interval = \"200ms\"\n"
	c := newTown(t, 0, "")
	c.config(city)
	c.automation("calm", "gate = \"manual\"\nexec = \"echo x >>calm\"\n")
	c.automation("loud", "gate = \"condition\"\ncheck = \"[ -e open ]\"\nexec = \"echo x >>loud\"\n")
	c.automation("slow", "gate = \"manual\"\ntimeout = \"1h\"\nexec = '''\nsetsid sh -c 'trap \"\" HUP INT TERM; echo $$ >>pids; exec sleep 100000' &\n"+
		"(setsid sh -c '(echo $(exec sh -c \"echo \\$PPID\") >>pids; sleep 100000) & exit' &)\nsleep 100000 & echo $! $$ >>pids; wait'''\n")
	c.run()
	c.idle("calm", "loud", "slow")
	c.put("open", "")
	c.until("the condition allows a run", func() bool { return c.has("loud") })

	c.config(city + "[automations]\nskip = [\"loud\"]\nmax_timeout = \"3s\"\n" +
		"[[automations.overrides]]\nname = \"calm\"\ngate = \"cooldown\"\ninterval = \"1h\"\n")
	c.until("the automation is skipped", func() bool { return c.automations()["loud"].State == "off" })
	c.until("the override has taken effect", func() bool {
		a := c.automations()["calm"]
		return a.Gate == "cooldown" && a.State == "idle" && c.has("calm")
	})
	before := len(c.words("loud"))
	c.until("the slow run has started all its processes", func() bool {
		_ = os.Remove(filepath.Join(c.dir, "pids")) // it may not exist yet
		c.gcity(124, "automation", "run", "slow", "--wait")
		pids := c.words("pids")
		for _, pid := range pids {
			if c.alive(pid) {
				t.Errorf("process %s is still running after the run", pid)
			}
		}
		return len(pids) == 4
	})
	c.patrols(3)
	if n := len(c.words("loud")); n != before {
		t.Errorf("skipped automation: got %d runs", n-before)
	}

	c.config(city)
	c.until("the automation runs again", func() bool { return len(c.words("loud")) > before })
	c.until("the override is removed", func() bool { return c.automations()["calm"].Gate == "manual" })
	if n := len(c.words("calm")); n != 1 {
		t.Errorf("automation with a cooldown of an hour: got %d runs, want 1", n)
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

type automationView struct{ Name, State, Gate, Reason string }

// automations returns an empty map if no controller responds.
func (c *town) automations() map[string]automationView {
	var list struct{ Items []automationView }
	c.ask("automations", &list)
	out := map[string]automationView{}
	for _, a := range list.Items {
		out[a.Name] = a
	}
	return out
}

func (c *town) idle(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.until(fmt.Sprint(name, " rests"), func() bool { return c.automations()[name].State == "idle" })
	}
}
