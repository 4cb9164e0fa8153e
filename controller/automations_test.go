package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"gcity/beads"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/events"
)

// TestEventsAcrossRotation rotates the log while an automation waits for events, during its run, and without a
// controller. Each event is handled exactly once, even if there are more events than fit on a page.
func TestEventsAcrossRotation(t *testing.T) {
	if testing.Short() {
		t.Skip("writes many events")
	}
	dir := jobCity(t, "gate = \"event\"\non = \"deploy.*\"\nexec = '''echo "+
		"$GC_EVENT_COUNT >>counts; "+
		"grep -o '\"message\":\"[0-9]*\"' $GC_EVENTS_FILE >>dealt; until [ -e go ]; do sleep "+
		"0.01; done'''\n")
	addAutomation(t, dir, "mark", "gate = \"event\"\non = \"mark.done\"\nexec = \"true\"\n")
	small := events.Options{SegmentSize: 4 << 10}
	w := live(t, dir, small, nil)
	w.rests(t, 0)
	n := 0
	emit := func(log *events.Log, many int) {
		all := make([]events.Event, many)
		for i := range all {
			all[i] = events.Event{Type: "deploy.done", Actor: "a", Message: strconv.Itoa(n)}
			n++
		}
		if _, err := log.Append(all...); err != nil {
			t.Fatal(err)
		}
	}
	emit(w.log, 1)
	w.await(t, "the first run", func(_ city.Automation, runs []city.Run) bool {
		return len(runs) == 1 && exists(filepath.Join(dir, "dealt"))
	})
	for range 300 {
		emit(w.log, 1)
	}
	touch(t, dir, "go")
	w.rests(t, 2)
	w.end(t)

	log, err := events.Open(filepath.Join(dir, ".gc"), events.Options{SegmentSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for range 11 { // more than events.MaxLimit
		emit(log, 1000)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, ".gc", "events-*.jsonl")); err != nil ||
		len(files) < 10 {
		t.Fatalf("files of the event log: got %v, %v, want at least 10", files, err)
	}
	if err := os.Remove(filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	w = live(t, dir, small, nil)
	defer w.end(t)
	counted := func() (total int) {
		for _, line := range noted(t, dir, "counts") {
			k, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			total += k
		}
		return total
	}
	if _, err := w.Do(t.Context(), city.Emit{Event: events.Event{Type: "mark.done",
		Actor: "a"}}); err != nil {
		t.Fatal(err)
	}
	w.await(t, "the mark, which is the last event",
		func(_ city.Automation, runs []city.Run) bool {
			return runs[0].Automation == "mark"
		})
	touch(t, dir, "go")
	w.await(t, "all events", func(a city.Automation, _ []city.Run) bool {
		return counted() >= n && a.State == city.AutomationIdle
	})
	times := map[string]int{}
	for _, line := range noted(t, dir, "dealt") {
		times[strings.Trim(strings.TrimPrefix(line, `"message":`), `"`)]++
	}
	for i := range n {
		if k := times[strconv.Itoa(i)]; k != 1 {
			t.Fatalf("event %d was handled %d times, want once; handled %d different events of %d",
				i, k, len(times),
				n)
		}
	}
	w.nothingLeft(t)
}

func noted(t *testing.T, dir, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// TestChecksLeaveNothing runs a condition's check that starts a process in another process group. That process is
// killed with the check. If the controller is killed during the check, the next controller kills the process when it
// starts.
func TestChecksLeaveNothing(t *testing.T) {
	dir := jobCity(t, "gate = \"condition\"\nexec = \"true\"\ncheck = '''\n"+
		"setsid sh -c 'echo $$ >>left; exec sleep 1000' </dev/null >/dev/null 2>&1 &\n"+
		"if [ -e fatal ]; then rm fatal; until [ -s left ]; do sleep 0.01; done; kill -9 $PPID; "+
		"exec sleep 1000; fi\n"+
		"until [ $(grep -c . left) -ge 2 ]; do sleep 0.01; done; exit 1'''\n")
	touch(t, dir, "fatal")
	cutLife(t, dir, "during its check", "condition")
	first := noted(t, dir, "left")
	if len(first) != 1 || !lives(t, first[0]) {
		t.Fatalf("processes left by the first check: got %v, want one that is running", first)
	}
	w := live(t, dir, events.Options{}, nil)
	w.await(t, "the check's answer", func(a city.Automation, _ []city.Run) bool {
		return strings.Contains(a.Reason, "exit 1")
	})
	w.end(t)
	left := noted(t, dir, "left")
	if len(left) < 2 {
		t.Fatalf("processes left by all checks: got %v, want at least 2", left)
	}
	for _, pid := range left {
		if lives(t, pid) {
			t.Errorf("process %s is still running", pid)
		}
	}
	w.nothingLeft(t)
}

func lives(t *testing.T, text string) bool {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ") && syscall.Kill(pid, 0) == nil
}

type failing struct {
	*sqlite.Store
	at    int32 // number of the update that fails
	count atomic.Int32
}

func (f *failing) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if f.count.Add(1) == f.at {
		return beads.Bead{}, errors.New("the disk is full")
	}
	return f.Store.Update(ctx, id, p)
}

// TestSweepIsBrokenOff makes the store fail while the controller closes records that the previous controller left open.
// Each end is still reported exactly once.
func TestSweepIsBrokenOff(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	dir := jobCity(t, "gate = \"manual\"\nexec = \"true\"\n")
	s, err := sqlite.Open(dir, "to")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b := beads.Bead{Title: "run", Type: city.RunType, Status: beads.StatusInProgress,
			Labels: []string{city.RunLabel + "job"}}
		if _, err := s.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w := live(t, dir, events.Options{}, nil, func(s *sqlite.Store) beads.Store {
		return &failing{Store: s, at: 2}
	})
	defer w.end(t)
	w.rests(t, 3)
	if _, err := w.Do(t.Context(), city.Fire{Automation: "job"}); err != nil {
		t.Fatal(err)
	}
	found, err := w.log.Find(t.Context(), events.Query{Types: []string{events.AutomationFailed},
		Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range found {
		var about struct{ Run string }
		if err := json.Unmarshal(e.Payload, &about); err != nil {
			t.Fatal(err)
		}
		told = append(told, about.Run)
	}
	if !slices.Equal(told, []string{"to-1", "to-2", "to-3"}) {
		t.Errorf("runs with an event about their end: got %v", told)
	}
}
