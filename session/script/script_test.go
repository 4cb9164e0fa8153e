package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/wallclock"
	"gcity/session"
	"gcity/session/sessiontest"
)

func (h *home) asked(t *testing.T) [][]string {
	t.Helper()
	path := filepath.Join(h.city, "records", "state", "log")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	os.Remove(path)
	var all [][]string
	for line := range strings.Lines(string(data)) {
		var words []string
		if err := json.Unmarshal([]byte(line), &words); err != nil {
			t.Fatal(err)
		}
		all = append(all, words)
	}
	return all
}

func ops(asked [][]string) string {
	var words []string
	for _, a := range asked {
		words = append(words, a[0])
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

const forever = "while :; do sleep 1; done"

// A patrol executes the script once, and once more for each session that is draining or has an idle timeout.
func TestPatrolCallsScriptOnce(t *testing.T) {
	h := open(t, muxScript(t))
	status(t, h, "none")
	if got := h.asked(t); len(got) != 0 {
		t.Fatalf("calls without sessions: got %q", got)
	}
	for _, name := range []string{"gc-a", "gc-b", "gc-c"} {
		start(t, h, name, forever)
	}
	h.asked(t)
	for range 3 {
		status(t, h, "none")
		if got := h.asked(t); len(got) != 1 || !slices.Equal(got[0], []string{"list-running", "gc-", ""}) {
			t.Errorf("calls %q", got)
		}
	}
	if err := session.SetDrain(t.Context(), h, "gc-a", session.Drain{Since: time.Unix(1_790_000_000, 0)}); err != nil {
		t.Fatal(err)
	}
	quiet := h.spec("gc-d", forever)
	quiet.Idle = true
	if _, err := h.Start(t.Context(), quiet); err != nil {
		t.Fatal(err)
	}
	h.asked(t)
	st, _ := status(t, h, "gc-d")
	if got := ops(h.asked(t)); got != "get-last-activity get-meta list-running" {
		t.Errorf("calls %s", got)
	}
	if !st.Activity.Equal(st.Started) {
		t.Errorf("last activity: got %v, want %v", st.Activity, st.Started)
	}
	// the clock was set back after the start
	h.sessions["gc-d"].rec.Started = wallclock.Shift(t, time.Now(), time.Hour)
	if st, _ := status(t, h, "gc-d"); !st.Activity.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("last activity: got %v, want the script's", st.Activity)
	}
	if st, _ := status(t, h, "gc-b"); !st.Activity.IsZero() {
		t.Errorf("last activity without a query: got %v", st.Activity)
	}
	// The agent writes the mark itself, without gcity.
	if err := os.WriteFile(filepath.Join(h.city, "records", "state", "gc-a.meta-"+session.DrainAckMark), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, _ := status(t, h, "gc-a"); !st.Drain.Acked {
		t.Errorf("%+v", st.Drain)
	}
}

// The script gets the words of the protocol unchanged, because no shell is involved.
func TestProtocol(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "/run/agent.sock")
	t.Setenv("GC_SESSION_ID", "of-an-agent-that-started-the-controller")
	t.Setenv("GC_EXEC_START", "of-that-agent")
	h := open(t, muxScript(t))
	s := h.spec("gc-a", `exec sh -c 'echo "$0"; `+forever+`' "it's $HOME"`)
	s.Env = append(s.Env, "A=$(touch x) 'y'", "SECRET_KEY=x", "GC_AGENT=a", "BEADS_DIR=/b")
	s.Fingerprint = session.NewFingerprint(map[string]string{"command": "x", "env A": "y"})
	if _, err := h.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got := h.asked(t)
	if ops(got) != "is-running start" {
		t.Fatalf("calls %q", got)
	}
	want := map[string]any{"work_dir": h.city, "command": s.Command, "env": map[string]any{
		"A": "$(touch x) 'y'", "GC_SESSION_ID": s.ID, "GC_AGENT": "a", "BEADS_DIR": "/b"}}
	var in map[string]any
	if err := json.Unmarshal([]byte(got[1][2]), &in); err != nil || fmt.Sprint(in) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", in, err, want)
	}
	data, err := os.ReadFile(filepath.Join(h.city, "records", "state", "environ"))
	environ := string(data)
	if err != nil || strings.Contains(environ, "of-an-agent") {
		t.Errorf("its environment is\n%s\n%v", environ, err)
	}
	for _, want := range []string{"GC_CITY_PATH=" + h.city, "PATH=", "SSH_AUTH_SOCK=/run/agent.sock"} {
		if !strings.Contains(environ, want) {
			t.Errorf("want %s in the environment\n%s", want, environ)
		}
	}
	const text = "$(no) `no` 'quoted\" *\nsecond ✓"
	if err := h.Send(t.Context(), "gc-a", text); err != nil {
		t.Fatal(err)
	}
	if err := h.SendKeys(t.Context(), "gc-a", "C-c", "-n"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Output(t.Context(), "gc-a", 7); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Output(t.Context(), "gc-a", 0); err != nil {
		t.Fatal(err)
	}
	if err := h.SetMeta(t.Context(), "gc-a", "K", "two\nlines"); err != nil {
		t.Fatal(err)
	}
	if v, err := h.Meta(t.Context(), "gc-a", "K"); v != "two\nlines" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if err := h.Interrupt(t.Context(), "gc-a"); err != nil {
		t.Fatal(err)
	}
	wantAsked := [][]string{
		{"nudge", "gc-a", text}, {"send-keys", "gc-a", "C-c", "-n", ""}, {"peek", "gc-a", "7", ""}, {"peek", "gc-a", "24", ""},
		{"set-meta", "gc-a", "K", "two\nlines"}, {"get-meta", "gc-a", "K", ""}, {"interrupt", "gc-a", ""},
	}
	if got := h.asked(t); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", wantAsked) {
		t.Errorf("calls %q\nwant  %q", got, wantAsked)
	}
	if err := h.Send(t.Context(), "gc-a", "a key \x03"); !errors.Is(err, session.ErrRejected) {
		t.Errorf("%v", err)
	}
	for range 2 {
		if err := h.Clear(t.Context(), "gc-a"); err != nil {
			t.Error(err)
		}
	}
	if got := ops(h.asked(t)); got != "clear-scrollback" {
		t.Errorf("calls %s", got)
	}
}

// The error from a failing script is a single line that a terminal can show. A script that hangs is killed with its
// children.
func TestBadScripts(t *testing.T) {
	h := open(t, muxScript(t))
	for _, name := range []string{"wrong", "flood", "hang"} {
		start(t, h, name, forever)
	}
	if _, err := h.Output(t.Context(), "wrong", 5); err == nil || !strings.HasSuffix(err.Error(), "exit code 1: there is no such␇ screen") {
		t.Errorf("%q", err)
	}
	out, err := h.Output(t.Context(), "flood", 1_000_000)
	if err != nil || len(out) > maxOutput || !strings.HasSuffix(out, "line 19999 of a flood of output") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	hangs := filepath.Join(h.city, "records", "state", "hang.hangs")
	done := make(chan error, 1)
	go func() {
		_, err := h.Output(ctx, "hang", 5)
		done <- err
	}()
	var pid int
	until(t, "the script's child", func() bool { pid = muxPID(hangs); return pid > 0 })
	cancel(errors.New("enough"))
	if err := eventually.Receive(t, "the end of the call", done); err == nil || !strings.Contains(err.Error(), "peek was killed: enough") {
		t.Errorf("%v", err)
	}
	until(t, "the end of the script's child", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) })
}

func TestLateOutput(t *testing.T) {
	script := filepath.Join(t.TempDir(), "late")
	text := "#!/bin/sh\n[ $1 != is-running ] || (sleep 0.5; echo true) &\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if runs, err := open(t, script).runs(t.Context(), "a"); !runs || err != nil {
		t.Errorf("%v, %v", runs, err)
	}
}

func isZombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

// A session without processes has ended, even if the script still lists it.
func TestProcessesDecide(t *testing.T) {
	h := open(t, muxScript(t))
	st := start(t, h, "gc-a", forever)
	if err := syscall.Kill(-st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of a session that the script still lists", func() bool {
		st, _ := status(t, h, "gc-a")
		return !st.Alive && st.Exit.Code == -1 && !st.Exit.Asked
	})
	if runs, err := h.runs(t.Context(), "gc-a"); !runs || err != nil {
		t.Fatalf("%v, %v", runs, err)
	}
	next := start(t, h, "gc-a", `setsid sh -c 'trap "" INT TERM HUP; echo $$ >left; `+forever+`' & wait`)
	left := filepath.Join(h.city, "left")
	until(t, "the process outside the group", func() bool { return muxPID(left) > 0 || len(read(left)) > 1 })
	var pid int
	if _, err := fmt.Sscan(read(left), &pid); err != nil || next.PID == 0 {
		t.Fatalf("%+v, %v", next, err)
	}
	if err := h.Stop(t.Context(), "gc-a", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !isZombie(pid) {
		t.Errorf("process %d is still running: %v", pid, err)
	}
	if st, _ := status(t, h, "gc-a"); st.Alive || !st.Exit.Asked {
		t.Errorf("%+v", st)
	}
}

func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// Sessions outlive their provider. The next provider lists them, with the data from their start (L11).
func TestAdoption(t *testing.T) {
	h := open(t, muxScript(t))
	s := h.spec("gc-a", forever)
	s.Fingerprint = session.NewFingerprint(map[string]string{"command": "x"})
	first, err := h.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	gone := start(t, h, "gc-b", forever)
	h.reopen(t)
	if st, ok := status(t, h, "gc-a"); !ok || !st.Alive || st.PID != first.PID || st.ID != s.ID || !st.Ready || len(st.Fingerprint.Drift(s.Fingerprint)) > 0 {
		t.Errorf("%+v", st)
	}
	if _, err := h.Start(t.Context(), h.spec("gc-a", forever)); !errors.Is(err, session.ErrExists) {
		t.Errorf("%v", err)
	}
	syscall.Kill(-gone.PID, syscall.SIGKILL)
	until(t, "the end of the process", func() bool { return isZombie(gone.PID) || errors.Is(syscall.Kill(gone.PID, 0), syscall.ESRCH) })
	looks, err := New(Options{City: h.city, Script: h.script, Dir: filepath.Join(h.city, "records"), Environ: h.environ, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := looks.List(t.Context()); err != nil || len(all) != 2 || all[1].Exit != nil {
		t.Errorf("%+v, %v", all, err)
	}
	h.reopen(t)
	if st, _ := status(t, h, "gc-b"); st.Alive || st.Exit == nil || st.Exit.ID != gone.ID {
		t.Errorf("%+v", st)
	}
	h.reopen(t)
	if st, _ := status(t, h, "gc-b"); st.Exit == nil {
		t.Errorf("want an exit, got %+v", st)
	}
	if err := h.Acknowledge(t.Context(), "gc-b", gone.ID); err != nil {
		t.Fatal(err)
	}
	h.reopen(t)
	if _, ok := status(t, h, "gc-b"); ok {
		t.Error("an acknowledged exit is still listed")
	}
}

// A session of another city is left alone, and prevents a start under its name (L3). A failed start leaves nothing
// behind.
func TestOthersAndFailures(t *testing.T) {
	script := muxScript(t)
	h := open(t, script)
	start(t, h, "gc-a", forever)
	other := &home{city: t.TempDir(), script: script, environ: h.environ}
	other.reopen(t)
	if err := os.Symlink(filepath.Join(h.city, "records", "state", "gc-a.pid"), filepath.Join(other.city, "records", "state", "gc-a.pid")); err != nil {
		t.Fatal(err) // simulates a script that uses one folder for all cities
	}
	if all, err := other.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := other.Stop(t.Context(), "gc-a", 0); err != nil {
		t.Error(err)
	}
	if _, err := other.Start(t.Context(), other.spec("gc-a", forever)); !errors.Is(err, session.ErrExists) || !strings.Contains(err.Error(), "belongs to another city") {
		t.Errorf("%v", err)
	}
	if st, _ := status(t, h, "gc-a"); !st.Alive {
		t.Errorf("%+v", st)
	}
	if _, err := h.Start(t.Context(), h.spec("gc-b", "none")); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	h.reopen(t)
	if _, ok := status(t, h, "gc-b"); ok {
		t.Error("a failed start is listed")
	}
	if _, err := New(Options{City: h.city, Script: filepath.Join(h.city, "none"), Dir: t.TempDir()}); err == nil {
		t.Error("New accepted a missing script")
	}
	if err := os.WriteFile(filepath.Join(h.city, "records", "x.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{City: h.city, Script: script, Dir: filepath.Join(h.city, "records")}); err == nil || !strings.Contains(err.Error(), "x.json") {
		t.Errorf("an invalid record: got %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	h := open(t, muxScript(t))
	fill, _ := sessiontest.FillableDisk(t, filepath.Join(h.city, "records"))
	h.reopen(t)
	start(t, h, "gc-a", forever)
	fill()
	if _, err := h.Start(t.Context(), h.spec("gc-b", forever)); !errors.Is(err, session.ErrExhausted) {
		t.Errorf("start: got %v, want an ErrExhausted", err)
	}
	if err := h.Stop(t.Context(), "gc-a", 0); err != nil {
		t.Error(err)
	}
	if st, _ := status(t, h, "gc-a"); st.Exit == nil || !st.Exit.Asked {
		t.Errorf("stop: got %+v, want a requested exit", st)
	}
}

// An uptime is never negative, and never includes the time when this machine was off.
func TestUptime(t *testing.T) {
	for what, change := range map[string]func(*record){
		"the clock was set back": func(r *record) { r.Started = time.Now().Add(time.Hour) },
		"the machine was off":    func(r *record) { r.Started, r.Boot = time.Now().Add(-time.Hour), "earlier" },
	} {
		h := open(t, muxScript(t))
		start(t, h, "gc-a", forever)
		change(&h.sessions["gc-a"].rec)
		if err := h.Stop(t.Context(), "gc-a", 0); err != nil {
			t.Fatal(err)
		}
		if st, _ := status(t, h, "gc-a"); st.Exit == nil || st.Exit.Uptime != 0 {
			t.Errorf("%s: got %+v, want an exit after 0s", what, st.Exit)
		}
	}
}
