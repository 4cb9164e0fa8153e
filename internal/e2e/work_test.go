package e2e

import (
	"strings"
	"testing"
)

// worker claims work and waits until the test releases it.
const worker = `while :; do
work=$(gc hook --json)
id=$(echo "$work" | grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)
[ -n "$id" ] || { sleep 0.1; continue; }
gc bead update "$id" --claim || continue
echo "$id" >>begun.$GC_AGENT
while ! [ -e go.$GC_AGENT ]; do sleep 0.1; done
gc bead close "$id" && echo "$id" >>done.$GC_AGENT
done`

// The work of a leaving member returns to the pool once.
func TestNoWorkIsStranded(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.put("worker.sh", worker)
	c.config("[workspace]\nname = \"hands\"\n[daemon]\npatrol_interval = \"200ms\"\n" +
		"shutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"w\"\nstart_command = \"exec sh worker.sh\"\n[agents.pool]\nmin = " +
		"0\nmax = 2\ncheck = \"cat size\"\ndrain_timeout = \"1s\"\n")
	c.put("size", "2")
	for _, title := range []string{"one", "two"} {
		c.gcity(0, "bead", "create", title, "--label", "pool:w")
	}
	c.run()
	c.until("both are at work", func() bool { return c.has("begun.w-1") && c.has("begun.w-2") })
	some := func(of ...string) bool {
		return !strings.Contains(c.gcity(0, append([]string{"bead", "list"}, of...)...),
			"no matching work")
	}
	if !some("--assignee", "w-2", "--status", "in_progress") {
		t.Fatal("w-2 has no work in progress")
	}
	c.put("size", "1")
	c.until("the work of w-2 is unassigned", func() bool { return !some("--assignee", "w-2") })
	if !some("--assignee", "w-1", "--status", "in_progress") {
		t.Error("the work of w-1 was unassigned")
	}
	if !some("--label", "pool:w", "--status", "open") {
		t.Error("the work is not open for its pool")
	}
	c.put("go.w-1", "")
	c.until("w-1 has done both", func() bool {
		return !some("--status", "open") && !some("--status", "in_progress")
	})
	if c.has("done.w-2") {
		t.Error("w-2 finished work after it left the pool")
	}
	if out := c.gcity(0, "events", "--type", "pool.work_returned"); strings.Count(out,
		"w-2 has left the pool") != 1 {
		t.Errorf("want exactly one event about w-2:\n%s", out)
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// When a pool shrinks, an idle member leaves first.
func TestIdleMembersLeaveFirst(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"hands\"\n[daemon]\npatrol_interval = \"200ms\"\n" +
		"shutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"w\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmin = " +
		"0\nmax = 2\ncheck = \"cat size\"\ndrain_timeout = \"1s\"\n")
	c.put("size", "2")
	c.run()
	c.until("both run", func() bool { return c.count("running") == 2 })
	pid := c.byName()["w-2"].PID
	id := strings.Trim(strings.Fields(c.gcity(0, "bead", "create", "long", "--assignee", "w-2"))[1],
		":")
	c.gcity(0, "bead", "update", id, "--status", "in_progress")
	c.until("the work is known", func() bool { return c.byName()["w-2"].Task != "" })
	c.put("size", "1")
	c.until("one is left", func() bool { return len(c.agents()) == 1 && c.count("running") == 1 })
	if a := c.byName()["w-2"]; a.PID != pid || a.State != "running" {
		t.Errorf("w-2: want pid %d and running, got %+v", pid, a)
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}
