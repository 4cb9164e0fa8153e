package script

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/proc"
	"gcity/session"
)

func controller(city, script, id string) error {
	p, err := New(Options{City: city, Script: script, Dir: filepath.Join(city, "records"), Environ: os.Environ()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = p.Start(ctx, session.Spec{
		Name: "gc-start", Agent: "a", City: city, ID: id, Command: forever, Dir: city,
		Env: []string{"PATH=" + os.Getenv("PATH"), sessionMark + id}, Cols: 80, Rows: 24,
	})
	return err
}

func marked(t *testing.T, mark string) []int {
	t.Helper()
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, pid := range pids {
		if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' && st.State != 'X' && proc.HasEnv(proc.Environ(pid), mark, false) {
			found = append(found, pid)
		}
	}
	return found
}

// If a controller is killed while the script starts a session, the next controller kills the script and its children.
func TestStartOfKilledController(t *testing.T) {
	h := open(t, muxScript(t))
	state := filepath.Join(h.city, "records", "state")
	hold, hangs := filepath.Join(state, "hold"), filepath.Join(state, "gc-start.hangs")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := h.spec("gc-start", "").ID
	first := exec.Command(exe, h.city, h.script, id)
	first.Args[0], first.Stderr = "controller", os.Stderr
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sweep("GC_EXEC_STATE_DIR=" + state) })
	until(t, "the script's child", func() bool { return muxPID(hangs) > 0 })
	first.Process.Kill()
	first.Wait()
	child := muxPID(hangs) // the child has left the script's process group
	st, err := proc.ReadStat(child)
	if err != nil {
		t.Fatal(err)
	}
	scripts := []int{child, st.PPID}

	looks, err := New(Options{City: h.city, Script: h.script, Dir: filepath.Join(h.city, "records"), Environ: h.environ, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := looks.List(t.Context()); err != nil || len(all) != 1 || !all[0].Alive || all[0].Ready {
		t.Errorf("sessions of the observer: got %+v, %v", all, err)
	}
	if alive := marked(t, "GC_EXEC_STATE_DIR="+state); len(alive) < 2 {
		t.Errorf("the observer killed scripts %v; remaining processes: %v", scripts, alive)
	}
	h.reopen(t)
	if st, ok := status(t, h, "gc-start"); !ok || st.Alive || !st.Exit.Asked || st.ID != id {
		t.Errorf("%v, %+v", ok, st)
	}
	for _, pid := range scripts {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !isZombie(pid) {
			t.Errorf("process %d of the old start might still start the session", pid)
		}
	}
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	next := start(t, h, "gc-start", forever)
	h.reopen(t)
	if st, _ := status(t, h, "gc-start"); !st.Alive || st.PID != next.PID || st.ID != next.ID {
		t.Errorf("%+v", st)
	}
}

// If a script forgets a session, the session does not end, and is not started again.
func TestScriptLosesItsState(t *testing.T) {
	h := open(t, muxScript(t))
	left := filepath.Join(h.city, "left")
	first := start(t, h, "gc-a", `setsid sh -c 'trap "" INT TERM HUP; echo $$ >left; `+forever+`' & wait`)
	until(t, "the process outside the group", func() bool { return len(read(left)) > 1 })
	if err := os.Remove(filepath.Join(h.city, "records", "state", "gc-a.pid")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if st, _ := status(t, h, "gc-a"); !st.Alive || st.PID != first.PID {
			t.Errorf("%+v", st)
		}
		if _, err := h.Start(t.Context(), h.spec("gc-a", forever)); !errors.Is(err, session.ErrExists) {
			t.Errorf("%v", err)
		}
		h.reopen(t)
	}
	if _, err := h.Start(t.Context(), h.spec("gc-a", forever)); !errors.Is(err, session.ErrExists) {
		t.Errorf("%v", err)
	}
	if st, _ := status(t, h, "gc-a"); !st.Alive {
		t.Errorf("%+v", st)
	}
	if err := syscall.Kill(-first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the end", func() bool { st, _ := status(t, h, "gc-a"); return !st.Alive })
	if alive := marked(t, sessionMark+first.ID); len(alive) > 0 {
		t.Errorf("remaining processes of the ended session: got %v", alive)
	}
}

// Processes from an earlier session are killed before the next start.
func TestRemainingProcessesAreKilled(t *testing.T) {
	h := open(t, muxScript(t))
	first := start(t, h, "gc-a", forever)
	if err := h.Stop(t.Context(), "gc-a", 0); err != nil {
		t.Fatal(err)
	}
	late := exec.Command("sleep", "1000") // simulates a process that the first session left behind
	late.Env = []string{sessionMark + first.ID}
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { late.Process.Kill(); late.Wait() })
	start(t, h, "gc-a", forever)
	if st, err := proc.ReadStat(late.Process.Pid); err != nil || st.State != 'Z' {
		t.Errorf("late process: got state %+v, %v", st, err)
	}
}

// If a failed start cannot be undone, its session stays listed until it has been stopped.
func TestStartThatCannotBeUndone(t *testing.T) {
	h := open(t, muxScript(t))
	stuck := filepath.Join(h.city, "records", "state", "stuck")
	for _, mends := range []struct {
		by  string
		end func() error
	}{
		{"a stop", func() error { return h.Stop(t.Context(), "gc-a", 0) }},
		{"a look", func() error { return nil }},
		{"the next controller", func() error { h.reopen(t); return nil }},
	} {
		if err := os.WriteFile(stuck, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := h.spec("gc-a", forever+" # fails")
		if _, err := h.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "the connection is lost") || !strings.Contains(err.Error(), "might still be running") {
			t.Fatalf("%v", err)
		}
		if st, ok := status(t, h, "gc-a"); !ok || !st.Alive || st.Ready || st.ID != s.ID {
			t.Errorf("%s: %v, %+v", mends.by, ok, st)
		}
		if err := h.Stop(t.Context(), "gc-a", 0); err == nil || !strings.Contains(err.Error(), "it cannot be reached") {
			t.Errorf("%s: %v", mends.by, err)
		}
		if err := os.Remove(stuck); err != nil {
			t.Fatal(err)
		}
		if err := mends.end(); err != nil {
			t.Errorf("%s: %v", mends.by, err)
		}
		if st, ok := status(t, h, "gc-a"); !ok || st.Alive || !st.Exit.Asked || st.ID != s.ID {
			t.Errorf("%s: %v, %+v", mends.by, ok, st)
		}
		if alive := marked(t, sessionMark+s.ID); len(alive) > 0 {
			t.Errorf("%s: remaining processes: got %v", mends.by, alive)
		}
	}
}

// If the script does not support texts, keys or interrupts, the caller gets an error.
func TestScriptWithFewOperations(t *testing.T) {
	h := open(t, muxScript(t))
	if err := os.WriteFile(filepath.Join(h.city, "records", "state", "poor"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, h, "gc-a", forever)
	for range 2 {
		for op, err := range map[string]error{
			"nudge": h.Send(t.Context(), "gc-a", "x"), "send-keys": h.SendKeys(t.Context(), "gc-a", "C-c"), "interrupt": h.Interrupt(t.Context(), "gc-a"),
		} {
			var lack *session.LackError
			if !errors.As(err, &lack) || !strings.HasSuffix(err.Error(), "the script does not support "+op) {
				t.Errorf("%s: %v", op, err)
			}
		}
	}
	if err := h.SetMeta(t.Context(), "gc-a", "K", ""); err != nil {
		t.Error(err)
	}
	if err := h.Stop(t.Context(), "gc-a", time.Millisecond); err != nil {
		t.Error(err)
	}
}
