package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/cli/sessions"
	"gcity/internal/eventually"
	"gcity/session/protocol"
	"gcity/session/pty"
	"gcity/session/tmux"
	"gcity/supervisor"
	"gcity/trust"
)

// The test binary acts as gcity in each of its roles: command line, controller, holder, and the agents' gc command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(tmux.Pane())
	}
	if err := flag.Set("test.parallel", "6"); err != nil { // scripts spend more time waiting than computing
		panic(err)
	}
	if _, said := os.LookupEnv("GCITY_TRUST"); !said {
		if err := os.Setenv("GCITY_TRUST", trust.Everything); err != nil {
			panic(err)
		}
	}
	env.CompleteWithin = patience // completions may be slow on a busy machine
	play := func() { os.Exit(Main(os.Args[1:], "test")) }
	testscript.Main(m, map[string]func(){"gcity": play, "gc": play, "dolt": playDolt,
		"session-helper": helpSessions})
}

// helpSessions acts as a session helper that runs its sessions on this machine.
func helpSessions() {
	err := protocol.Serve(context.Background(), func(_ context.Context, r protocol.OpenRequest) (protocol.Opened, error) {
		exe, err := os.Executable()
		if err != nil {
			return protocol.Opened{}, err
		}
		p, err := pty.New(pty.Options{City: r.City, Binary: exe, Observe: r.Observe})
		if err != nil {
			return protocol.Opened{}, err
		}
		return protocol.Opened{Name: "test", Provider: p, Close: func() { _ = p.Close() }}, nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The scripts in testdata run commands against real cities, with real processes on real terminals.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole cities")
	}
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"code": code, "until": until, "pid": pidOf, "gone": gone, "alive": aliveNow, "signal": signalTo,
		"marked": marked, "doltpid": serverPID,
	}
	maps.Copy(commands, tcpCommands())
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: commands,
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv("SHELL", "/bin/sh")
			e.Setenv("GORACE", quickEnd)
			e.Setenv("GCITY_TRUST", trust.Everything)
			e.Values[listenerKey{}] = new(net.Listener)
			store, err := filepath.Abs("../beads/script/testdata/folder.sh")
			if err != nil {
				return err
			}
			e.Setenv("STORE", store)
			e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, ".run"))
			e.Setenv("GC_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Defer(func() { stopAll(t, e.WorkDir, e.Vars) })
			return os.Mkdir(filepath.Join(e.WorkDir, ".run"), 0o700)
		},
	})
}

// quickEnd disables the race detector's one-second sleep at the exit of each process.
const quickEnd = "atexit_sleep_ms=0"

// patience is the timeout of every wait in a script. No test depends on its exact length.
const patience = eventually.Timeout

// code N COMMAND… runs a command that must exit with code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

// until REGEXP COMMAND… runs a command repeatedly until its output matches; with !, until it does not match.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	out := ""
	matches := func() bool {
		_ = ts.Exec(args[1], args[2:]...)
		out = ts.ReadFile("stdout") + ts.ReadFile("stderr")
		return re.MatchString(out) != neg
	}
	poll := eventually.Poll
	if args[1] == "gcity" { // takes long to start, and its output rarely changes without an event
		poll = func(cond func() bool) bool {
			return eventually.PollOnChange(func() int64 { return eventsSize(ts) }, cond)
		}
	}
	if !poll(matches) {
		ts.Fatalf("timed out waiting for %q in the output of %v; the last was:\n%s", args[0], args[1:], out)
	}
}

// eventsSize returns the size of the event logs of the script's cities.
func eventsSize(ts *testscript.TestScript) (sum int64) {
	for _, at := range []string{".gc", "*/.gc"} {
		logs, err := filepath.Glob(filepath.Join(ts.Getenv("WORK"), at, "events.jsonl"))
		ts.Check(err)
		for _, log := range logs {
			if info, err := os.Stat(log); err == nil {
				sum += info.Size()
			}
		}
	}
	return sum
}

// pid VAR AGENT [NOT] waits until an agent is running, and stores its PID in VAR. With NOT, it waits for another PID.
func pidOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pid VAR AGENT [NOT]")
	}
	var last string
	waitUntil(ts, func() bool {
		g, err := agentNow(ts, args[1])
		if last = fmt.Sprintf("%+v, error %v", g, err); err != nil {
			return false
		}
		ts.Setenv(args[0], strconv.Itoa(g.PID))
		return g.PID != 0 && g.State == city.Running && (len(args) < 3 || strconv.Itoa(g.PID) != args[2])
	}, func() string { return "a (new) pid of " + args[1] + "; " + last })
}

// agentNow returns an agent's state. It asks the controller, because that takes less time than starting a command.
func agentNow(ts *testscript.TestScript, name string) (g city.Agent, err error) {
	if s, err := folder.AskController(context.Background(), ts.MkAbs(".")); err == nil {
		if a, ok := s.Agent(name); ok {
			return *a, nil
		}
	}
	if err := ts.Exec("gcity", "agent", "show", name, "--json"); err != nil {
		return g, err
	}
	return g, json.Unmarshal([]byte(ts.ReadFile("stdout")), &g)
}

// gone PID… waits until the processes have exited.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		ts.Check(err)
		waitUntil(ts, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, func() string { return "the exit of " + arg })
	}
}

// signal NAME [PID] sends a signal to a process, or to the controller of the city in the working folder.
func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	number := map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL,
	}
	if neg || len(args) < 1 || number[args[0]] == 0 {
		ts.Fatalf("usage: signal NAME [PID]")
	}
	text := strings.Join(args[1:], "")
	if text == "" {
		text = ts.ReadFile(".gc/daemon.pid")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, number[args[0]]))
}

// alive PID… fails if a process has exited.
func aliveNow(ts *testscript.TestScript, neg bool, args []string) {
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		ts.Check(err)
		if err := syscall.Kill(pid, 0); err != nil {
			ts.Fatalf("process %d: %v", pid, err)
		}
	}
}

// marked AGENT waits until the agent's session is marked as draining.
func marked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: marked AGENT")
	}
	sessions, closeSessions, err := sessions.OpenSessions(sessions.SessionOptions{Dir: ts.MkAbs("."), Observe: true, Logger: folder.QuietLogger()})
	ts.Check(err)
	defer closeSessions()
	b := offline.City{Sessions: sessions}
	waitUntil(ts, func() bool {
		st, err := b.Session(context.Background(), args[0])
		ts.Check(err)
		return st.Drain.On()
	}, func() string { return "a drain mark on the session of " + args[0] })
}

func waitUntil(ts *testscript.TestScript, done func() bool, what func() string) {
	if !eventually.Poll(done) {
		ts.Fatalf("timed out waiting for %s", what())
	}
}

// stopAll stops everything that a script has left running. The test fails if a process of the script's cities remains
// (L10).
func stopAll(t *testing.T, work string, env []string) {
	exe, err := exec.LookPath("gcity")
	if err != nil {
		t.Error(err)
		return
	}
	if data, err := os.ReadFile(filepath.Join(work, ".home", "supervisor.json")); err == nil {
		var running supervisor.Running
		_ = json.Unmarshal(data, &running) // PID 0 if the record is damaged
		resume(running.PID)
		cmd := exec.Command(exe, "supervisor", "stop")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("supervisor stop: %v\n%s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(work, "*", "city.toml"))
	if err != nil {
		t.Error(err)
	}
	processes := ofCity(work)
	for _, f := range append(files, filepath.Join(work, "city.toml")) {
		if _, err := os.Stat(f); err != nil {
			continue
		}
		if held, err := folder.IsHeld(filepath.Dir(f)); err == nil && !held && len(processes) == 0 {
			continue // the script has stopped this city
		}
		pid, _ := os.ReadFile(filepath.Join(filepath.Dir(f), ".gc", "daemon.pid"))
		controller, _ := strconv.Atoi(strings.TrimSpace(string(pid))) // 0 if no controller is running
		resume(controller)
		cmd := exec.Command(exe, "stop", "--city", filepath.Dir(f))
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		var e *exec.ExitError
		if err != nil && (!errors.As(err, &e) || e.ExitCode() != exit.CodeNotRunning) {
			t.Errorf("stop %s: %v\n%s", f, err, out)
		}
	}
	var left []string
	if !eventually.Poll(func() bool { left = ofCity(work); return len(left) == 0 }) {
		t.Errorf("left running: %v", left)
	}
}

// resume continues a process that a script has stopped with SIGSTOP, and whose next line has failed.
func resume(pid int) {
	if pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it has exited if this fails
	}
}

func ofCity(dir string) []string {
	var left []string
	processes, _ := os.ReadDir("/proc") // on each machine that runs these tests
	for _, p := range processes {
		data, err := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if err != nil { // not a process of this user
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline")) // empty if the process has just exited
		agent := strings.Contains("\x00"+string(data), "\x00GC_CITY_PATH="+dir)
		if holder := strings.Contains(string(line), "hold\x00"+dir); !agent && !holder {
			continue
		}
		left = append(left, p.Name()+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return left
}
