package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

var (
	kills     = flag.Int("kills", 200, "number of times that the controller is killed")
	givenSeed = flag.Uint64("seed", 0, "seed of the random moments; 0 = use the clock")
)

func newSeed() uint64 { return cmp.Or(*givenSeed, uint64(time.Now().UnixNano())) }

// The controller is killed at random moments. Each agent starts exactly once (L11), and a stop leaves no process behind
// (L10).
func TestKillLoop(t *testing.T) {
	t.Parallel()
	killLoop(t, 20, *kills)
}

func killLoop(t *testing.T, n, kills int) {
	seed := newSeed()
	t.Logf("go test ./internal/e2e -run %s -kills %d -seed %d", t.Name(), kills, seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	c := newTown(t, n, `patrol_interval = "1s"`)
	for range kills {
		ctl := c.begin()
		time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond) // the moment of the kill is random
		if err := ctl.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		ctl.Wait()
	}
	c.run()
	c.until("the controller answers", func() bool { return c.answers() }) // until then, lists show only saved state
	c.until("every agent runs, and its pid is known", func() bool {
		known := func(a agentView) bool { return a.State == "running" && a.PID > 0 }
		return len(slices.DeleteFunc(c.agents(), func(a agentView) bool { return !known(a) })) == n
	})
	c.until("the last starts are reported", func() bool { return len(c.births) >= n })
	first := map[string]int{}
	for len(c.births) > 0 {
		b := <-c.births
		if first[b.agent] != 0 {
			t.Errorf("%s started twice: pid %d, then %d", b.agent, first[b.agent], b.pid)
		}
		first[b.agent] = b.pid
	}
	for _, a := range c.agents() {
		if a.PID != first[a.Name] {
			t.Errorf("%s: got pid %d, but it started as %d", a.Name, a.PID, first[a.Name])
		}
	}
	if report := c.gcity(0, "doctor"); strings.Contains(report, "\nbad ") {
		t.Errorf("doctor found problems after the kills:\n%s", report)
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// After the holders die, only their agents restart. The exits do not count as crashes.
func TestHoldersDie(t *testing.T) {
	t.Parallel()
	c := newTown(t, 3, "")
	c.lines(map[string]string{
		"deaf":  `trap "" HUP INT TERM; ` + c.line("deaf", "") + ` & wait`,
		"plain": c.line("plain", ""),
	})
	c.run()
	c.born(2)
	before := maps.Clone(c.pids)
	for range 3 {
		old := c.pids["deaf"]
		if err := syscall.Kill(c.holder("deaf"), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		c.born(1)
		if c.pids["deaf"] == old {
			t.Fatal("not restarted")
		}
		c.until("the old process is gone", func() bool { return !lives(old) })
	}
	if c.pids["plain"] != before["plain"] {
		t.Error("the other agent was restarted too")
	}
	for _, a := range c.agents() {
		if a.Crashes != 0 {
			t.Errorf("%s: got %d crashes", a.Name, a.Crashes)
		}
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// A stop leaves no process behind, even if agents ignore signals.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	nothingIsLeft(t)
}

func nothingIsLeft(t *testing.T) {
	c := newTown(t, 0, "")
	c.lines(map[string]string{
		"setsid":    `trap "" INT TERM; setsid sleep 999 & echo setsid $$ >births; while :; do sleep 1; done`,
		"fork":      `(trap "" HUP INT TERM; (sleep 999 & sleep 999 &) & ); echo fork $$ >births; exec sleep 999`,
		"nohup":     `nohup sh -c 'trap "" INT TERM HUP; while :; do sleep 0.1; done' >/dev/null 2>&1 & echo nohup $$ >births; exec sleep 999`,
		"respawner": `trap "" INT TERM HUP; (while :; do setsid sh -c 'sleep 0.05'; done) & echo respawner $$ >births; wait`,
		"stopped":   `echo stopped $$ >births; kill -STOP $$; sleep 999`,
		"noenv":     `env -i PATH="$PATH" setsid sh -c 'trap "" HUP INT TERM; sleep 999 & wait' & echo noenv $$ >births; exec sleep 999`,
	})
	c.run()
	c.born(6)
	var tree []int
	c.until("all agents have started their child processes", func() bool { tree = c.descendants(); return len(tree) >= 10 })
	c.gcity(0, "stop")
	for _, pid := range tree {
		if lives(pid) {
			t.Errorf("process %d is still running: %s", pid, cmdline(pid))
		}
	}
	c.nothingLeft()
}

// No agent restarts if the next controller has a different PATH and environment.
func TestAnotherShell(t *testing.T) {
	t.Parallel()
	c := newTown(t, 3, `patrol_interval = "1s"`)
	first := c.run()
	c.born(3)
	c.until("the socket answers", func() bool { return c.count("running") == 3 })
	if err := first.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "PATH=/usr/bin:/bin:/opt/elsewhere", "EDITOR=ed", "API_KEY=other", "TERM=dumb")
	c.run()
	c.until("every agent is adopted", func() bool { return c.count("running") == 3 })
	c.patrols(3)
	if len(c.births) > 0 {
		t.Errorf("got %d restarted agents", len(c.births))
	}
	for _, a := range c.agents() {
		if a.PID != c.pids[a.Name] {
			t.Errorf("%s: pid changed from %d to %d", a.Name, c.pids[a.Name], a.PID)
		}
	}
}

// An agent gets no arguments and no first text unless they are configured.
func TestPlainShellIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, `patrol_interval = "1s"`)
	c.lines(map[string]string{"sh": `echo sh $$ >births; echo "arguments: $#" >seen; exec cat >>seen`})
	c.run()
	c.born(1)
	c.until("the agent runs", func() bool { return c.count("running") == 1 })
	c.patrols(2)
	seen, err := os.ReadFile(filepath.Join(c.dir, "seen"))
	if err != nil || string(seen) != "arguments: 0\n" {
		t.Errorf("output of the agent: got %q, %v", seen, err)
	}
}

func (c *town) run() *exec.Cmd {
	c.t.Helper()
	ctl := c.begin()
	c.ctl = ctl
	c.t.Cleanup(func() {
		if ctl.Process.Signal(syscall.SIGTERM) == nil {
			if err := ctl.Wait(); err != nil {
				c.t.Errorf("exit of the controller: %v\n%s", err, ctl.Stderr)
			}
		}
	})
	return ctl
}

func (c *town) begin() *exec.Cmd {
	c.t.Helper()
	ctl := exec.Command(c.bin, "--headless", "--city", c.dir)
	ctl.Env = c.env
	ctl.Stderr = &heard{}
	if err := ctl.Start(); err != nil {
		c.t.Fatal(err)
	}
	return ctl
}

type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func (c *town) gcity(code int, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.bin, append(args, "--city", c.dir)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		c.t.Fatalf("gcity %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

type agentView struct {
	Name    string
	State   string
	PID     int
	Crashes int
	Task    string
}

// agents returns nil if no controller responds.
func (c *town) agents() []agentView {
	out, err := exec.Command(c.bin, "agent", "list", "--json", "--city", c.dir).Output()
	if err != nil {
		return nil
	}
	var list struct{ Items []agentView }
	if err := json.Unmarshal(out, &list); err != nil {
		c.t.Fatalf("agent list --json: %v\n%s", err, out)
	}
	return list.Items
}

func (c *town) answers() bool {
	conn, err := net.Dial("unix", c.socket())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// If the agent restarts before the signal is sent, signal tries again.
func (c *town) signal(agent string, s syscall.Signal) (pid int) {
	c.t.Helper()
	c.until(fmt.Sprint(agent, " gets ", s), func() bool {
		pid = c.byName()[agent].PID // 0 if there is no process; kill(0) would signal our own group
		return pid > 0 && syscall.Kill(pid, s) == nil
	})
	return pid
}

func (c *town) count(state string) int {
	n := 0
	for _, a := range c.agents() {
		if a.State == state {
			n++
		}
	}
	return n
}

func (c *town) until(what string, true func() bool) {
	c.t.Helper()
	eventually.True(c.t, what, true, func() string {
		var state []byte
		for _, args := range [][]string{{"status"}, {"bead", "list"}, {"events", "--limit", "40"}} {
			out, _ := exec.Command(c.bin, append(args, "--city", c.dir)...).CombinedOutput() // the command may fail
			state = append(append(state, '\n'), out...)
		}
		if c.ctl == nil { // the city runs in a control room
			return string(state)
		}
		return fmt.Sprintf("%s%s", c.ctl.Stderr, state)
	})
}

func (c *town) lines(agents map[string]string) {
	c.t.Helper()
	var toml strings.Builder
	fmt.Fprintf(&toml, "[workspace]\nname = \"town\"\n[daemon]\nshutdown_timeout = \"300ms\"\nmax_restarts = 0\n%s\n", c.settings)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		fmt.Fprintf(&toml, "[[agents]]\nname = %q\nstart_command = %q\n", name, agents[name])
	}
	if err := os.WriteFile(filepath.Join(c.dir, "city.toml"), []byte(toml.String()), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *town) marked() []int {
	return processes(func(pid int) bool {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err == nil && bytes.Contains(env, []byte("GC_CITY_PATH="+c.dir))
	})
}

func (c *town) descendants() []int {
	parents := map[int]int{}
	for _, pid := range processes(func(int) bool { return true }) {
		parents[pid] = stat(pid, 1)
	}
	roots := map[int]bool{}
	for _, pid := range c.marked() {
		roots[pid] = true
	}
	return processes(func(pid int) bool {
		for p := pid; p > 1; p = parents[p] {
			if roots[p] {
				return true
			}
		}
		return false
	})
}

func (c *town) holder(agent string) int {
	for pid := c.pids[agent]; pid > 1; pid = stat(pid, 1) {
		if slices.Contains(c.running(), pid) {
			return pid
		}
	}
	c.t.Fatalf("%s has no holder", agent)
	return 0
}

// The kernel needs a moment to reap the processes.
func (c *town) nothingLeft() {
	c.t.Helper()
	var left []int
	eventually.Poll(func() bool {
		left = append(c.marked(), c.running()...)
		return len(left) == 0
	})
	for _, pid := range left {
		c.t.Errorf("process %d is still running: %s", pid, cmdline(pid))
	}
}

func processes(match func(pid int) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && match(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat counts from the field after the name: 0 is the state, 1 the parent.
func stat(pid, field int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))[field])
	return n
}

func lives(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(data, []byte(") Z "))
}

func cmdline(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(data), "\x00", " ")
}
