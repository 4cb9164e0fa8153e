package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gcity/api/client"
	"gcity/city"
)

var hurried = strings.NewReplacer(`"10s"`, `"500ms"`, `"15s"`, `"4s"`, `"40s"`, `"8s"`)

func exampleChain(t *testing.T) *town {
	t.Helper()
	c := newTown(t, 0, "")
	if err := os.Remove(filepath.Join(c.dir, "city.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(c.dir, os.DirFS("../../examples/chain")); err != nil {
		t.Fatal(err)
	}
	house := filepath.Join("topologies", "house", "topology.toml")
	kept, err := os.ReadFile(filepath.Join(c.dir, house))
	if err != nil {
		t.Fatal(err)
	}
	c.put(house, strings.Replace(hurried.Replace(string(kept)), `triage_ttl     = "4s"`, `triage_ttl     = "1m"`, 1))
	for name, pace := range map[string]string{"deacon.sh": "pace=2", "lane.sh": "pace=4"} {
		text, err := os.ReadFile(filepath.Join(c.dir, "agents", name))
		if err != nil || !strings.Contains(string(text), pace+"\n") {
			t.Fatal(name, err)
		}
		c.put(filepath.Join("agents", name), strings.Replace(string(text), pace, "pace=0.6", 1))
	}
	return c
}

func (c *town) link() *city.Watchdog {
	cl, err := client.Dial(c.socket())
	if err != nil {
		return &city.Watchdog{}
	}
	defer cl.Close()
	s, err := cl.Snapshot(c.t.Context())
	if err != nil {
		return &city.Watchdog{}
	}
	if w, ok := s.Watchdog("daemon"); ok {
		return w
	}
	return &city.Watchdog{}
}

func (c *town) decided(what city.Remedy, by string) bool {
	for _, j := range c.link().Recent {
		if j.Decision == what && j.By == by {
			return true
		}
	}
	return false
}

// The commands in the README of the example chain have the described effects.
func TestExampleChain(t *testing.T) {
	t.Parallel()
	c := exampleChain(t)
	c.run()
	c.until("the chain is healthy", func() bool {
		w := c.link()
		return w.Last != nil && w.Last.Decision == city.RemedyNothing && w.Last.By == "boot" && w.Freshness == city.Fresh
	})

	c.put("deacon-dozes", "")
	c.gcity(0, "mail", "send", "deacon", "hello")
	c.until("the agent is nudged or woken", func() bool { return c.decided(city.RemedyNudge, "boot") || c.decided(city.RemedyWake, "boot") })
	c.until("its heartbeat is fresh again", func() bool { return !c.has("deacon-dozes") && c.link().Freshness == city.Fresh })
	c.until("it has read its mail", func() bool { return !strings.Contains(c.gcity(0, "mail", "inbox", "deacon"), "hello") })

	c.until("the agent is woken", func() bool {
		up := !c.has("deacon-dozes")
		woken := c.decided(city.RemedyWake, "boot")
		// An earlier nudge may have ended the doze. Start the doze again.
		if up && !woken {
			c.put("deacon-dozes", "")
		}
		return woken
	})
	c.until("its heartbeat is fresh again", func() bool { return !c.has("deacon-dozes") && c.link().Freshness == city.Fresh })

	killed := c.signal("deacon", syscall.SIGKILL)
	c.until("the agent runs again", func() bool { a := c.byName()["deacon"]; return a.State == "running" && a.PID != killed })

	stopped := c.signal("north/witness", syscall.SIGSTOP)
	c.sees("deacon", "north/witness has no new heartbeat: nudged")
	if err := syscall.Kill(stopped, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.sees("north/witness", "heard: Deacon: are you still at it?")
	c.gcity(0, "stop")
	c.nothingLeft()
}
