package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gcity/internal/eventually"
)

const units = ".config/systemd/user"

// userManager is a separate systemd user manager in its own namespaces. All its processes exit when the test closes a
// pipe.
type userManager struct {
	t    *testing.T
	bin  string
	home string
	root int
	out  *heard
}

// The script outside creates and removes a control group for the manager. The script within is the first process in the
// namespaces, and exits when its standard input is closed.
const (
	outside = `set -e
trap '' INT TERM HUP
umount -R -l /sys/fs/cgroup || :
mount -t cgroup2 none /sys/fs/cgroup
group=$(mktemp -d /sys/fs/cgroup/gcity-test-XXXXXX)
home=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
trap 'echo $$ >"$home/cgroup.procs"; find "$group" -depth -type d -exec rmdir {} \;' EXIT
echo $$ >"$group/cgroup.procs"
unshare --pid --mount --cgroup --fork --kill-child --mount-proc sh -c "$WITHIN"`
	within = `set -e
umount -R -l /sys/fs/cgroup || :
mount -t cgroup2 none /sys/fs/cgroup
mkdir /sys/fs/cgroup/user@0.service
mount -t tmpfs none /run
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
sh -c 'echo $$ >/sys/fs/cgroup/user@0.service/cgroup.procs && exec "$MANAGER" --user --unit=basic.target' </dev/null &
echo up
read -r _ || :`
)

func newUserManager(t *testing.T) *userManager {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can create the namespaces for a separate systemd")
	}
	manager := "/lib/systemd/systemd"
	if _, err := os.Stat(manager); err != nil {
		t.Skipf("systemd is not installed: %v", err)
	}
	for _, program := range []string{"systemctl", "unshare", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	e := &userManager{t: t, bin: binary(t), home: filepath.Join(t.TempDir(), "home"), out: &heard{}}
	e.put(".gc/supervisor.toml", "[supervisor]\nport = 0\n")
	e.put(units+"/service.d/log.conf", "[Service]\nStandardOutput=append:"+e.log()+"\nStandardError=append:"+e.log()+"\n")
	for _, target := range []string{"basic", "shutdown", "default"} { // hides the units of this machine
		e.put(units+"/"+target+".target", "[Unit]\nDefaultDependencies=no\n")
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", outside)
	cmd.Env = append(e.environ(), "WITHIN="+within, "MANAGER="+manager, "SYSTEMD_LOG_TARGET=null",
		"SYSTEMD_UNIT_PATH="+filepath.Join(e.home, units), "SYSTEMD_GENERATOR_PATH=/none", "SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/none")
	cmd.Stderr = e.out
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hold.Close()
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait() // its input was closed
	})
	if line, _ := bufio.NewReader(said).ReadString('\n'); line != "up\n" {
		hold.Close()
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait() // its output says more than its exit code
		t.Skipf("cannot create namespaces for a separate systemd: %s", e.out)
	}
	e.root = child(child(cmd.Process.Pid))
	e.until("systemd answers", func() bool { _, err := e.try("systemctl", "--user", "show-environment"); return err == nil })
	return e
}

func child(parent int) int {
	for _, pid := range processes(func(pid int) bool { return stat(pid, 1) == parent }) {
		return pid
	}
	return 0
}

func (e *userManager) log() string { return e.home + ".log" }

func (e *userManager) environ() []string {
	return []string{"HOME=" + e.home, "XDG_RUNTIME_DIR=/run/user/0", "PATH=" + filepath.Dir(e.bin) + ":" + os.Getenv("PATH"), "LC_ALL=C",
		"GCITY_TRUST=all", "GORACE=" + os.Getenv("GORACE")}
}

func (e *userManager) put(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *userManager) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"--target", strconv.Itoa(e.root), "--mount", "--pid", "--cgroup", "--"}, args...)...)
	cmd.Env = e.environ()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (e *userManager) run(args ...string) string {
	e.t.Helper()
	out, err := e.try(args...)
	if err != nil {
		e.fail("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (e *userManager) systemctl(args ...string) string {
	e.t.Helper()
	return e.run(append([]string{"systemctl", "--user"}, args...)...)
}

func (e *userManager) fail(format string, args ...any) {
	e.t.Helper()
	log, _ := os.ReadFile(e.log())
	state, _ := e.try("systemctl", "--user", "status", "gcity-*")
	e.t.Fatalf("%s\n%s\n%s\n%s", fmt.Sprintf(format, args...), state, log[max(0, len(log)-8000):], e.out)
}

func (e *userManager) until(what string, true func() bool) {
	e.t.Helper()
	if !eventually.Poll(true) {
		e.fail("not within %s: %s", eventually.Timeout, what)
	}
}

type tenant struct {
	*town
	e     *userManager
	group string // the group of commands: "daemon" or "supervisor"
	unit  string
}

func (e *userManager) tenant(group, unit, name string) *tenant {
	e.t.Helper()
	c := newTown(e.t, 0, "")
	s := &tenant{town: c, e: e, group: group, unit: unit}
	c.config(s.file(name))
	return s
}

func (s *tenant) file(name string) string {
	return fmt.Sprintf("[workspace]\nname = %q\n[daemon]\nmax_restarts = 0\nshutdown_timeout = \"1s\"\n[[agents]]\nname = \"a\"\nstart_command = %q\n",
		name, s.line("a", `trap "" TERM INT HUP; `))
}

func (s *tenant) gcity(args ...string) string {
	s.t.Helper()
	return s.e.run(append([]string{s.bin, "--city", s.dir}, args...)...)
}

func (s *tenant) show(property string) string {
	s.t.Helper()
	return s.e.systemctl("show", "--value", "--property", property, s.unit)
}

func (s *tenant) anew(was string) {
	s.t.Helper()
	s.e.until(s.unit+" runs anew", func() bool {
		pid := s.show("MainPID")
		return pid != was && pid != "0" && s.show("ActiveState") == "active"
	})
	s.has()
}

func (s *tenant) has() {
	s.t.Helper()
	s.e.until("the city has its agent", func() bool {
		out, err := s.e.try(s.bin, "--city", s.dir, "status")
		return err == nil && strings.Contains(out, "1 agent: 1 running") && !strings.Contains(out, "no controller")
	})
}

func (s *tenant) kept(when string, was map[int]bool) {
	s.t.Helper()
	if len(s.births) > 0 {
		s.e.fail("%s: after %s: got a restarted agent %+v", s.unit, when, <-s.births)
	}
	if is := s.people(); !maps.Equal(is, was) {
		s.e.fail("%s: after %s: got processes %v, want %v", s.unit, when, is, was)
	}
}

func (s *tenant) people() map[int]bool {
	out := map[int]bool{}
	for _, pid := range s.marked() {
		out[pid] = true
	}
	return out
}

// A city and a supervisor run under a real systemd. Agents survive a restart, a kill -9 and a hung main process. A stop
// stops the agents.
func TestSystemd(t *testing.T) {
	t.Parallel()
	e := newUserManager(t)
	daemon := e.tenant("daemon", "gcity-lone.service", "lone")
	many := e.tenant("supervisor", "gcity-supervisor.service", "one")
	many.gcity("register")
	both := []*tenant{daemon, many}
	was := map[*tenant]map[int]bool{}
	for _, s := range both {
		s.gcity(s.group, "install", "--now")
		s.born(1)
		s.has()
		e.until("the agent has executed its program", func() bool { was[s] = s.people(); return len(was[s]) > 0 })
		for pid := range was[s] {
			env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err != nil || bytes.Contains(env, []byte("INVOCATION_ID=")) || bytes.Contains(env, []byte("NOTIFY_SOCKET=")) {
				t.Errorf("%s: process %d inherited the environment of the service, %v",
					s.unit, pid, err)
			}
		}
		e.until("the service reports its status", func() bool { return strings.HasPrefix(s.show("StatusText"), "1 of 1 ") })
		if out := s.gcity("doctor"); !strings.Contains(out, "service "+strings.TrimSuffix(s.unit, ".service")) || strings.Contains(out, "bad ") {
			t.Errorf("%s", out)
		}
	}

	for _, s := range both {
		pid := s.show("MainPID")
		e.systemctl("reload", s.unit)
		if now := s.show("MainPID"); now != pid {
			t.Errorf("%s: a reload changed the main process to %s, want %s", s.unit, now, pid)
		}
		e.systemctl("restart", s.unit)
		s.anew(pid)
		s.kept("a restart", was[s])
	}

	for _, how := range []string{"-KILL", "-STOP"} { // systemd's watchdog kills the stopped process
		pids := map[*tenant]string{}
		for _, s := range both {
			pids[s] = s.show("MainPID")
			e.run("kill", how, pids[s])
		}
		for _, s := range both {
			s.anew(pids[s])
			s.kept("kill "+how, was[s])
		}
	}
	if n := daemon.show("NRestarts"); n == "0" || n == "1" {
		t.Errorf("restarts of the service: got %s", n)
	}

	for _, s := range both {
		good, err := os.ReadFile(filepath.Join(s.dir, "city.toml"))
		if err != nil {
			t.Fatal(err)
		}
		s.config("wrong = 1\n" + string(good))
		_, err = e.try("systemctl", "--user", "restart", s.unit)
		if s == daemon {
			if state := s.show("SubState") + " " + s.show("ExecMainStatus"); err == nil || state != "failed 78" {
				e.fail("a rejected configuration: got %v, %s", err, state)
			}
			if out, err := e.try(s.bin, "--city", s.dir, "daemon", "start"); err == nil || !strings.Contains(out, "city.toml:1:1") {
				t.Errorf("%v: %s", err, out)
			}
			out, _ := e.try(s.bin, "--city", s.dir, "doctor") // doctor fails, because it finds problems
			for _, want := range []string{"the service has failed, and the configuration is invalid", "`gcity daemon start` starts the city's service, which takes over the sessions"} {
				if !strings.Contains(out, want) {
					t.Errorf("output of doctor: want %q in\n%s", want, out)
				}
			}
		} else if err != nil {
			e.fail("one broken city stopped the supervisor: %v", err)
		}
		s.kept("its configuration was rejected", was[s])
		s.config(string(good))
		if s == daemon {
			s.gcity("daemon", "start")
		}
		s.has()
		s.kept("its configuration was repaired", was[s])
	}

	for _, s := range both {
		s.gcity(s.group, "uninstall", "--keep-agents")
		s.kept("uninstall --keep-agents", was[s])
		s.gcity(s.group, "install", "--now")
		s.has()
		s.kept("reinstallation", was[s])
	}

	e.systemctl("stop", daemon.unit)
	many.gcity("supervisor", "uninstall")
	if state := daemon.show("ActiveState") + " " + daemon.show("Result"); state != "inactive success" {
		e.fail("state after the stop: got %s", state)
	}
	if out := daemon.gcity("start"); !strings.Contains(out, daemon.unit+" keeps the city running") {
		t.Errorf("%s", out)
	}
	daemon.gcity("stop")
	e.until("the service is stopped", func() bool { return daemon.show("ActiveState")+" "+daemon.show("Result") == "inactive success" })
	daemon.gcity("daemon", "uninstall")
	for _, s := range both {
		if left := s.people(); len(left) > 0 {
			e.fail("%s: processes after the stop: got %v", s.unit, left)
		}
	}
	if left, err := filepath.Glob(filepath.Join(e.home, units, "*gcity*")); err != nil || len(left) > 0 {
		t.Errorf("left of the units: got %q, %v", left, err)
	}
	daemon.nothingLeft()
}

// All processes of the manager exit with it, and its control group is removed.
func TestUserManagerLeavesNoProcess(t *testing.T) {
	t.Parallel()
	var inside int
	var group string
	t.Run("manager", func(t *testing.T) {
		e := newUserManager(t)
		e.put(units+"/deaf.service", "[Service]\nExecStart=/bin/sh -c \"trap '' TERM HUP INT; while :; do sleep 1000; done\"\n")
		e.systemctl("start", "deaf.service")
		inside = e.root
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", inside))
		if err != nil {
			t.Fatal(err)
		}
		_, path, _ := bytes.Cut(data, []byte("0::"))
		path, _, _ = bytes.Cut(path, []byte("\n"))
		group = string(path)
	})
	if inside == 0 {
		t.Skip("the manager has no control group")
	}
	if !strings.Contains(group, "/gcity-test-") {
		t.Errorf("control group of the manager: got %q", group)
	}
	if left := processes(func(pid int) bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		return err == nil && slices.Contains(strings.Split(string(data), "\n"), "0::"+group)
	}); len(left) > 0 {
		t.Errorf("processes %v remain in %s", left, group)
	}
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(mount + group); err == nil {
			t.Errorf("%s%s still exists", mount, group)
		}
	}
}
