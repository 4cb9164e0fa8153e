package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A hundred automations are due at the same time. At most eight run concurrently, and all of them run.
func TestHundredAutomationsDueAtOnce(t *testing.T) {
	t.Parallel()
	const n, most = 100, 8
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"rush\"\n[daemon]\npatrol_interval = \"300ms\"\n")
	for _, dir := range []string{"going", "went", "counts"} {
		if err := os.Mkdir(filepath.Join(c.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		c.automation(fmt.Sprintf("a%02d", i), "gate = \"cooldown\"\ninterval = \"1s\"\nexec = '''echo >going/$GC_AUTOMATION\n"+
			"set -- going/*\necho >counts/$#\nuntil [ -e go ]; do sleep 0.02; done\nmv going/$GC_AUTOMATION went/'''\n")
	}
	c.run()
	c.until("the maximum number of runs is in progress", func() bool { return c.files("going") >= most })
	c.patrols(4) // after four patrols, the interval has passed
	if k := c.files("going"); k != most {
		t.Errorf("got %d automations running at the same time", k)
	}
	c.put("go", "")
	var fired struct{ Items []struct{ Subject string } }
	c.until("as many runs as there are automations", func() bool {
		c.ask("events?type=automation.fired&limit=1000&forward=true&cursor=1", &fired)
		return len(fired.Items) >= n
	})
	times := map[string]int{}
	for _, e := range fired.Items[:n] {
		times[e.Subject]++
	}
	if len(times) < n-most {
		t.Errorf("got only %d automations in the first %d runs", len(times), n)
	}
	for k := most + 1; k <= n; k++ {
		if c.has("counts/" + strconv.Itoa(k)) {
			t.Errorf("got %d automations running at the same time", k)
		}
	}
	for i := range n {
		name := fmt.Sprintf("a%02d", i)
		c.until(name+" went", func() bool { return c.has("went/" + name) })
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// A hung check does not delay others. A long run starts only once.
func TestOneHungCondition(t *testing.T) {
	t.Parallel()
	const n = 40
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"checks\"\n[daemon]\npatrol_interval = \"500ms\"\n")
	if err := os.Mkdir(filepath.Join(c.dir, "ran"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n - 2 {
		c.automation(fmt.Sprintf("c%02d", i), "gate = \"condition\"\ncheck = \"[ -e open ]\"\nexec = 'echo >ran/$GC_AUTOMATION'\n")
	}
	c.automation("a-hung", "gate = \"condition\"\ncheck = 'echo $$ >>hung; exec sleep 100000'\ncheck_timeout = \"1h\"\nexec = \"echo >ran/never\"\n")
	c.automation("a-long", "gate = \"condition\"\ncheck = \"echo >>checked\"\nexec = 'echo x >>long; until [ -e go ]; do sleep 0.05; done'\n")
	c.run()
	c.until("the check hangs and the run is in progress", func() bool { return c.has("hung") && c.has("long") })
	c.put("open", "")
	c.until("all other automations have run", func() bool { return c.files("ran") == n-2 })
	if err := os.Remove(filepath.Join(c.dir, "open")); err != nil {
		t.Fatal(err)
	}
	c.patrols(4)
	if hung := c.words("hung"); len(hung) != 1 || !c.alive(hung[0]) {
		t.Errorf("the hung check is not running: %v", hung)
	}
	if long := c.words("long"); len(long) != 1 {
		t.Errorf("got %d starts of the long run, want 1", len(long))
	}
	c.put("go", "")
	c.until("the automation runs again after the run has ended", func() bool { return len(c.words("long")) > 1 })
	c.gcity(0, "stop")
	c.nothingLeft()
	if c.alive(c.words("hung")[0]) {
		t.Error("the hung check is still running after the stop")
	}
}

// The controller removes only closed wisps, after wisp_ttl.
func TestWispsAreRemoved(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"town\"\n[daemon]\npatrol_interval = \"200ms\"\nwisp_gc_interval = \"200ms\"\nwisp_ttl = \"1s\"\n")
	c.formula("", "pair")
	c.automation("cook", "gate = \"manual\"\nformula = \"pair\"\n")
	c.automation("tick", "gate = \"cooldown\"\ninterval = \"1h\"\nexec = \"echo x >>ticks\"\n")
	ctl := c.run()
	c.until("the controller has the automations", func() bool {
		return !strings.Contains(c.gcity(0, "status"), "no controller is running") &&
			strings.Contains(c.gcity(0, "automation", "list"), "cook ")
	})
	var roots []string
	for range 4 {
		c.gcity(0, "automation", "run", "cook", "--wait")
	}
	var made beadsView
	c.ask("beads?type=molecule", &made)
	for _, b := range made.Items {
		roots = append(roots, b.ID)
	}
	if len(roots) != 4 {
		t.Fatalf("made %v", roots)
	}
	untouched, openRoot, openStep, done := roots[0], roots[1], roots[2], roots[3]
	mine := strings.Fields(c.gcity(0, "bead", "create", "mine"))[1]
	mine = strings.TrimSuffix(mine, ":")
	steps := map[string][]string{}
	for _, root := range roots {
		steps[root] = c.steps(root)
		if len(steps[root]) != 2 {
			t.Fatalf("%s: got the steps %v, want 2", root, steps[root])
		}
	}
	c.gcity(0, append([]string{"bead", "close", "--force", mine, openStep, steps[openStep][0]}, steps[openRoot]...)...)
	c.gcity(0, append([]string{"bead", "close", done}, steps[done]...)...)
	c.until("the closed wisp is removed", func() bool { return !c.known(done) })
	for _, root := range []string{untouched, openRoot, openStep} {
		for _, id := range append(steps[root], root) {
			if !c.known(id) {
				t.Errorf("%s of %s was removed", id, root)
			}
		}
	}
	if !c.known(mine) {
		t.Error("a bead that no automation created was removed")
	}
	for _, id := range steps[done] {
		if c.known(id) {
			t.Errorf("%s, a step of the closed wisp, still exists", id)
		}
	}
	if err := ctl.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctl.Wait()
	c.run()
	c.until("the next controller responds", c.answers)
	c.gcity(0, "bead", "close", openRoot, steps[openStep][1])
	c.until("the wisps that are closed now are removed too", func() bool { return !c.known(openRoot) && !c.known(openStep) })
	if ticks := c.words("ticks"); len(ticks) != 1 {
		t.Errorf("automation with a cooldown of an hour: got %d runs, want 1", len(ticks))
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

type beadsView struct{ Items []struct{ ID string } }

func (c *town) steps(root string) (ids []string) {
	var list beadsView
	c.ask("beads?parent="+root, &list)
	for _, b := range list.Items {
		ids = append(ids, b.ID)
	}
	return ids
}

func (c *town) known(id string) bool {
	var b struct{ ID, Code string }
	c.ask("bead/"+id, &b)
	if b.ID == "" && b.Code != "not_found" {
		c.t.Fatalf("%s: %+v", id, b)
	}
	return b.ID == id
}

func (c *town) formula(folder, name string) {
	c.t.Helper()
	if folder == "" {
		folder = filepath.Join(".gc", "formulas")
	}
	if err := os.MkdirAll(filepath.Join(c.dir, folder), 0o700); err != nil {
		c.t.Fatal(err)
	}
	c.put(filepath.Join(folder, name+".formula.toml"), fmt.Sprintf("formula = %q\n[[steps]]\nid = \"a\"\ntitle = \"Do it\"\n[[steps]]\nid = \"b\"\ntitle = \"Check it\"\n", name))
}

func (c *town) files(name string) int {
	c.t.Helper()
	all, err := os.ReadDir(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return len(all)
}

func (c *town) words(name string) []string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	return strings.Fields(string(data))
}

func (c *town) alive(pid string) bool {
	c.t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		c.t.Fatal(err)
	}
	return lives(n) && syscall.Kill(n, 0) == nil
}

func (c *town) patrols(n int) {
	c.t.Helper()
	c.until("the controller answers", c.answers)
	before := c.patrolled()
	c.until("patrols", func() bool { return c.patrolled() > before+n }) // a patrol might already be in progress
}

func (c *town) patrolled() (n int) {
	c.t.Helper()
	answer, err := c.client().Get("http://city/metrics")
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), "{"); name == "gcity_patrol_duration_seconds_count" {
			if _, err := fmt.Sscan(value[strings.LastIndexByte(value, ' ')+1:], &n); err != nil {
				c.t.Fatalf("%s: %v", lines.Text(), err)
			}
			return n
		}
	}
	c.t.Fatalf("the metrics do not contain the number of patrols: %s, %v",
		answer.Status, lines.Err())
	return 0
}
