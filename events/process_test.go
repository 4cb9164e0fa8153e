package events

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// The test binary is also used as the other process. GCITY_EVENTS_CHILD selects its task, and the first argument is the
// log's folder.
func TestMain(m *testing.M) {
	switch os.Getenv("GCITY_EVENTS_CHILD") {
	case "":
		os.Exit(m.Run())
	case "write":
		childWrite(os.Args[1], os.Args[2], os.Args[3])
	case "refused":
		childRefused(os.Args[1])
	case "full":
		childFull(os.Args[1])
	case "retry":
		childRetry(os.Args[1])
	}
}

func child(t testing.TB, what string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "GCITY_EVENTS_CHILD="+what)
	c.Stderr = os.Stderr
	return c
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childWrite appends n events; if n is 0, it never stops. It prints the acknowledged seqs.
func childWrite(dir, name, n string) {
	count, err := strconv.Atoi(n)
	must(err)
	l, err := Open(dir, Options{SegmentSize: 20_000})
	must(err)
	for i := 0; count == 0 || i < count; i++ {
		last, err := l.Append(Event{Type: "test.ping", Actor: name, Subject: strconv.Itoa(i)})
		if !errors.Is(err, ErrQueued) {
			must(err)
		}
		fmt.Println(last)
	}
	must(l.Close())
}

// Several processes append while the log rotates and readers follow. Seqs have no gaps or duplicates, and each writer's
// events stay in order (L9).
func TestSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	const writers, each = 4, 500
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentSize: 20_000})
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	near := collect(t, l.Follow, writers*each+each)
	far := collect(t, r.Follow, writers*each+each)
	var children []*exec.Cmd
	for w := range writers {
		c := child(t, "write", dir, fmt.Sprint("w", w), strconv.Itoa(each))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for i := range each {
		if _, err := l.Append(Event{Type: "test.ping", Actor: "own", Subject: strconv.Itoa(i)}); err != nil && !errors.Is(err, ErrQueued) {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for who, got := range map[string][]Event{"near": <-near, "far": <-far, "find": all(t, dir)} {
		if len(got) != (writers+1)*each {
			t.Fatalf("%s: %d events, want %d", who, len(got), (writers+1)*each)
		}
		gapless(t, got, 1)
		next := map[string]int{}
		for _, e := range got {
			if e.Subject != strconv.Itoa(next[e.Actor]) {
				t.Fatalf("%s: %s wrote %s, want %d", who, e.Actor, e.Subject, next[e.Actor])
			}
			next[e.Actor]++
		}
	}
	files, err := list(dir)
	if err != nil || len(files) < 5 {
		t.Fatalf("only %d files, %v: the log did not rotate", len(files), err)
	}
}

// Writers are killed at any time. All acknowledged events are in the log, and no seq is missing.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]uint64{}
	for round := range 8 {
		name := fmt.Sprint("w", round)
		c := child(t, "write", dir, name, "0")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 50+37*round && lines.Scan(); n++ {
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for last := lines.Text(); ; last = lines.Text() {
			if seq, err := strconv.ParseUint(strings.TrimSpace(last), 10, 64); err == nil {
				acknowledged[name] = max(acknowledged[name], seq)
			}
			if !lines.Scan() {
				break
			}
		}
		c.Wait() // returns an error, because the process was killed
	}
	l := open(t, dir, Options{})
	appendN(t, l, 1)
	got := all(t, dir)
	gapless(t, got, 1)
	newest := map[string]uint64{}
	for _, e := range got {
		newest[e.Actor] = e.Seq
	}
	for name, seq := range acknowledged {
		if seq == 0 || newest[name] < seq {
			t.Errorf("%s: event %d was acknowledged, but the newest event in the log is %d",
				name, seq, newest[name])
		}
	}
}

// While another process holds the lock, events are queued and Append does not block. They are written when the lock is
// released.
func TestOtherHoldsLock(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	appendN(t, l, 1)
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if last, err := l.Append(Event{Type: "test.a"}, Event{Type: "test.b"}); last != 0 || !errors.Is(err, ErrQueued) || !errors.Is(err, errBusy) {
		t.Fatalf("Append = %d, %v", last, err)
	}
	if h := l.Health(); h.Queued != 2 || !strings.Contains(h.Degraded, lockName) {
		t.Fatalf("health %+v", h)
	}
	f.Close()
	wait(t, l, 3)
	if h := l.Health(); h.Queued != 0 || h.Degraded != "" {
		t.Fatalf("health %+v", h)
	}
	gapless(t, all(t, dir), 1)
}

func wait(t testing.TB, l *Log, seq uint64) {
	t.Helper()
	deadline := time.After(eventually.Timeout)
	for l.Last() < seq {
		select {
		case <-l.Changed(l.Last()):
		case <-deadline:
			t.Fatalf("event %d is missing from the log; newest %d, health %+v",
				seq, l.Last(), l.Health())
		}
	}
}
