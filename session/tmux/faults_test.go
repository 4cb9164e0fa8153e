package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/sessiontest"
)

// lives reports whether a process can still run. A killed process has lost its arguments before it is a zombie.
func lives(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z' && st.State != 'X' && len(proc.Args(pid)) > 0
}

func ack(t testing.TB, p *Provider, x session.Exit) {
	t.Helper()
	if err := p.Acknowledge(t.Context(), x.Name, x.ID); err != nil {
		t.Error(err)
	}
}

// All processes that an agent has started are dead after Stop, and after the agent's own exit (L10).
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	for name, line := range map[string]string{
		"setsid":    `trap "" INT TERM; setsid sleep 999 & echo begun; while :; do sleep 1; done`,
		"fork":      `(trap "" HUP INT TERM; (sleep 999 & sleep 999 &) & ); echo begun; exec sleep 999`,
		"nohup":     `nohup sh -c 'trap "" INT TERM HUP; while :; do sleep 0.1; done' >/dev/null 2>&1 & echo begun; exec sleep 999`,
		"respawner": `trap "" INT TERM HUP; (while :; do setsid sh -c 'sleep 0.05'; done) & echo begun; wait`,
		"stopped":   `(sleep 0.1; kill -STOP $$) & echo begun; sleep 999`,
		"noenv":     `env -i PATH="$PATH" setsid sh -c 'trap "" HUP INT TERM; sleep 999 & wait' & echo begun; exec sleep 999`,
		"crash":     `nohup setsid sleep 999 >/dev/null 2>&1 & echo begun; read x; exit 3`,
	} {
		s := spec(city, name, line)
		st := start(t, p, s)
		shows(t, p, name, "begun")
		family := tree(&record{PID: st.PID})
		marked := proc.Marked("GC_SESSION_ID="+s.ID, p.files.path(name, lockFile))
		if name == "crash" {
			if err := p.Send(t.Context(), name, "now"); err != nil {
				t.Fatal(err)
			}
		} else if err := p.Stop(t.Context(), name, 50*time.Millisecond); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		x := nextExit(t, p)
		if x.Asked == (name == "crash") || x.Lost || name == "crash" && x.Code != 3 {
			t.Errorf("%s: %+v", name, x)
		}
		pids, err := proc.All()
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if _, mine := family[pid]; (mine || marked(pid)) && lives(pid) {
				t.Errorf("%s: process %d is still running: %q", name, pid, proc.Args(pid))
			}
		}
		ack(t, p, x)
	}
}

// If the server dies, its sessions are lost, even if their agents ignore hangups. These exits do not count as failures.
func TestServerDies(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	deaf := start(t, p, spec(city, "deaf", `trap "" HUP INT TERM; echo begun; while :; do sleep 0.1; done`))
	plain := start(t, p, spec(city, "plain", "exec sleep 1000"))
	shows(t, p, "deaf", "begun")
	if err := syscall.Kill(p.tmux.server.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if x := nextExit(t, p); !x.Lost || x.Asked || x.Code != -1 {
			t.Errorf("%+v", x)
		}
	}
	if lives(deaf.PID) || lives(plain.PID) {
		t.Error("a lost session is still alive")
	}
	start(t, p, spec(city, "deaf", "exec cat"))
	if err := p.Send(t.Context(), "deaf", "again"); err != nil {
		t.Error(err)
	}
	shows(t, p, "deaf", "again")
	list, err := p.List(t.Context())
	if err != nil || len(list) != 2 || !list[0].Alive || list[1].Alive {
		t.Errorf("%+v, %v", list, err)
	}
}

// The uptime of a session from before a reboot is unknown, because it would include the time when the machine was off.
func TestUptimeAfterReboot(t *testing.T) {
	t.Parallel()
	born := time.Now().Add(-time.Hour).UnixNano()
	f := folders{boot: "now"}
	if x := f.lost(&record{Boot: "earlier", Born: born}); x.Uptime != 0 {
		t.Errorf("earlier boot: got %s, want 0", x.Uptime)
	}
	if x := f.lost(&record{Boot: "now", Born: born}); x.Uptime < time.Hour {
		t.Errorf("this boot: got %s, want at least 1h", x.Uptime)
	}
}

// An empty file, which a power failure can leave, counts as missing.
func TestEmptyServerFile(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	first := newProvider(t, city)
	path := filepath.Join(first.files.dir, serverFile)
	first.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	start(t, newProvider(t, city), spec(city, "a", "exec cat"))
	if data, err := os.ReadFile(path); err != nil || len(data) == 0 {
		t.Errorf("the file was not written again: got %q, %v", data, err)
	}
}

// A copy of a city's folder is a separate city (L3). A moved city does not start a second copy of an agent that still
// runs at the old path (L11).
func TestCopiedAndMoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	city, other := filepath.Join(root, "city"), filepath.Join(root, "copy")
	if err := os.Mkdir(city, 0o700); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, city)
	// some programs close the files that they inherit
	first := start(t, p, spec(city, "a", "exec bash -c 'for i in {3..250}; do eval \"exec $i>&-\"; done; echo closed; exec sleep 999'"))
	shows(t, p, "a", "closed")
	if out, err := exec.Command("cp", "-a", city, other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	q := newProvider(t, other)
	if list, err := q.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("sessions of the copy: got %+v, %v", list, err)
	}
	if second := start(t, q, spec(other, "a", "exec sleep 999")); second.PID == first.PID {
		t.Error("the copy took over the session")
	}
	if !lives(first.PID) {
		t.Error("the copy killed the session of the original")
	}
	moved := filepath.Join(root, "moved")
	if err := os.Rename(city, moved); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{City: moved, Binary: os.Args[0]})
	if err == nil || !strings.Contains(err.Error(), "tmux -L "+Label(city)+" kill-server") {
		t.Errorf("after the city was moved: got %v", err)
	}
	// neither a later copy nor a new city at the old path touches the agents of the moved city
	later := filepath.Join(root, "later")
	if out, err := exec.Command("cp", "-a", moved, later).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	third := newProvider(t, later)
	if list, err := third.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("sessions of a copy of the moved city: got %+v, %v", list, err)
	}
	start(t, third, spec(later, "a", "exec sleep 999"))
	if err := os.Mkdir(city, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = New(Options{City: city, Binary: os.Args[0]})
	if err == nil || !strings.Contains(err.Error(), "tmux -L "+Label(city)+" kill-server") {
		t.Errorf("new city at the old path: got %v", err)
	}
	if !lives(first.PID) {
		t.Error("the session of the moved city was killed")
	}
	if err := os.RemoveAll(city); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(moved, city); err != nil {
		t.Fatal(err)
	}
}

// The server of a moved city does not block a new city at the old path if all agents in it have exited.
func TestIdleServerOfMovedCity(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	city := filepath.Join(root, "city")
	if err := os.Mkdir(city, 0o700); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, city)
	exits := start(t, p, spec(city, "a", "exec sleep 999"))
	start(t, p, spec(city, "gone", "exec sleep 999"))
	p.Close()
	if _, err := p.tmux.once(t.Context(), nil, "kill-session", "-t", "=gone"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(exits.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the dead pane", func() bool {
		out, err := p.tmux.once(t.Context(), nil, "list-panes", "-a", "-F", "#{pane_dead}")
		return err == nil && out == "1\n"
	})
	if err := errors.Join(os.Rename(city, filepath.Join(root, "moved")), os.Mkdir(city, 0o700)); err != nil {
		t.Fatal(err)
	}
	q := newProvider(t, city)
	st := start(t, q, spec(city, "b", "exec sleep 999"))
	q.Close()
	list, err := newProvider(t, city).List(t.Context())
	if err != nil || len(list) != 1 || list[0].PID != st.PID {
		t.Errorf("sessions of the new city: got %+v, %v; want only pid %d", list, err, st.PID)
	}
}

// A missing .gc/tmux does not look like a missing tmux.
func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	if err := os.RemoveAll(p.files.dir); err != nil {
		t.Fatal(err)
	}
	_, err := p.tmux.once(t.Context(), nil, "new-session", "-d")
	if err == nil || errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), p.files.dir) {
		t.Errorf("got %v", err)
	}
}

func TestDeletedSocket(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	st := start(t, p, spec(city, "a", "exec cat"))
	if err := os.Remove(filepath.Join(os.Getenv("TMUX_TMPDIR"), fmt.Sprint("tmux-", os.Getuid()), p.tmux.label)); err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 || !list[0].Alive || list[0].PID != st.PID {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := p.Send(t.Context(), "a", "still there"); err != nil {
		t.Error(err)
	}
	shows(t, p, "a", "still there")
}

// A session with the same name that belongs to another city is left alone (L3).
func TestNameInUse(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "b", "exec cat"))
	foreign := func(env ...string) int {
		t.Helper()
		args := []string{"new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "a"}
		for _, kv := range env {
			args = append(args, "-e", kv)
		}
		out, err := p.tmux.run(t.Context(), nil, append(args, "--", "sleep", "1000")...)
		if err != nil {
			t.Fatal(err)
		}
		return number(strings.TrimSpace(out))
	}
	pid := foreign("GC_CITY_PATH=/another/city", "GC_SESSION_ID=x")
	if list, err := p.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := p.Start(t.Context(), spec(city, "a", "true")); !errors.Is(err, session.ErrExists) || !strings.Contains(err.Error(), p.tmux.label) {
		t.Errorf("%v", err)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil || !lives(pid) {
		t.Errorf("Stop: %v; other city's session alive: %v", err, lives(pid))
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := p.tmux.run(t.Context(), nil, "kill-session", "-t", "=a"); err != nil {
		t.Fatal(err)
	}
	unfinished := foreign("GC_CITY_PATH="+city, "GC_SESSION_ID=unfinished")
	if st := start(t, p, spec(city, "a", "exec cat")); lives(unfinished) || !lives(st.PID) {
		t.Error("an unfinished start was not undone")
	}
}

// If a session exits without a controller, the next controller's first List reports the exit once.
func TestExitWithoutController(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	st := start(t, p, spec(city, "a", "echo last words; read x; exit 9"))
	gone := start(t, p, spec(city, "gone", "exec sleep 1000"))
	shows(t, p, "a", "last words")
	look, err := New(Options{City: city, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if err := p.Send(t.Context(), "a", "go"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	until(t, "the end", func() bool { return !lives(st.PID) })
	if _, err := look.tmux.run(t.Context(), nil, "kill-session", "-t", "=gone"); err != nil {
		t.Fatal(err)
	}
	until(t, "the end", func() bool { return !lives(gone.PID) })
	p = newProvider(t, city)
	list, err := p.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Exit == nil || list[1].Exit == nil {
		t.Fatalf("%+v, %v", list, err)
	}
	if x := list[0].Exit; x.Code != 9 || x.Lost || x.Asked || x.ID != st.ID {
		t.Errorf("%+v", x)
	}
	if x := list[1].Exit; !x.Lost {
		t.Errorf("%+v", x)
	}
	if seen, err := look.List(t.Context()); err != nil || len(seen) != 2 || seen[0].Alive || seen[1].Alive {
		t.Errorf("sessions of the observer: got %+v, %v", seen, err)
	}
	for _, st := range list {
		ack(t, p, *st.Exit)
	}
	p.Close()
	p = newProvider(t, city)
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List after the acknowledgement: got %+v, %v", list, err)
	}
	if out, err := p.Output(t.Context(), "a", 0); err != nil || !strings.Contains(out, "last words") {
		t.Errorf("%q, %v", out, err)
	}
}

// If a session survives a stop whose controller was killed, its later exit is not a requested one.
func TestSurvivedStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		since time.Duration // between the request and the next controller
		asked bool
	}{{"old", 2 * stopTimeout, false}, {"recent", 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			city := t.TempDir()
			p := newProvider(t, city)
			st := start(t, p, spec(city, "a", `trap "" INT; echo up; read x; exit 3`))
			shows(t, p, "a", "up")
			file, at := p.files.path("a", askedFile), time.Now().Add(-c.since)
			if err := os.WriteFile(file, []byte(st.ID), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
			p.Close()
			p = newProvider(t, city)
			if list, err := p.List(t.Context()); err != nil || len(list) != 1 || !list[0].Alive {
				t.Fatalf("%+v, %v", list, err)
			}
			if err := p.Send(t.Context(), "a", "go"); err != nil {
				t.Fatal(err)
			}
			if x := nextExit(t, p); x.Code != 3 || x.Asked != c.asked {
				t.Errorf("%+v, want code 3, asked %t", x, c.asked)
			}
		})
	}
}

// An observer lists and marks sessions. It acknowledges no exits and starts nothing.
func TestObserver(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	look, err := New(Options{City: city, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := look.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(city, ".gc")); err == nil {
		t.Error("an observer created files")
	}
	look.Close()
	p := newProvider(t, city)
	st := start(t, p, spec(city, "a", "exec cat"))
	if look, err = New(Options{City: city, Observe: true}); err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if err := look.SetMeta(t.Context(), "a", session.DrainAckMark, "1"); err != nil {
		t.Error(err)
	}
	if v, err := p.Meta(t.Context(), "a", session.DrainAckMark); v != "1" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := look.Start(t.Context(), spec(city, "b", "true")); err == nil {
		t.Error("an observer started a session")
	}
	start(t, p, spec(city, "b", "exec cat"))
	list, err := look.List(t.Context())
	if err != nil || len(list) != 2 || list[0].PID != st.PID || !list[1].Alive {
		t.Errorf("%+v, %v", list, err)
	}
}

// If two controllers start the same agent at the same time, it runs only once (L11).
func TestTwoControllers(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	ps := []*Provider{newProvider(t, city), newProvider(t, city)}
	for range 5 {
		var wg sync.WaitGroup
		errs := make([]error, len(ps))
		for i, p := range ps {
			s := spec(city, "a", "exec sleep 1000")
			s.Env = append(s.Env, "GC_TEST="+city+"/a")
			wg.Go(func() { _, errs[i] = p.Start(t.Context(), s) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("%v, %v", errs[0], errs[1])
		}
		if err := errors.Join(errs...); !errors.Is(err, session.ErrExists) {
			t.Error(err)
		}
		if n := len(sessiontest.Census(t, city)["a"]); n != 1 {
			t.Fatalf("got %d processes of the agent, want 1", n)
		}
		for _, p := range ps {
			list, err := p.List(t.Context())
			if err != nil || len(list) != 1 || !list[0].Alive {
				t.Fatalf("%+v, %v", list, err)
			}
		}
		if err := ps[0].Stop(t.Context(), "a", 0); err != nil {
			t.Fatal(err)
		}
		ack(t, ps[0], nextExit(t, ps[0]))
		ack(t, ps[1], nextExit(t, ps[1]))
	}
}

// A patrol calls tmux once, for any number of agents. Each start calls tmux once.
func TestCallsOfTmux(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	const n = 6
	before := p.tmux.execs.Load()
	for i := range n {
		start(t, p, spec(city, string(rune('a'+i)), "exec sleep 1000"))
	}
	if got := p.tmux.execs.Load() - before; got != n {
		t.Errorf("%d starts: got %d calls of tmux", n, got)
	}
	before = p.tmux.execs.Load()
	for range 5 {
		if list, err := p.List(t.Context()); err != nil || len(list) != n {
			t.Fatal(len(list), err)
		}
	}
	if got := p.tmux.execs.Load() - before; got != 5 {
		t.Errorf("5 patrols: got %d calls of tmux", got)
	}
}

func TestCanceledStart(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "warm", "exec cat"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	s := spec(city, "a", "exec sleep 1000")
	s.Env = append(s.Env, "GC_TEST="+city+"/a")
	_, err := p.Start(ctx, s)
	if n := len(sessiontest.Census(t, city)["a"]); (err == nil) != (n == 1) {
		t.Errorf("got %v and %d processes", err, n)
	}
	list, listErr := p.List(t.Context())
	if listErr != nil || (err == nil) != slices.ContainsFunc(list, func(st session.Status) bool { return st.Name == "a" }) {
		t.Errorf("%v: %+v, %v", err, list, listErr)
	}
}
