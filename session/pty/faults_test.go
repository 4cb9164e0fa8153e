package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
	"gcity/session/sessiontest"
)

func marked(t testing.TB, id string) []int {
	t.Helper()
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, pid := range pids {
		if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' && proc.HasEnv(proc.Environ(pid), "GC_SESSION_ID="+id, false) {
			found = append(found, pid)
		}
	}
	return found
}

func holderOf(t testing.TB, p *Provider, name string) int {
	t.Helper()
	e := p.reg.Find(name)
	if e == nil {
		t.Fatalf("%s has no session", name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.Holder
}

// Each exit is recorded once, with its code or signal and the last output.
func TestExits(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	for _, c := range []struct {
		command string
		code    int
		signal  string
	}{
		{"echo last words", 0, ""},
		{"echo last words; exit 7", 7, ""},
		{"echo last words; kill -SEGV $$", -1, "SIGSEGV"},
		{"echo last words; kill -KILL $$", -1, "SIGKILL"},
		{"echo last words; no-such-command-anywhere", 127, ""},
	} {
		s := spec(city, "a", c.command)
		start(t, p, s)
		x := nextExit(t, p)
		if x.ID != s.ID || x.Code != c.code || x.Signal != c.signal || x.Lost || x.Asked || x.Uptime <= 0 {
			t.Errorf("%s: %+v", c.command, x)
		}
		list, err := p.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Alive || list[0].Exit == nil || list[0].Exit.ID != s.ID {
			t.Errorf("%s: %+v, %v", c.command, list, err)
		}
		out, err := p.Capture(t.Context(), "a", s.ID)
		if err != nil || !bytes.HasPrefix(out, []byte("last words\r\n")) {
			t.Errorf("%s: Capture: got %q, %v", c.command, out, err)
		}
		for range 2 {
			if err := p.Acknowledge(t.Context(), "a", s.ID); err != nil {
				t.Error(err)
			}
		}
		if list, _ := p.List(t.Context()); len(list) != 0 {
			t.Errorf("after the acknowledgement: got %+v", list)
		}
	}
	select {
	case x := <-p.Exits():
		t.Errorf("reported twice: %+v", x)
	default:
	}
}

func savedExit(t testing.TB, p *Provider, s session.Spec) *session.Exit {
	t.Helper()
	x, err := p.files.exitRecord(wire.Record{Name: s.Name, ID: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestExitWithoutController(t *testing.T) {
	city := t.TempDir()
	first := newProvider(t, city)
	s := spec(city, "a", "read x; echo bye; exit 9")
	start(t, first, s)
	pid := holderOf(t, first, "a")
	conn, err := dial(first.files.dir+"/a", wire.SocketFile)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	first.Close()
	if err := wire.WriteJSON(conn, wire.Ask, wire.Request{Op: wire.OpKeys, Keys: []string{"Enter"}, Wait: time.Second}); err != nil {
		t.Fatal(err)
	}
	until(t, "an exit record", func() bool { return savedExit(t, first, s) != nil })
	second := newProvider(t, city)
	list, err := second.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Exit == nil || list[0].Exit.Code != 9 {
		t.Fatalf("%+v, %v", list, err)
	}
	if out, err := second.Capture(t.Context(), "a", s.ID); err != nil || !strings.Contains(string(out), "bye") {
		t.Errorf("captured %q, %v", out, err)
	}
	if err := second.Acknowledge(t.Context(), "a", s.ID); err != nil {
		t.Error(err)
	}
	second.Close()
	until(t, "the exit of the idle holder", func() bool { _, err := proc.ReadStat(pid); return err != nil || !alive(pid) })
	until(t, "the removal of the session's folder", func() bool { _, err := os.Stat(first.files.dir + "/a"); return err != nil })
}

// An exit that no controller has recorded outlives its holder, even if a controller was connected when the agent exited.
func TestUnrecordedExitIsSaved(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	first := newProvider(t, city)
	s := spec(city, "a", "exit 9")
	start(t, first, s)
	if x := nextExit(t, first); x.Code != 9 {
		t.Fatalf("got %+v", x)
	}
	pid := holderOf(t, first, "a")
	first.Close()
	until(t, "an exit record", func() bool { return savedExit(t, first, s) != nil })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the holder's end", func() bool { return !alive(pid) })
	list, err := newProvider(t, city).List(t.Context())
	if err != nil || len(list) != 1 || list[0].Exit == nil || list[0].Exit.Code != 9 || list[0].Exit.Lost {
		t.Fatalf("%+v, %v", list, err)
	}
}

// A controller saves an exit if the holder is killed before one of them has recorded it.
func TestExitOfAKilledHolderIsSaved(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "exit 9")
	start(t, p, s)
	nextExit(t, p)
	if err := syscall.Kill(holderOf(t, p, "a"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "an exit record", func() bool {
		x := savedExit(t, p, s)
		return x != nil && x.Code == 9 && !x.Lost
	})
}

// If the exit record can never be read, the session of a killed holder still counts as lost.
func TestUnsafeExitRecord(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	if err := os.Mkdir(p.files.path("a", wire.ExitFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(holderOf(t, p, "a"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); !x.Lost {
		t.Errorf("got %+v", x)
	}
}

func alive(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z'
}

// When Stop returns, no process of the session is left (L10). After the acknowledgement, the holder and its folder are
// gone too.
func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	commands := map[string]string{
		"ignores":    `trap "" INT TERM HUP; echo up; while :; do sleep 1000; done`,
		"setsid":     `trap "" INT TERM; setsid sleep 999 & echo up; sleep 1000`,
		"background": `sleep 999 & sleep 998 & echo up; wait`,
		"nohup":      `nohup sh -c 'while :; do sleep 0.01 & wait; done' >/dev/null 2>&1 & echo up; cat`,
		"double":     `(setsid sh -c '(trap "" HUP INT TERM; sleep 999) & exit') ; echo up; cat`,
		"respawner":  `trap "" INT TERM HUP; r() { while :; do setsid sh -c 'trap "" INT TERM HUP; sleep 0.05'; done; }; r & r & r & echo up; wait`,
		"frozen":     `echo up; kill -STOP $$`,
		"deaf":       `exec </dev/null >/dev/null 2>&1; trap "" INT TERM HUP; while :; do sleep 1; done`,
	}
	ids := map[string]string{}
	for name, command := range commands {
		s := spec(city, name, command)
		ids[name] = s.ID
		start(t, p, s)
		if name != "deaf" {
			shows(t, p, name, "up")
		}
	}
	done := make(chan error)
	began := time.Now()
	for name := range commands {
		go func() { done <- p.Stop(context.Background(), name, 200*time.Millisecond) }()
	}
	for range commands {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Logf("stopped after %v", time.Since(began))
	for name, id := range ids {
		if left := marked(t, id); len(left) > 0 {
			t.Errorf("%s: remaining processes: got %v", name, left)
		}
		if err := p.Acknowledge(t.Context(), name, id); err != nil {
			t.Error(err)
		}
		if err := p.Stop(t.Context(), name, 0); err != nil {
			t.Errorf("Stop of a missing session: got %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(p.files.dir, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files left behind: got %v, %v", left, err)
	}
}

// A program that exits on SIGINT gets no stronger signal. A second stop joins the first and shortens its grace period.
func TestStopInterruptsFirst(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `trap "echo bye; exit 3" INT; echo up; `+sessiontest.Idle))
	shows(t, p, "a", "up")
	if err := p.Stop(t.Context(), "a", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); x.Code != 3 || !x.Asked {
		t.Errorf("%+v", x)
	}
	s := spec(city, "a", `trap "echo no" INT; echo up; `+sessiontest.Idle)
	start(t, p, s)
	shows(t, p, "a", "up")
	slow := make(chan error)
	go func() { slow <- p.Stop(context.Background(), "a", time.Hour) }()
	shows(t, p, "a", "no")
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := <-slow; err != nil {
		t.Error(err)
	}
	if x := nextExit(t, p); x.Signal == "" || !x.Asked {
		t.Errorf("%+v", x)
	}
}

// If a holder is killed, its agent ends too, even if it ignores signals (L11). The session's other processes are killed
// before the loss is reported.
func TestHolderKilled(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	other := start(t, p, spec(city, "other", "exec cat"))
	for round := range 3 {
		s := spec(city, "a", `trap "" HUP INT TERM; setsid sleep 999 & setsid bash -c 'exec 200>&-; trap "" HUP; sleep 998; sleep 999' & echo up; while :; do sleep 1000; done`)
		start(t, p, s)
		shows(t, p, "a", "up")
		until(t, "the whole process tree", func() bool { return len(marked(t, s.ID)) >= 4 })
		if err := syscall.Kill(holderOf(t, p, "a"), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x := nextExit(t, p)
		if !x.Lost || x.ID != s.ID || x.Name != "a" || x.Asked {
			t.Fatalf("round %d: %+v", round, x)
		}
		if left := marked(t, s.ID); len(left) > 0 {
			t.Fatalf("round %d: remaining processes: got %v", round, left)
		}
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 2 || list[1].PID != other.PID || !list[1].Alive {
		t.Errorf("%+v, %v", list, err)
	}
}

// If the holder is killed while no controller is running, the next controller kills the remaining processes.
func TestHolderKilledWithoutController(t *testing.T) {
	city := t.TempDir()
	first := newProvider(t, city)
	s := spec(city, "a", `trap "" HUP; setsid sleep 999 & echo up; cat`)
	start(t, first, s)
	shows(t, first, "a", "up")
	pid := holderOf(t, first, "a")
	first.Close()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := proc.Reap(pid); err != nil {
		t.Fatal(err)
	}
	second := newProvider(t, city)
	list, err := second.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Alive || list[0].Exit == nil || !list[0].Exit.Lost {
		t.Fatalf("%+v, %v", list, err)
	}
	if left := marked(t, s.ID); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if st := start(t, second, spec(city, "a", "exec cat")); !st.Alive {
		t.Errorf("%+v", st)
	}
}

// While an unknown process holds the lock, a start fails (L11).
func TestLockHeldByOther(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	if err := os.MkdirAll(p.files.dir+"/a", 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := proc.Lock(p.files.dir+"/a/"+wire.LockFile, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close(fd)
	if _, err := p.Start(t.Context(), spec(city, "a", "true")); err == nil {
		t.Fatal("Start succeeded although another process holds the lock")
	} else {
		t.Log(err)
	}
}

// No process is signaled because of an earlier boot's record, or because it reuses a PID.
func TestOtherProcessesAreLeftAlone(t *testing.T) {
	city := t.TempDir()
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	st, err := proc.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, rec := range map[string]wire.Record{
		"rebooted": {Version: 1, Name: "rebooted", City: city, ID: "x", Boot: "another", Holder: os.Getpid(), HolderStart: st.Start},
		"reused":   {Version: 1, Name: "reused", City: city, ID: "y", Boot: boot, Holder: os.Getpid(), HolderStart: st.Start - 1},
		"foreign":  {Version: 1, Name: "foreign", City: city + "-web", ID: "z", Boot: boot, Holder: 1},
	} {
		dir := filepath.Join(city, ".gc/sessions", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		data := fmt.Sprintf(`{"version":1,"name":%q,"city":%q,"id":%q,"boot":%q,"holder":%d,"holder_start":%d}`,
			name, rec.City, rec.ID, rec.Boot, rec.Holder, rec.HolderStart)
		if err := os.WriteFile(filepath.Join(dir, wire.OldRecordFile), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newProvider(t, city)
	list, err := p.List(t.Context())
	if err != nil || len(list) != 2 { // the session of another city is not listed (L3)
		t.Fatalf("%+v, %v", list, err)
	}
	for _, st := range list {
		if st.Alive || st.Exit == nil || !st.Exit.Lost {
			t.Errorf("%+v", st)
		}
	}
}

func TestFrozen(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	st := start(t, p, spec(city, "a", "exec cat"))
	frozen := func() bool {
		list, err := p.List(t.Context())
		return err == nil && len(list) == 1 && list[0].Frozen
	}
	syscall.Kill(st.PID, syscall.SIGSTOP)
	until(t, "frozen", frozen)
	syscall.Kill(st.PID, syscall.SIGCONT)
	until(t, "thawed", func() bool { return !frozen() })
	syscall.Kill(st.PID, syscall.SIGSTOP)
	if err := p.Stop(t.Context(), "a", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); x.Signal != "SIGINT" {
		t.Errorf("%+v", x)
	}
}

// Attaching to a holder that does not respond fails when the caller's context ends.
func TestAttachToStoppedHolder(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	holder := holderOf(t, p, "a")
	syscall.Kill(holder, syscall.SIGSTOP)
	defer syscall.Kill(holder, syscall.SIGCONT)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		_, err := p.Attach(ctx, "a", 80, 24)
		answer <- err
	}()
	cancel()
	if eventually.Receive(t, "the end of Attach", answer) == nil {
		t.Error("Attach to a stopped holder succeeded")
	}
}

func TestOrphansAreReaped(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 200
	}
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `i=0; while [ $i -lt `+strconv.Itoa(count)+` ]; do (true &); i=$((i+1)); done; echo done; exec cat`))
	shows(t, p, "a", "done")
	holder := holderOf(t, p, "a")
	until(t, "all but one child to be reaped", func() bool {
		n := 0
		pids, _ := proc.All()
		for _, pid := range pids {
			if st, err := proc.ReadStat(pid); err == nil && st.PPID == holder {
				n++
			}
		}
		return n == 1
	})
}

// Each start that cannot succeed returns one clear error, and leaves the name free.
func TestStartFailures(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	file := filepath.Join(city, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*session.Spec){
		"does not exist":          func(s *session.Spec) { s.Dir = city + "/gone" },
		"is not a folder":         func(s *session.Spec) { s.Dir = file },
		"is too long":             func(s *session.Spec) { s.Command = "true " + strings.Repeat("x", 200<<10) },
		"X is too long":           func(s *session.Spec) { s.Env = append(s.Env, "X="+strings.Repeat("x", 3<<20)) },
		"is not an absolute path": func(s *session.Spec) { s.Dir = "here" },
		"it belongs to the city":  func(s *session.Spec) { s.City = city + "-web" },
		"name is invalid":         func(s *session.Spec) { s.Name = "../a" },
		"contains a NUL":          func(s *session.Spec) { s.Env = append(s.Env, "A=\x00") },
		"has no ID":               func(s *session.Spec) { s.ID = "" },
		"its name is invalid":     func(s *session.Spec) { s.Name = "" },
	} {
		s := spec(city, "a", "true")
		change(&s)
		_, err := p.Start(t.Context(), s)
		if !errors.Is(err, session.ErrCommand) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	// If a start fails, an existing holder keeps its last session.
	s := spec(city, "a", "exit 5")
	start(t, p, s)
	nextExit(t, p)
	bad := spec(city, "a", "true")
	bad.Dir = city + "/gone"
	if _, err := p.Start(t.Context(), bad); !errors.Is(err, session.ErrCommand) {
		t.Error(err)
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != s.ID {
		t.Errorf("%+v, %v", list, err)
	}
	start(t, p, spec(city, "a", "exec cat"))
	if _, err := p.Start(t.Context(), spec(city, "a", "true")); !errors.Is(err, session.ErrExists) {
		t.Error(err)
	}
	p.launcher.program.binary = city + "/no-gcity"
	if _, err := p.Start(t.Context(), spec(city, "b", "true")); err == nil || !strings.Contains(err.Error(), "no longer exists") {
		t.Error(err)
	}
}

// A start that fails for lack of a resource does not count against the agent.
func TestStartWithoutResources(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exit 5"))
	nextExit(t, p)
	holder := holderOf(t, p, "a")
	if err := unix.Prlimit(holder, unix.RLIMIT_NOFILE, &unix.Rlimit{Max: 1024}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start(t.Context(), spec(city, "a", "exec cat")); !errors.Is(err, session.ErrExhausted) ||
		!strings.Contains(err.Error(), "too many open files") {
		t.Errorf("without open files: got %v", err)
	}
	if err := unix.Prlimit(holder, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1024, Max: 1024}, nil); err != nil {
		t.Fatal(err)
	}
	start(t, p, spec(city, "a", "exec cat"))
	if now := holderOf(t, p, "a"); now != holder {
		t.Errorf("holder: got %d, want %d", now, holder)
	}
}

// If the sessions' folder is deleted while holders run, the sessions stay reachable.
func TestFolderDeleted(t *testing.T) {
	city := t.TempDir()
	first := newProvider(t, city)
	first.launcher.errlog = os.Stderr
	a, b := start(t, first, spec(city, "a", "exec cat")), start(t, first, spec(city, "b", "exec cat"))
	if err := os.RemoveAll(first.files.dir); err != nil {
		t.Fatal(err)
	}
	if err := first.Send(t.Context(), "a", "still here"); err != nil {
		t.Error(err)
	}
	shows(t, first, "a", "still here")
	until(t, "the current state of b, too", func() bool {
		if err := first.SetMeta(t.Context(), "b", session.DrainMark, "1"); err != nil {
			t.Fatal(err)
		}
		if err := first.Send(t.Context(), "b", "me too"); err != nil {
			t.Fatal(err)
		}
		list, err := first.List(t.Context())
		return err == nil && len(list) == 2 && list[1].Drain.On() && list[1].Output > b.Output
	})
	if err := os.RemoveAll(first.files.dir); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second := newProvider(t, city)
	list, err := second.List(t.Context())
	if err != nil || len(list) != 2 || list[0].PID != a.PID || list[1].PID != b.PID || !list[0].Alive || !list[1].Alive {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := second.Start(t.Context(), spec(city, "a", "true")); !errors.Is(err, session.ErrExists) {
		t.Error(err)
	}
}

// If a holder's folder is deleted between two sessions, the holder creates it again at the next start.
func TestFolderDeletedBetweenLives(t *testing.T) {
	city := t.TempDir()
	first := newProvider(t, city)
	start(t, first, spec(city, "a", "exit 5"))
	nextExit(t, first)
	holder := holderOf(t, first, "a")
	if err := os.RemoveAll(first.files.dir); err != nil {
		t.Fatal(err)
	}
	a := start(t, first, spec(city, "a", "exec cat"))
	if now := holderOf(t, first, "a"); now != holder {
		t.Errorf("holder: got %d, want %d", now, holder)
	}
	first.Close()
	list, err := newProvider(t, city).List(t.Context())
	if err != nil || len(list) != 1 || list[0].PID != a.PID || !list[0].Alive {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestLongPath(t *testing.T) {
	city := filepath.Join(t.TempDir(), strings.Repeat("long/", 40)+"city")
	if err := os.MkdirAll(city, 0o700); err != nil {
		t.Fatal(err)
	}
	first := newProvider(t, city)
	st := start(t, first, spec(city, "a", "echo up; exec cat"))
	shows(t, first, "a", "up")
	first.Close()
	second := newProvider(t, city)
	list, err := second.List(t.Context())
	if err != nil || len(list) != 1 || list[0].PID != st.PID {
		t.Fatalf("%+v, %v", list, err)
	}
	shows(t, second, "a", "up")
}

// The sweep finds this city's runs by their marker, and no other runs.
func TestSweepRuns(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "GC_RUN="+city+":1 setsid sleep 999 & GC_RUN="+city+"-web:1 setsid sleep 998 & "+
		"GC_RUN="+city+":web:1 setsid sleep 997 & echo up; cat")
	start(t, p, s)
	shows(t, p, "a", "up")
	until(t, "all runs", func() bool { // a process has the marker in its environment only after its exec
		runs := 0
		for _, pid := range marked(t, s.ID) {
			if proc.HasEnv(proc.Environ(pid), "GC_RUN=", true) {
				runs++
			}
		}
		return runs == 3 && len(marked(t, s.ID)) == 5
	})
	if found, err := FindRuns(city); len(found) != 1 || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	killed, err := SweepRuns(city)
	if killed != 1 || err != nil {
		t.Errorf("killed %d, %v", killed, err)
	}
	if left := marked(t, s.ID); len(left) != 4 {
		t.Errorf("processes left: %v", left)
	}
}

// If a holder does not respond to an acknowledgement, the exit is listed again and can be acknowledged later.
func TestLateAcknowledgement(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	startAll(t, p, []session.Spec{spec(city, "a", "exec sleep 1000")})
	holder := holderOf(t, p, "a")
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Alive {
		t.Fatalf("%+v, %v", list, err)
	}
	id := list[0].ID
	if err := syscall.Kill(holder, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the holder to stop", func() bool { return p.files.stopped(p.reg.Find("a").record) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Acknowledge(ctx, "a", id); err == nil {
		t.Error("a stopped holder responded")
	}
	if err := syscall.Kill(holder, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if list, err = p.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != id || list[0].Exit == nil {
		t.Errorf("List after SIGCONT: got %+v, %v", list, err)
	}
	if err := p.Acknowledge(t.Context(), "a", id); err != nil {
		t.Error(err)
	}
	until(t, "the exit of the holder", func() bool { return syscall.Kill(holder, 0) != nil })
	endAll(t, p)
}

// waitingHolder returns the holder of session "a", which has ended and has been acknowledged.
func waitingHolder(t *testing.T, p *Provider) (pid int) {
	t.Helper()
	start(t, p, spec(p.files.city, "a", "true"))
	if err := p.Acknowledge(t.Context(), "a", nextExit(t, p).ID); err != nil {
		t.Fatal(err)
	}
	return holderOf(t, p, "a")
}

// stopHolder sends SIGSTOP to the holder of session "a".
func stopHolder(t *testing.T, p *Provider) {
	t.Helper()
	if err := syscall.Kill(holderOf(t, p, "a"), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the holder to stop", func() bool { return p.files.stopped(p.reg.Find("a").record) })
}

// An acknowledged exit is not reported again, even if the waiting holder and the controller are killed.
func TestWaitingHolderKilled(t *testing.T) {
	for _, connected := range []bool{true, false} {
		city := t.TempDir()
		p := newProvider(t, city)
		holder := waitingHolder(t, p)
		if !connected {
			p.Close()
		}
		err := syscall.Kill(holder, syscall.SIGKILL)
		if !connected && err == syscall.ESRCH {
			err = nil // Close has already made it exit
		}
		if err != nil || !proc.WaitPid(holder, eventually.Timeout) {
			t.Fatalf("killing %d: %v", holder, err)
		}
		if connected {
			until(t, "the holder's files are removed", func() bool {
				_, err := os.Stat(p.files.path("a", ""))
				return errors.Is(err, os.ErrNotExist)
			})
		}
		if list, err := newProvider(t, city).List(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("connected %v: got %+v, %v, want no sessions", connected, list, err)
		}
		if _, err := os.Stat(p.files.dir + "/a"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("connected %v: the session's folder remains: %v", connected, err)
		}
	}
}

// A waiting holder that is stopped does not block its name for the next controller.
func TestWaitingHolderStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time limit")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	waitingHolder(t, p)
	stopHolder(t, p)
	p.Close()
	p = newProvider(t, city)
	if list, err := p.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("got %+v, %v, want no sessions", list, err)
	}
	start(t, p, spec(city, "a", "exec cat"))
}

// A controller that found a holder stopped can restart its agent.
func TestRestartWithStoppedHolder(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time limit")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	observer(t, city) // the holder remains until the exit is acknowledged
	stopHolder(t, p)
	p.Close()
	p = newProvider(t, city)
	st, err := p.Look(t.Context(), "a")
	if err != nil || !st.Alive {
		t.Fatalf("got %+v, %v, want a live session", st, err)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	start(t, p, spec(city, "a", "exec cat"))
	if x := nextExit(t, p); x.ID != st.ID || !x.Asked {
		t.Errorf("got %+v", x)
	}
}

// If the folder of a waiting holder is deleted, its holder recreates it without the record of the last session.
func TestFolderOfWaitingHolderDeleted(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	waitingHolder(t, p)
	if err := os.RemoveAll(p.files.path("a", "")); err != nil {
		t.Fatal(err)
	}
	if err := p.files.restoreSockets(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.files.path("a", wire.SocketFile)); err != nil {
		t.Error(err)
	}
	if rec, err := p.files.record("a"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got the record of %q, %v, want none", rec.ID, err)
	}
	start(t, p, spec(city, "a", "exec cat"))
}

// The record is removed before the other files, because a record without an exit would count as a lost session.
func TestRecordIsRemovedFromTheLockFile(t *testing.T) {
	for _, killed := range []bool{false, true} {
		city := t.TempDir()
		p := newProvider(t, city)
		start(t, p, spec(city, "a", "exec cat"))
		lock, err := os.Open(p.files.path("a", wire.LockFile))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if killed {
			syscall.Kill(holderOf(t, p, "a"), syscall.SIGKILL)
		} else if err := p.Stop(t.Context(), "a", 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Acknowledge(t.Context(), "a", nextExit(t, p).ID); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(p.files.path("a", "")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the session's folder remains: %v", err)
		}
		data, err := io.ReadAll(lock)
		if err != nil || len(data) < wire.LocationAt {
			t.Fatalf("the lock file contains %d bytes, %v", len(data), err)
		}
		if rec, ok, err := wire.DecodeRecord(data); ok || err != nil {
			t.Errorf("holder killed: %v; the lock file contains the record of %q, %v", killed, rec.Name, err)
		}
	}
}
