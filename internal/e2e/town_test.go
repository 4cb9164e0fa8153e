package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "gcity/cli" // the tests build this package; this import makes go test rerun them after a change
	"gcity/internal/eventually"
	"gcity/internal/gobuild"
	"gcity/trust"
)

const patience = eventually.Timeout

func binary(t testing.TB) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	if built != "" {
		return built
	}
	dir, err := os.MkdirTemp("", "gcity-bench-")
	if err != nil {
		t.Fatal(err)
	}
	bin, hold := filepath.Join(dir, "gcity"), filepath.Join(dir, "gcity-hold")
	err = errors.Join(gobuild.Static("-ldflags", "-s -w", "-o", hold, "gcity/session/pty/gcity-hold"),
		gobuild.Build("-tags", "holder", "-overlay", overlay(t, dir, hold), "-o", bin, "gcity"))
	if err != nil {
		t.Fatal(err)
	}
	built = bin
	return bin
}

// overlay does not write to the source folder.
func overlay(t testing.TB, dir, hold string) string {
	t.Helper()
	place, err := filepath.Abs("../../session/pty/holdbin/gcity-hold-linux-" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{place: hold}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	building sync.Mutex
	built    string // path of the program; "" = not built yet
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: the tests of this package run whole cities")
		return
	}
	if err := os.Setenv("GCITY_TRUST", trust.Everything); err != nil {
		panic(err)
	}
	home, err := os.MkdirTemp("", "gcity-home")
	if err == nil {
		// do not use the GC_HOME of the user who runs the tests
		err = errors.Join(os.Setenv("GC_HOME", home), os.Setenv("GORACE", gobuild.RaceLog(home)))
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if races, err := gobuild.Races(home); err != nil || races != "" {
		fmt.Printf("data races in programs of these tests (error: %v):\n%s\n", err, races)
		code = max(code, 1)
	}
	os.RemoveAll(home)
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

// town is a city under test. Its agents report their start through a FIFO.
type town struct {
	t      testing.TB
	bin    string
	dir    string
	fifo   *os.File
	births chan birth
	ctl    *exec.Cmd
	env    []string // environment of the next controller; nil means that of the test
	pids   map[string]int
	person []string // additional environment of the user at a terminal

	settings string // additional lines of the [daemon] table
}

type birth struct {
	agent string
	pid   int
	at    time.Time
}

// newTown creates a city with n sleeping agents. settings contains additional lines of its [daemon] table.
func newTown(t testing.TB, n int, settings string) *town {
	t.Helper()
	c := &town{t: t, bin: binary(t), dir: t.TempDir(), births: make(chan birth, 4096), pids: map[string]int{},
		settings: settings}
	path := filepath.Join(c.dir, "births")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.fifo, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.fifo.Close() })
	go c.listen()
	c.write(n, settings, "")
	return c
}

func agentName(i int) string { return fmt.Sprintf("agent-%04d", i) }

func (c *town) line(name, extra string) string {
	return fmt.Sprintf("%secho %s $$ >%s/births; exec sleep 1000000", extra, name, c.dir)
}

// write writes city.toml, with a different command for one agent.
func (c *town) write(n int, settings, changed string) {
	c.t.Helper()
	var toml strings.Builder
	fmt.Fprintf(&toml, "[workspace]\nname = \"bench\"\n[daemon]\nmax_restarts = 0\nshutdown_timeout = \"100ms\"\n%s\n", settings)
	for i := range n {
		name, extra := agentName(i), ""
		if name == changed {
			extra = ": changed; "
		}
		fmt.Fprintf(&toml, "[[agents]]\nname = %q\nstart_command = %q\n", name, c.line(name, extra))
	}
	if err := os.WriteFile(filepath.Join(c.dir, "city.toml"), []byte(toml.String()), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *town) listen() {
	for lines := bufio.NewScanner(c.fifo); lines.Scan(); {
		now := time.Now()
		name, pid, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(pid)
		if err == nil {
			c.births <- birth{name, n, now}
		}
	}
}

func (c *town) born(n int) birth {
	c.t.Helper()
	deadline := time.After(patience)
	var last birth
	for range n {
		select {
		case last = <-c.births:
			c.pids[last.agent] = last.pid
		case <-deadline:
			c.t.Fatal("not all agents started")
		}
	}
	return last
}

func (c *town) running() []int {
	exes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		c.t.Fatal(err)
	}
	var pids []int
	for _, exe := range exes {
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(exe), "cmdline")) // a holder's executable may be only in memory
		target, err := os.Readlink(exe)
		own := target == c.bin || strings.HasPrefix(string(line), c.bin+"\x00hold\x00")
		if err == nil && own && strings.Contains(string(line), c.dir) { // cities of other tests run at the same time
			pid, err := strconv.Atoi(strings.Split(exe, "/")[2])
			if err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func cpu(pids []int) time.Duration {
	var ticks int64
	for _, pid := range pids {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		for _, f := range fields[11:13] { // utime, stime
			n, err := strconv.ParseInt(f, 10, 64)
			if err == nil {
				ticks += n
			}
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 everywhere
}

// pss returns kB.
func pss(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

func forks(t testing.TB) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "processes "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("the processes cannot be counted")
	return 0
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}
