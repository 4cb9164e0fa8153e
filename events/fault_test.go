package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/disk"
	"gcity/internal/eventually"
)

func gaps(t testing.TB, got []Event) (count int) {
	t.Helper()
	n := 0
	for _, e := range got {
		if e.Type == Gap {
			var p struct{ Count int }
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				t.Fatal(err)
			}
			count += p.Count
			n++
		}
	}
	if n > 1 {
		t.Fatalf("%d gap events, want at most 1", n)
	}
	return count
}

// fill appends events until the disk and the queue are full. The events are so small that there is no room left for a
// gap event.
func fill(l *Log) (given int, err error) {
	for err == nil {
		_, err = l.Append(Event{Type: "test.fill", Subject: fmt.Sprint(given)})
		given++
	}
	for range 100 {
		if _, err := l.Append(Event{Type: "test.fill", Subject: fmt.Sprint(given)}); !errors.Is(err, ErrQueued) {
			return given, fmt.Errorf("Append on a full disk: %w", err)
		}
		given++
	}
	return given, err
}

func settled(t testing.TB, dir string, given, queue int) {
	t.Helper()
	got := all(t, dir)
	gapless(t, got, 1)
	lost := gaps(t, got)
	if lost == 0 || len(got)-1+lost != given {
		t.Fatalf("got %d events appended, %d read, %d counted as lost", given, len(got)-1, lost)
	}
	for i, e := range got[len(got)-queue:] {
		if e.Subject != fmt.Sprint(given-queue+i) {
			t.Fatalf("after the gap event %d is %s, want %d", e.Seq, e.Subject, given-queue+i)
		}
	}
}

// An error names the folder's real path, not the path that only this process can use.
func TestErrorsNameTheRealPath(t *testing.T) {
	dir := t.TempDir()
	held, err := disk.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	l := open(t, filepath.Join(held.StablePath(), ".gc"), Options{})
	if err := os.Mkdir(filepath.Join(dir, ".gc", lockName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(Event{Type: "test.real"}); err == nil || strings.Contains(err.Error(), "/proc/") ||
		!strings.Contains(err.Error(), filepath.Join(dir, ".gc", lockName)) {
		t.Errorf("got %v", err)
	}
}

func TestDiskFull(t *testing.T) {
	dir := smallDisk(t, "3m")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, Options{Queue: 10})
	given, err := fill(l)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if h := l.Health(); h.Queued != 10 || h.Dropped == 0 || !strings.Contains(h.Degraded, "Free some space") {
		t.Fatalf("health %+v", h)
	}
	before := l.Last()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wait(t, l, before+11)
	if h := l.Health(); h.Queued != 0 || h.Dropped != 0 {
		t.Fatalf("health %+v", h)
	}
	// the ballast can disappear after the log has tried to fill the reserve and before it writes the events
	eventually.True(t, "the reserve to be filled", func() bool { return l.Health().Degraded == "" })
	settled(t, dir, given, 10)
}

// A log that reaches the limit on file sizes behaves as on a full disk.
func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "full", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	var given int
	if err := json.Unmarshal(out, &given); err != nil {
		t.Fatal(err)
	}
	settled(t, dir, given, 10)
}

func childFull(dir string) {
	unlimit := limitFiles(100_001)
	l, err := Open(dir, Options{Queue: 10})
	must(err)
	given, err := fill(l)
	if !errors.Is(err, syscall.EFBIG) {
		must(fmt.Errorf("not full: %w", err))
	}
	raise := fmt.Sprintf("`prlimit --pid %d --fsize=unlimited`", os.Getpid())
	if text := l.Health().Degraded; !strings.Contains(text, raise) {
		must(fmt.Errorf("%q does not contain %q", text, raise))
	}
	unlimit()
	must(l.Close())
	fmt.Println(given)
}

// Failed writes to a log with a damaged line do not change the next seq, and do not report a repair (L9).
func TestRetriesWithADamagedLine(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	appendN(t, l, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, activeName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[strings.Index(string(raw), "event 1")] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "retry", dir).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := all(t, dir)
	if len(got) != 3 || got[2].Seq != 4 || got[2].Type != "test.ping" {
		t.Errorf("got %+v, want the events 1, 3 and 4", got)
	}
}

func childRetry(dir string) {
	info, err := os.Stat(filepath.Join(dir, activeName))
	must(err)
	unlimit := limitFiles(uint64(info.Size()))
	l, err := Open(dir, Options{})
	must(err)
	if _, err := l.Append(Event{Type: "test.ping"}); !errors.Is(err, syscall.EFBIG) {
		must(fmt.Errorf("not full: %w", err))
	}
	l.mu.Lock()
	for range 3 {
		if err := l.flush(time.Now(), false); !errors.Is(err, syscall.EFBIG) {
			must(fmt.Errorf("not full: %w", err))
		}
	}
	l.mu.Unlock()
	unlimit()
	must(l.Close())
}

func limitFiles(size uint64) (unlimit func()) {
	var limit syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = size
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	return func() {
		limit.Cur = limit.Max
		must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	}
}

// After a failed flush, the log never flushes that file again. It starts a new file, and records what may be lost.
func TestSyncError(t *testing.T) {
	dir := t.TempDir()
	bad := make(chan string, 1)
	var first *os.File
	l := open(t, dir, Options{datasync: func(f *os.File) error {
		if first == nil {
			first = f
			return syscall.EIO
		}
		if f == first {
			bad <- "the file that failed was flushed again"
		}
		return nil
	}})
	appendN(t, l, 3)
	wait(t, l, 4)
	appendN(t, l, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case why := <-bad:
		t.Fatal(why)
	default:
	}
	if h := l.Health(); h.Degraded != "" {
		t.Fatalf("health with a new file: got %s", h.Degraded)
	}
	got := all(t, dir)
	gapless(t, got, 1)
	if len(got) != 5 || got[3].Type != Repaired || !strings.Contains(got[3].Message, "up to 3") {
		t.Fatalf("got %+v", got)
	}
	if seq, err := headOf(filepath.Join(dir, activeName)); seq != 4 || err != nil {
		t.Fatalf("first event of the new file: got %d, %v", seq, err)
	}
}

// If every flush fails, the log is degraded, and does not start a new file for each event.
func TestPersistentSyncError(t *testing.T) {
	dir := t.TempDir()
	synced := make(chan struct{}, 100)
	l := open(t, dir, Options{datasync: func(*os.File) error {
		synced <- struct{}{}
		return syscall.EIO
	}})
	for range 5 {
		appendN(t, l, 1)
	}
	<-synced
	<-synced // the second file failed too
	for range 5 {
		appendN(t, l, 1)
	}
	if err := l.Close(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Close: %v", err)
	}
	if h := l.Health(); !strings.Contains(h.Degraded, "power failure") {
		t.Fatalf("health %+v", h)
	}
	files, err := list(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	gapless(t, all(t, dir), 1)
}

func headOf(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return firstSeq(f)
}

// If another program changes the file in any way, the next append detects and records it. Seqs continue.
func TestFileChangedByOther(t *testing.T) {
	for name, tamper := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"cut":     func(path string) error { return os.Truncate(path, 200) },
		"replaced": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("something else\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, Options{})
			r, err := OpenReader(dir)
			if err != nil {
				t.Fatal(err)
			}
			far := make(chan uint64, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
				defer cancel()
				defer close(far)
				for e := range r.Follow(ctx, 3) {
					if e.Subject == "after" {
						far <- e.Seq
						return
					}
				}
			}()
			appendN(t, l, 5)
			if err := tamper(filepath.Join(dir, activeName)); err != nil {
				t.Fatal(err)
			}
			last, err := l.Append(Event{Type: "test.x", Subject: "after"})
			if err != nil || last < 7 {
				t.Fatalf("Append = %d, %v", last, err)
			}
			got := all(t, dir)
			end := got[len(got)-2:]
			if end[0].Type != Repaired || end[1].Seq != last || end[0].Seq != last-1 {
				t.Fatalf("got %+v", end)
			}
			if seq := <-far; seq != last {
				t.Fatalf("the follower got %d, want %d", seq, last)
			}
		})
	}
}

// If the folder is read-only, the log is degraded and queues events. It writes them when the folder is writable again.
func TestReadOnly(t *testing.T) {
	dir := smallDisk(t, "3m")
	l := open(t, dir, Options{})
	appendN(t, l, 2)
	if err := l.Close(); err != nil { // the kernel refuses to remount while a file is open for writing
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	l = open(t, dir, Options{})
	if _, err := l.Append(Event{Type: "test.x"}); !errors.Is(err, ErrQueued) || !errors.Is(err, syscall.EROFS) {
		t.Fatalf("Append: %v", err)
	}
	if h := l.Health(); !strings.Contains(h.Degraded, "Make the folder writable") {
		t.Fatalf("health %+v", h)
	}
	if got := all(t, dir); len(got) != 2 {
		t.Fatalf("%d events readable, want 2", len(got))
	}
	remount(0)
	wait(t, l, 3)
}

// If a log cannot be read, the result is an error and never an empty page.
func TestReadErrors(t *testing.T) {
	if _, err := OpenReader(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	dir := t.TempDir()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Find(t.Context(), Query{}); err != nil || len(got) != 0 {
		t.Errorf("an empty city: got %v, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, activeName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{{}, {Forward: true}} {
		if _, err := r.Find(t.Context(), q); err == nil {
			t.Errorf("Find(%+v) succeeded although the log is not a file", q)
		}
	}
	for _, err := range r.Follow(t.Context(), 0) {
		if err == nil {
			t.Error("Follow yielded an event although the log is not a file")
		}
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("Open succeeded although the log is not a file")
	}
}

// A panic in the keeper is reported and does not end the program. Later calls to Append and Close do not block.
func TestKeeperPanicIsReported(t *testing.T) {
	told := make(chan error, 1)
	l := open(t, t.TempDir(), Options{
		datasync: func(*os.File) error { panic("datasync failed") },
		Broken:   func(err error) { told <- err },
	})
	if _, err := l.Append(Event{Type: "a.b", Actor: "me"}); err != nil {
		t.Fatal(err)
	}
	if err := <-told; !strings.Contains(err.Error(), "datasync failed") {
		t.Error(err)
	}
	if seq, err := l.Append(Event{Type: "a.b", Actor: "me"}); seq != 2 || err != nil {
		t.Errorf("%d, %v", seq, err)
	}
	l.o.datasync = func(*os.File) error { return nil }
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
