package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A hung or endless pool check does not delay the other pools.
func TestOneCheckDelaysNoOther(t *testing.T) {
	t.Parallel()
	const n = 20
	c := newTown(t, 0, "")
	var toml strings.Builder
	toml.WriteString("[workspace]\nname = \"pools\"\n[daemon]\npatrol_interval = \"300ms\"\nshutdown_timeout = \"100ms\"\n")
	for i := range n {
		check := "cat size"
		switch i {
		case 7:
			check = "sleep 100000; echo 2"
		case 8:
			check = "yes"
		}
		fmt.Fprintf(&toml, "[[agents]]\nname = \"p%02d\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmin = 1\nmax = 3\n"+
			"check = %q\ncheck_timeout = \"1h\"\ndrain_timeout = \"1s\"\n", i, check)
	}
	c.config(toml.String())
	c.put("size", "1")
	c.run()
	others := func(size int) func() bool {
		return func() bool {
			right := 0
			for i, p := range c.pools() {
				if i != 7 && i != 8 && p.Desired == size && p.Size == size && len(p.Draining) == 0 {
					right++
				}
			}
			return right == n-2
		}
	}
	c.until("every pool has its minimum", others(1))
	for _, size := range []int{3, 2} {
		before := c.snapshot().Patrol.Last
		c.put("size", strconv.Itoa(size))
		c.until(fmt.Sprintf("the others have %d members", size), others(size))
		s := c.snapshot()
		for _, i := range []int{7, 8} {
			if p := s.Pools[i]; p.Check.Running == nil || p.Desired != 1 {
				t.Errorf("pool %s: want a running check and the size 1, got %+v", p.Name, p)
			}
		}
		if !s.Patrol.Last.After(before) {
			t.Error("the loop is blocked")
		}
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// The next controller continues a drain after the controller is killed.
func TestDrainOutlivesTheController(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	told := `while ! gc agent drain-check; do sleep 0.05; done; echo told >told.$GC_AGENT; while gc agent drain-check; do sleep 0.05; done; ` +
		`echo lifted >lifted.$GC_AGENT; exec sleep 100000`
	c.config(fmt.Sprintf("[workspace]\nname = \"drains\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n"+
		"[[agents]]\nname = \"w\"\nstart_command = %q\n[agents.pool]\nmin = 1\nmax = 3\ncheck = \"cat size\"\ndrain_timeout = \"1h\"\n", told))
	c.put("size", "3")
	first := c.run()
	c.until("three members run", func() bool { return c.count("running") == 3 })
	before := c.byName()
	c.put("size", "2")
	c.until("w-3 has been asked to finish", func() bool { return c.has("told.w-3") })
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	c.run()
	c.until("the next one answers", func() bool { return c.count("running") == 2 })
	if a := c.byName()["w-3"]; a.State != "draining" || a.PID != before["w-3"].PID {
		t.Errorf("w-3: want pid %d, got %+v", before["w-3"].PID, a)
	}
	c.put("size", "3")
	c.until("w-3 knows that the drain was canceled", func() bool { return c.has("lifted.w-3") })
	c.until("all run", func() bool { return c.count("running") == 3 })
	after := c.byName()
	for name, a := range before {
		if after[name].PID != a.PID || after[name].State != "running" {
			t.Errorf("%s: want pid %d, got %+v", name, a.PID, after[name])
		}
	}
	if c.has("told.w-1") || c.has("told.w-2") {
		t.Error("another member was drained too")
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// One member acknowledges its drain, and one does not.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	const answers = "while ! gc agent drain-check; do sleep 0.05; done; gc agent drain-ack; exec sleep 100000"
	c.config(fmt.Sprintf("[workspace]\nname = \"drains\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n"+
		"[[agents]]\nname = \"good\"\nstart_command = %q\n[agents.pool]\nmin = 0\nmax = 2\ncheck = \"cat size\"\ndrain_timeout = \"0s\"\n"+
		"[[agents]]\nname = \"deaf\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmin = 0\nmax = 2\ncheck = \"cat size\"\ndrain_timeout = \"1s\"\n"+
		"[[agents]]\nname = \"stays\"\nstart_command = %q\n", answers, answers))
	c.put("size", "2")
	c.run()
	c.until("all run", func() bool { return c.count("running") == 5 })
	c.put("size", "0")
	c.until("no member is left", func() bool { return len(c.agents()) == 1 })
	why := c.gcity(0, "events", "--type", "agent.stopped")
	for _, line := range []string{"reported done", "not finished within 1s"} {
		if strings.Count(why, line) != 2 {
			t.Errorf("want %q twice in\n%s", line, why)
		}
	}
	pid := c.byName()["stays"].PID
	c.gcity(0, "agent", "drain", "stays")
	c.until("the member has restarted", func() bool { a := c.byName()["stays"]; return a.State == "running" && a.PID != pid })
	c.gcity(0, "stop")
	c.nothingLeft()
}

func TestFiveHundredMembers(t *testing.T) {
	t.Parallel()
	const n = 500
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"many\"\n[daemon]\nshutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"w\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmin = 0\nmax = 500\ncheck = \"cat size\"\ndrain_timeout = \"1s\"\n")
	c.put("size", strconv.Itoa(n))
	c.run()
	c.until("all run", func() bool { p := c.pools(); return len(p) == 1 && p[0].Size == n })
	c.gcity(0, "pool", "scale", "w", "0")
	c.until("none is left", func() bool { return len(c.agents()) == 0 })
	defer func() {
		if t.Failed() {
			for _, pid := range c.running() {
				t.Logf("process %d is still running: %s", pid, cmdline(pid))
			}
		}
	}()
	c.until("only the controller is left", func() bool { return len(c.running()) == 1 })
	c.gcity(0, "stop")
	c.nothingLeft()
}

func (c *town) config(toml string) { c.put("city.toml", toml) }

func (c *town) put(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		c.t.Fatal(err)
	}
}

func (c *town) has(name string) bool {
	_, err := os.Stat(filepath.Join(c.dir, name))
	return err == nil
}

func (c *town) byName() map[string]agentView {
	out := map[string]agentView{}
	for _, a := range c.agents() {
		out[a.Name] = a
	}
	return out
}

type snapshotView struct {
	Patrol struct{ Last time.Time }
	Pools  []poolView
}

type poolView struct {
	Name          string
	Size, Desired int
	Draining      []string
	Check         struct{ Running *time.Time }
}

// snapshot returns the zero value if no controller responds.
func (c *town) snapshot() (s snapshotView) {
	c.ask("snapshot", &s)
	return s
}

func (c *town) pools() []poolView {
	var list struct{ Items []poolView }
	c.ask("pools", &list)
	return list.Items
}

// If no controller responds, ask does nothing.
func (c *town) ask(what string, into any) {
	answer, err := c.client().Get("http://city/v0/" + what)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		c.t.Fatal(err)
	}
}

func (c *town) client() *http.Client {
	socket := filepath.Join(c.dir, ".gc", "controller.sock")
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
}
