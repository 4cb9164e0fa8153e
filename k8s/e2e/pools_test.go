package e2e

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
)

var poolSize = flag.Int("pool", 20, "number of members in TestPoolScales")

func (c *city) pods() int {
	c.Helper()
	list, err := c.client.CoreV1().Pods(c.namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return len(list.Items)
}

// A check scales a pool in the cluster up and down to 0.
func TestPoolScales(t *testing.T) {
	c := newCity(t, fmt.Sprintf(`[workspace]
name = "pool"
[daemon]
patrol_interval = "500ms"
[session]
provider = "k8s"
[[agents]]
name = "worker"
start_command = "until gc agent drain-check; do sleep 2; done; gc agent drain-ack; exec cat"
[agents.pool]
min = 0
max = %d
check = "cat wanted"
`, *poolSize))
	c.write("wanted", "0\n")
	c.start()
	eventually.True(t, "the check has run", func() bool {
		return strings.Contains(c.quiet("pool", "list"), "worker")
	}, c.state)
	if n := c.pods(); n != 0 {
		t.Errorf("got %d pods of a pool of size 0", n)
	}
	c.write("wanted", strconv.Itoa(*poolSize))
	eventually.True(t, "all members run", func() bool { return c.running() == *poolSize }, c.state)
	if n := c.pods(); n != *poolSize {
		t.Errorf("%d pods, want %d", n, *poolSize)
	}
	c.write("wanted", "0\n")
	eventually.True(t, "no pod is left", func() bool { return c.pods() == 0 }, c.state)
	ends := map[string]string{}
	eventually.True(t, "all ends are in the log", func() bool {
		for _, e := range c.events() {
			if e.Type == "agent.stopped" || e.Type == "agent.crashed" {
				ends[e.Subject] = e.Type + " " + e.Message
			}
		}
		return len(ends) == *poolSize
	}, c.state)
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		if ends[name] != "agent.stopped drained: reported done" {
			t.Errorf("%s: %s", name, ends[name])
		}
	}
}

// One city runs agents on this machine and in the cluster. An agent moves if its provider changes.
func TestMixedCity(t *testing.T) {
	const text = `[workspace]
name = "mixed"
[daemon]
patrol_interval = "500ms"
[[agents]]
name = "here"
start_command = "exec cat"
[[agents]]
name = "there"
start_command = "exec cat"
session = %q
`
	c := newCity(t, fmt.Sprintf(text, "k8s"))
	t.Cleanup(func() { c.must("stop") }) // agents on this machine survive the controller
	c.start()
	eventually.True(t, "both run", func() bool { return c.running() == 2 }, c.state)
	for _, name := range []string{"here", "there"} {
		c.must("agent", "nudge", name, "hello from "+name)
		eventually.True(t, name+" has read its text", func() bool {
			return strings.Count(c.quiet("agent", "peek", name), "hello from "+name) == 2
		}, c.state)
	}
	if n := c.pods(); n != 1 {
		t.Errorf("got %d pods, want only the pod of agent there", n)
	}
	all := c.agents()
	if a := all["here"]; a.Session == nil || len(a.Session.Details) != 0 {
		t.Errorf("here: %+v", a.Session)
	}
	if a := all["there"]; a.Session == nil || !slices.Contains(a.Session.Details, "node localhost") {
		t.Errorf("there: %+v", a.Session)
	}
	before := all["there"].Session.ID
	c.rewrite(fmt.Sprintf(text, "k8s"), fmt.Sprintf(text, ""))
	eventually.True(t, "agent there has moved to this machine", func() bool {
		a := c.agents()["there"]
		return a.State == "running" && a.Session != nil && a.Session.ID != before &&
			len(a.Session.Details) == 0 && c.pods() == 0
	}, c.state)
	if now := c.agents()["here"]; now.Session == nil || now.Session.ID != all["here"].Session.ID {
		t.Errorf("agent here was restarted: %+v, previously %+v", now.Session, all["here"].Session)
	}
}

// Agents in pods change the work in the city's store, and each change is recorded once.
func TestWorkOfPods(t *testing.T) {
	c := newCity(t, "[workspace]\nname = \"town\"\n[session]\nprovider = \"k8s\"\n"+
		"[[agents]]\nname = \"a\"\nstart_command = \"exec sh\"\n")
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	c.must("bead", "create", "real work")
	c.must("agent", "nudge", "a", "gc bead update to-1 --claim && gc bead create 'more work' && gc bead close to-1")
	eventually.True(t, "the work is done", func() bool {
		all := c.quiet("bead", "list")
		return strings.Contains(all, "closed") && strings.Contains(all, "more work")
	}, func() string { return c.quiet("bead", "list") + c.quiet("agent", "peek", "a") + c.state() })
	var got []string
	for _, e := range c.events() {
		if strings.HasPrefix(e.Type, "bead.") {
			got = append(got, e.Type+" "+e.Subject)
		}
	}
	want := []string{"bead.created to-1", "bead.updated to-1", "bead.created to-2", "bead.closed to-1"}
	if !slices.Equal(got, want) {
		t.Errorf("got the events %v, want %v", got, want)
	}
}
