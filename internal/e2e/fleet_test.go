package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

type fleetTest struct {
	t     *testing.T
	bin   string
	home  string
	env   []string
	towns []*town
	ctl   *exec.Cmd
}

func newFleetTest(t *testing.T, n int) *fleetTest {
	t.Helper()
	l := &fleetTest{t: t, bin: binary(t), home: filepath.Join(t.TempDir(), "home")}
	run := filepath.Join(t.TempDir(), "run")
	l.env = append(os.Environ(), "GC_HOME="+l.home, "XDG_RUNTIME_DIR="+run)
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.home, 0o700); err != nil {
		t.Fatal(err)
	}
	l.put("supervisor.toml", "[supervisor]\nport = 0\n")
	for i := range n {
		c := newTown(t, 0, "")
		c.config(l.city(c, i))
		l.towns = append(l.towns, c)
	}
	l.registry(l.towns...)
	t.Cleanup(func() { // even if the test has failed
		if l.ctl != nil && l.ctl.ProcessState == nil {
			_ = l.ctl.Process.Signal(syscall.SIGTERM)
			_ = l.ctl.Wait()
		}
		for _, c := range l.towns {
			_ = exec.Command(l.bin, "stop", "--city", c.dir).Run()
		}
	})
	return l
}

func (l *fleetTest) city(c *town, i int) string {
	text := fmt.Sprintf("[workspace]\nname = \"town%d\"\n[daemon]\nmax_restarts = 0\nshutdown_timeout = \"300ms\"\npatrol_interval = \"1s\"\n", i)
	for _, name := range []string{"one", "two"} {
		text += fmt.Sprintf("[[agents]]\nname = %q\nstart_command = %q\n", name, c.line(name, ""))
	}
	return text
}

func (l *fleetTest) put(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.home, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		l.t.Fatal(err)
	}
}

func (l *fleetTest) registry(towns ...*town) {
	l.t.Helper()
	var text strings.Builder
	for _, c := range towns {
		dir, err := filepath.EvalSymlinks(c.dir)
		if err != nil {
			dir = c.dir // the folder no longer exists
		}
		fmt.Fprintf(&text, "[[cities]]\npath = %q\n", dir)
	}
	l.put("cities.toml", text.String())
}

func (l *fleetTest) begin() *exec.Cmd {
	l.t.Helper()
	ctl := exec.Command(l.bin, "supervisor", "run")
	ctl.Env, ctl.Stderr = l.env, &heard{}
	if err := ctl.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.ctl = ctl
	for _, c := range l.towns {
		c.ctl = ctl
	}
	return ctl
}

func (l *fleetTest) kill() {
	l.t.Helper()
	if err := l.ctl.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
	_ = l.ctl.Wait() // returns an error, because the process was killed
}

func (l *fleetTest) gcity(code int, args ...string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.bin, args...)
	cmd.Env = l.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		l.t.Fatalf("gcity %s: %v\n%s\n%s", strings.Join(args, " "), err, out, l.ctl.Stderr)
	}
	return string(out)
}

type cityView struct {
	Name, Path, Status, Error string
	Running                   bool
}

func (l *fleetTest) is(c *town) (v cityView) {
	l.t.Helper()
	cmd := exec.Command(l.bin, "cities", "--json")
	cmd.Env = l.env
	out, err := cmd.Output()
	if err != nil {
		return v // fails while the supervisor is starting
	}
	var list struct{ Items []cityView }
	if err := json.Unmarshal(out, &list); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
	for _, i := range list.Items {
		if i.Path == c.dir {
			v = i
		}
	}
	return v
}

func (l *fleetTest) until(c *town, status, why string) {
	l.t.Helper()
	c.until(fmt.Sprintf("%s is %q, %q", c.dir, status, why), func() bool {
		v := l.is(c)
		return v.Status == status && strings.Contains(v.Error, why)
	})
}

func (l *fleetTest) run(towns ...*town) {
	l.t.Helper()
	for _, c := range towns {
		c.until("both agents run", func() bool {
			if l.is(c).Status != "running" {
				return false
			}
			n := 0
			for _, a := range c.agents() {
				if a.State == "running" && a.PID > 0 {
					n++
				}
			}
			return n == 2
		})
		for len(c.pids) < 2 {
			c.born(1)
		}
		l.same(c)
	}
}

func (l *fleetTest) same(c *town) {
	l.t.Helper()
	for len(c.births) > 0 {
		if b := <-c.births; c.pids[b.agent] != b.pid {
			l.t.Errorf("%s of %s started twice: pid %d, then %d",
				b.agent, c.dir, c.pids[b.agent], b.pid)
		}
	}
	for _, pid := range c.pids {
		if !lives(pid) {
			l.t.Errorf("process %d of %s is not running", pid, c.dir)
		}
	}
}

func (l *fleetTest) gone(c *town) {
	l.t.Helper()
	c.until("its agents have ended", func() bool { return len(c.marked()) == 0 })
	clear(c.pids)
}

// The test kills the supervisor of three cities at random moments. Every agent starts once and keeps its process, and a
// stop leaves no process behind (L10, L11).
func TestSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	seed := newSeed()
	t.Logf("go test ./internal/e2e -run %s -seed %d", t.Name(), seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	l := newFleetTest(t, 3)
	for range 15 {
		l.begin()
		time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond) // the moment of the kill is random
		l.kill()
	}
	l.begin()
	l.run(l.towns...)
	l.gcity(0, "supervisor", "stop")
	if err := l.ctl.Wait(); err != nil {
		t.Errorf("exit of the supervisor: %v\n%s", err, l.ctl.Stderr)
	}
	for _, c := range l.towns {
		for len(c.births) > 0 {
			t.Errorf("an agent was restarted: %+v", <-c.births)
		}
		c.nothingLeft()
	}
}

// A broken or removed city does not affect the others.
func TestCitiesAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	l := newFleetTest(t, 4)
	still, broken, moved, lost := l.towns[0], l.towns[1], l.towns[2], l.towns[3]
	l.begin()
	l.run(l.towns...)

	l.registry(still, broken, lost)
	l.gone(moved)
	l.registry(still, broken, moved, lost)
	l.run(moved)
	l.put("cities.toml", "[[cities]]\npath = 1\n")
	if out := l.gcity(78, "supervisor", "reload"); !strings.Contains(out, "cities.toml:2:8: ") {
		t.Errorf("%s", out)
	}
	l.run(l.towns...)
	l.registry(l.towns...)

	// The removal may fail while the city is writing to the folder.
	lost.until("its folder is gone", func() bool { return os.RemoveAll(lost.dir) == nil })
	l.until(lost, "refused", "folder no longer exists")
	l.gcity(0, "unregister", lost.dir)
	l.gone(lost)
	l.registry(l.towns...)
	if err := os.RemoveAll(lost.dir); err != nil { // a holder may have created the folder again
		t.Fatal(err)
	}
	l.until(lost, "refused", "folder no longer exists")

	broken.config("wrong = 1\n")
	l.until(broken, "running", "city.toml:1:1")
	l.kill()
	l.begin()
	l.until(broken, "refused", "city.toml:1:1")
	l.run(still, moved)
	l.same(broken)
	broken.config(l.city(broken, 1))
	l.run(still, broken, moved)

	if err := l.ctl.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if err := l.ctl.Wait(); err != nil {
		t.Errorf("exit after SIGUSR1: %v\n%s", err, l.ctl.Stderr)
	}
	l.gcity(3, "supervisor", "status")
	l.begin()
	l.run(still, broken, moved)
	l.gcity(0, "supervisor", "stop")
	if err := l.ctl.Wait(); err != nil {
		t.Errorf("exit of the supervisor: %v\n%s", err, l.ctl.Stderr)
	}
	for _, c := range []*town{still, broken, moved} {
		c.nothingLeft()
	}
}

// After the supervisor has stopped, a control room can start a city without the supervisor.
func TestRoomStartsACityAfterItsSupervisorStopped(t *testing.T) {
	t.Parallel()
	l := newFleetTest(t, 2)
	l.begin()
	l.run(l.towns...)
	home, other := l.towns[0], l.towns[1]
	home.prefer("")
	home.person = append(home.person, l.env[len(l.env)-2:]...)
	v := home.terminal()
	v.shows("2 running")
	v.types("@")
	v.shows("all cities in one list")
	v.types("town1\r")
	v.shows("switched to town1")
	l.gcity(0, "supervisor", "stop")
	if err := l.ctl.Wait(); err != nil {
		t.Errorf("exit of the supervisor: %v\n%s", err, l.ctl.Stderr)
	}
	v.shows("ago; @ starts it")
	other.until("the room accepts keys again after the switch", func() bool {
		return v.has("ago; @ starts it") && !v.has(" 0s ago; @ starts it")
	})
	v.types("@")
	v.shows("asks whether to start it")
	v.types("\r")
	v.shows("Start town1?")
	other.until("the room reaches the new controller", func() bool {
		if v.has("Start town1?") {
			v.types("y") // a dialog ignores keys that arrive right after it opens
		}
		return v.has("2 running") && !v.has("@ starts it")
	})
	if out := l.gcity(0, "status", "--city", other.dir); !strings.Contains(out, "gcity --headless, pid") {
		t.Error(out)
	}
}
