package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

func line(t *testing.T, text string) (pid int, out io.Reader) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return cmd.Process.Pid, stdout
}

func says(t *testing.T, out io.Reader, word string) {
	t.Helper()
	buf := make([]byte, len(word))
	if _, err := io.ReadFull(out, buf); err != nil || string(buf) != word {
		t.Fatalf("the line printed %q, %v; want %q", buf, err, word)
	}
}

func started(t *testing.T, pid int) uint64 {
	t.Helper()
	st, err := ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.Start
}

func belowUs(t *testing.T) Tree {
	t.Helper()
	us := os.Getpid()
	trees, err := Trees(t.Context(), map[int]Root{us: {Start: started(t, us)}})
	if err != nil || len(trees) != 1 {
		t.Fatal(trees, err)
	}
	return trees[us]
}

const spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"

func TestTreesCountGrandchildrenAndTheirMemory(t *testing.T) {
	before := belowUs(t)
	_, out := line(t, "sleep 1000 & (sleep 1000 & wait) & printf up; wait")
	says(t, out, "up")
	// the shell, two sleep processes, and the subshell between them
	eventually.True(t, "four processes", func() bool { return belowUs(t).Procs == before.Procs+4 })
	eventually.True(t, "their memory", func() bool {
		return belowUs(t).RSS >= before.RSS+4*int64(os.Getpagesize())
	})
}

// The CPU time of an exited command counts for the process that waited for it.
func TestTreesCountExitedChildren(t *testing.T) {
	_, out := line(t, "sh -c '"+spin+"'; printf done; exec sleep 1000")
	says(t, out, "done")
	if tree := belowUs(t); tree.CPU < tick {
		t.Errorf("the CPU time of an exited child is missing: %+v", tree)
	}
}

func TestTreesCPUGrows(t *testing.T) {
	first := belowUs(t)
	line(t, "while :; do :; done")
	eventually.True(t, "a tenth of a second of work", func() bool {
		return belowUs(t).CPU >= first.CPU+100*time.Millisecond
	})
}

// A process that works has a demand for a processor, and a process that sleeps has none.
func TestDemand(t *testing.T) {
	asleep, _ := line(t, "exec sleep 999")
	eventually.True(t, "sleep", func() bool {
		st, err := ReadStat(asleep)
		return err == nil && st.State == 'S' && len(Args(asleep)) == 2
	})
	before := Demand(asleep)
	works, _ := line(t, "while :; do :; done")
	eventually.True(t, "a tenth of a second of work", func() bool { return Demand(works) >= 100*time.Millisecond })
	if grown := Demand(asleep) - before; before == 0 || grown > 50*time.Millisecond {
		t.Errorf("the demand of a process that sleeps is %s, and has grown by %s", before, grown)
	}
	if got := Demand(-1); got != 0 {
		t.Errorf("without a process: got %s", got)
	}
}

// The name of a process may contain any characters.
func TestTreesWithAnyProcessName(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a) R 1 (b", ") Z 0 0", "two words", "\n) T 1"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, program, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(file, "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "its memory", func() bool {
			st, err := ReadStat(cmd.Process.Pid)
			if err != nil || st.PPID != os.Getpid() || st.State == 'Z' || st.Start == 0 {
				t.Fatalf("%q: %+v, %v", name, st, err)
			}
			return st.RSS > 0
		})
		cmd.Process.Kill()
		cmd.Wait()
	}
}

func TestTreesOfNestedRoots(t *testing.T) {
	outer, out := line(t, "sh -c 'sleep 1000 & echo $$; wait' & wait")
	var inner int
	if _, err := fmt.Fscan(out, &inner); err != nil {
		t.Fatal(err)
	}
	roots := map[int]Root{outer: {Start: started(t, outer)}, inner: {Start: started(t, inner)}}
	trees, err := Trees(t.Context(), roots)
	if err != nil || trees[inner].Procs != 1 || trees[outer].Procs != 0 {
		t.Errorf("%+v, %v", trees, err)
	}
	roots[inner] = Root{Start: roots[inner].Start, Alive: true}
	alive, err := Trees(t.Context(), roots)
	if err != nil || alive[inner].Procs != 1 || alive[outer].Procs != 0 {
		t.Errorf("a root with Alive set: got %+v, %v", alive, err)
	}
	roots[inner] = Root{Start: roots[inner].Start + 1} // another process has the pid now
	trees, err = Trees(t.Context(), roots)
	if _, ok := trees[inner]; ok || err != nil || trees[outer].Procs != 2 {
		t.Errorf("%+v, %v", trees, err)
	}
}

// Processes that start and exit during the measurement cause no error and belong to the right root.
func TestTreesDuringStartsAndExits(t *testing.T) {
	_, out := line(t, "printf up; while :; do /bin/true & /bin/true | /bin/true; done")
	says(t, out, "up")
	quiet, out := line(t, "sleep 1000 & printf up; wait")
	says(t, out, "up")
	roots := map[int]Root{quiet: {Start: started(t, quiet)}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				trees, err := Trees(t.Context(), roots)
				if err != nil || trees[quiet].Procs != 1 {
					t.Errorf("%+v, %v", trees, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTreesCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if trees, err := Trees(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", trees, err)
	}
}

// A process in a cycle of parents has no owner.
func TestOwnersInCycle(t *testing.T) {
	w := &processTable{dir: -1, at: map[int]int{}}
	for i, ppid := range []int{2, 3, 1, 3, 6, 0, 6} { // 1 → 2 → 3 → 1, 4 → 3, 5 and 7 → 6
		w.at[i+1] = i
		w.procs = append(w.procs, process{pid: i + 1, Stat: Stat{PPID: ppid}, root: i == 5})
	}
	want := []int{noRoot, noRoot, noRoot, noRoot, 5, noRoot, 5}
	for i := range w.procs {
		if got := w.owner(i); got != want[i] {
			t.Errorf("the owner of %d is %d, want %d", i+1, got, want[i])
		}
	}
}

// parseStat parses any process name, and does not panic on arbitrary bytes.
func FuzzStat(f *testing.F) {
	f.Add("sh", []byte(" S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99 4096 12 "+
		"18446744073709551615 1"))
	f.Add(") R 1 (", []byte(""))
	f.Add("x", []byte(" S 1"))
	f.Fuzz(func(t *testing.T, name string, rest []byte) {
		parseStat(append([]byte("1 ("+name+")"), rest...))
		if strings.Contains(string(rest), ")") {
			return
		}
		good := "1 (" + name + ") S 42 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 4096 12 " +
			"18446744073709551615 1\n"
		st, ok := parseStat([]byte(good))
		want := Stat{State: 'S', PPID: 42, Group: 1, Session: 1, Threads: 1, Start: 4711, CPU: 26 * tick,
			RSS: 12 * int64(os.Getpagesize())}
		if !ok || st != want {
			t.Errorf("%q is %+v, want %+v", good, st, want)
		}
	})
}

func BenchmarkTrees(b *testing.B) {
	us := os.Getpid()
	st, err := ReadStat(us)
	if err != nil {
		b.Fatal(err)
	}
	roots := map[int]Root{us: {Start: st.Start}}
	pids, err := All()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Trees(context.Background(), roots); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(pids)),
		"µs/process")
}
