package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gcity/internal/proc"
)

func marked(t *testing.T, run string) []string {
	return append(os.Environ(), "GC_RUN=/an/outer/city:1", "GC_RUN="+t.TempDir()+":"+run)
}

// Processes that leave the process group are found by the marker.
func TestMarkedProcessesAreKilled(t *testing.T) {
	for name, text := range map[string]string{
		"a session of its own":   "setsid sh -c 'echo $$ >$FILE; exec sleep 1000' & echo done",
		"without the pipes":      "setsid sh -c 'echo $$ >$FILE; exec sleep 1000' </dev/null >/dev/null 2>&1 & echo done",
		"forked twice":           "(setsid sh -c '(echo $(exec sh -c \"echo \\$PPID\") >$FILE; sleep 1000) & exit' &); echo done",
		"one that starts others": "setsid sh -c 'echo $$ >$FILE; while :; do setsid sleep 1000; done' & echo done",
		"deaf":                   "setsid sh -c 'trap \"\" HUP INT TERM; echo $$ >$FILE; while :; do sleep 1; done' & echo done",
		"after other commands":   "setsid sh -c 'echo $$ >$FILE; exec sleep 1000' & seq 3 | while read n; do /bin/true; done; echo done",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			env := append(marked(t, "1"), "FILE="+file)
			res, err := Run(t.Context(), Line{Text: text + "; until [ -s $FILE ]; do sleep 0.01; done", Env: env})
			if err != nil || string(res.Output) != "done\n" {
				t.Fatalf("%q, %v", res.Output, err)
			}
			dead(t, file)
		})
	}
}

func TestMarkedProcessesAreKilledAtDeadline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	_, err := Run(once(t, file), Line{Text: "setsid sh -c 'echo $$ >$FILE; exec sleep 1000' & sleep 1000", Env: append(marked(t, "1"), "FILE="+file)})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	dead(t, file)
}

// A child process in an exec shows no environment. It is still found and killed.
func TestMarkedProcessInExecIsKilled(t *testing.T) {
	env := marked(t, "1")
	text := strings.Repeat("setsid sleep 1000 </dev/null >/dev/null 2>&1 & ", 2) + "/bin/true"
	for range 100 {
		if _, err := Run(t.Context(), Line{Text: text, Env: env}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		if proc.HasEnv(proc.Environ(pid), env[len(env)-1], false) {
			t.Errorf("process %d is still running", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Processes of other runs are not killed, even with a similar marker.
func TestOtherRunsAreNotKilled(t *testing.T) {
	env := marked(t, "1")
	mine := env[len(env)-1]
	other := filepath.Join(t.TempDir(), "pid")
	text := "env '" + mine + "2' setsid sh -c 'echo $$ >" + other + "; exec sleep 1000' </dev/null >/dev/null 2>&1 &" +
		"until [ -s " + other + " ]; do sleep 0.01; done"
	if _, err := Run(t.Context(), Line{Text: text, Env: env}); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, other)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the other run's process was killed: %v", err)
	}
}

func dead(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(t, file)
	if data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil && len(data) > 0 {
		t.Errorf("process %d is still running: %q", pid, data)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func BenchmarkRun(b *testing.B) {
	for name, env := range map[string][]string{"bare": {"PATH=/usr/bin:/bin"}, "marked": {"PATH=/usr/bin:/bin", "GC_RUN=/city:1"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(b.Context(), Line{Text: "echo 3", Env: env, Split: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
