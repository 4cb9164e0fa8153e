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
)

func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fillDisk(t *testing.T, dir string) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return ballast
}

// On a full disk, a client's event is rejected and leaves no trace, while the controller's events use the reserve.
// After the reserve is used up, the controller's events are queued, and Health says how many.
func TestReserveOfAFullDisk(t *testing.T) {
	dir := smallDisk(t, "4m")
	l := open(t, dir, Options{Queue: 100})
	appendN(t, l, 1)
	ballast := fillDisk(t, dir)

	own := 0
	for range reserveLow/maxLine + 1 { // more events than fit into the reserve before a refill
		if _, err := l.Append(big("controller")); err != nil {
			t.Fatalf("event %d of the controller on a full disk: %v", own, err)
		}
		own++
	}
	if seq, err := l.AppendNow(t.Context(), Event{Type: "client.note"}, LeaveReserve); seq != 0 || !errors.Is(err, ErrNotWritten) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("AppendNow on a full disk = %d, %v", seq, err)
	}
	if _, err := l.AppendNow(t.Context(), Event{Type: "bead.closed"}, UseReserve); err != nil {
		t.Fatalf("an event that may use the reserve: got %v", err)
	}
	own++
	if h := l.Health(); h.Queued != 0 || !strings.Contains(h.Degraded, "those from the controller use the disk reserve") || !strings.Contains(h.Degraded, "Free some space") {
		t.Fatalf("health %+v", h)
	}

	var err error
	for err == nil {
		_, err = l.Append(big("controller"))
		own++
	}
	if !errors.Is(err, ErrQueued) || own < reserveSize/maxLine/2 {
		t.Fatalf("got %d events, then %v", own, err)
	}
	if _, err := l.AppendNow(t.Context(), Event{Type: "client.note"}, LeaveReserve); !errors.Is(err, ErrNotWritten) {
		t.Fatalf("AppendNow while events are queued: %v", err)
	}
	if h := l.Health(); h.Queued != 1 || !strings.Contains(h.Degraded, "1 are queued in memory") {
		t.Fatalf("health %+v", h)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wait(t, l, uint64(1+own))
	for err = ErrNotWritten; errors.Is(err, ErrNotWritten); { // the reserve is filled again within a second
		_, err = l.AppendNow(t.Context(), Event{Type: "client.note", Subject: "later"}, LeaveReserve)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h := l.Health(); h.Degraded != "" {
		t.Fatalf("health %+v", h)
	}
	got := all(t, dir)
	gapless(t, got, 1)
	if n := len(got); n != 1+own+1 || got[n-1].Subject != "later" || gaps(t, got) != 0 {
		t.Fatalf("%d events, want %d; the last is %+v", n, 1+own+1, got[n-1])
	}
}

func big(actor string) Event {
	return Event{Type: "test.big", Actor: actor, Payload: json.RawMessage(`"` + strings.Repeat("x", maxBody-1000) + `"`)}
}

// When a file becomes a segment, its reserve is released.
func TestReserveOfASegment(t *testing.T) {
	dir := smallDisk(t, "64m")
	l := open(t, dir, Options{SegmentSize: 4 * maxLine})
	for range 16 {
		if _, err := l.Append(big("controller")); err != nil {
			t.Fatal(err)
		}
	}
	files, err := segments(dir)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d segments, %v", len(files), err)
	}
	for _, f := range files {
		if taken := f.info.Sys().(*syscall.Stat_t).Blocks * 512; taken > f.info.Size()+8192 {
			t.Errorf("%s has %d bytes, but uses %d on the disk", f.name(), f.info.Size(), taken)
		}
	}
	info, err := os.Stat(filepath.Join(dir, activeName))
	if err != nil || info.Sys().(*syscall.Stat_t).Blocks*512 < info.Size()+reserveLow {
		t.Errorf("the active file has no reserve: %v", err)
	}
}

// AppendNow rejects an event that exceeds the limit on file sizes, and does not write it later.
func TestAppendNowFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "refused", dir).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := all(t, dir)
	gapless(t, got, 1)
	var acknowledged int
	if err := json.Unmarshal(out, &acknowledged); err != nil {
		t.Fatal(err)
	}
	if len(got) != acknowledged {
		t.Fatalf("got %d events in the log, %d acknowledged", len(got), acknowledged)
	}
}

func childRefused(dir string) {
	unlimit := limitFiles(100_001)
	l, err := Open(dir, Options{})
	must(err)
	acknowledged := 0
	for err == nil {
		if _, err = l.AppendNow(context.Background(), Event{Type: "test.fill"}, LeaveReserve); err == nil {
			acknowledged++
		}
	}
	if !errors.Is(err, ErrNotWritten) || !errors.Is(err, syscall.EFBIG) {
		must(fmt.Errorf("not rejected: %w", err))
	}
	unlimit()
	must(l.Close())
	fmt.Println(acknowledged)
}

// AppendNow waits for the lock of another process until the deadline of ctx.
func TestAppendNowWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{lockWait: time.Millisecond})
	appendN(t, l, 1)
	stranger, err := lockFile(filepath.Join(dir, lockName), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.AppendNow(ctx, Event{Type: "test.x"}, LeaveReserve); !errors.Is(err, ErrNotWritten) || !errors.Is(err, errBusy) {
		t.Fatalf("AppendNow with a short deadline: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := l.AppendNow(context.Background(), Event{Type: "test.x", Subject: "patient"}, LeaveReserve)
		done <- err
	}()
	busy(t, l) // AppendNow has tried to take the lock
	stranger.release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := all(t, dir); len(got) != 2 || got[1].Subject != "patient" {
		t.Fatalf("got %+v", got)
	}
}

func busy(t *testing.T, l *Log) {
	t.Helper()
	for t.Context().Err() == nil {
		if strings.Contains(l.Health().Degraded, lockName) {
			return
		}
	}
}
