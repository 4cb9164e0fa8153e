package controller

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/events"
	"gcity/internal/eventually"
)

// moments returns the steps of a run at which its controller is killed, in order. At a step with "after", the
// controller has not received the effect's result.
func moments() []string {
	return []string{
		"before it is opened", "after it is opened", "before it is saved",
		"after it is saved", "before it begins",
		"while it runs", "after it has ended", "before it is closed", "closed, not saved",
		"saved, not closed", "closed and saved, not reported",
		"after it is reported",
	}
}

// killer kills its own process at a given step of a run.
type killer struct {
	moment                    string
	armed                     atomic.Bool
	opened, ran, shut, memory atomic.Bool // each is set when the result of its effect has arrived
}

func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }

func (k *killer) at(moment string) {
	if k.moment == moment {
		die()
	}
}

// between is called by the runner before each effect begins and before each result is delivered.
func (k *killer) between(step any) bool {
	if !k.armed.Load() {
		return true
	}
	switch step.(type) {
	case effect.OpenRun:
		k.at("before it is opened")
	case effect.RunOpened:
		k.at("after it is opened")
		k.opened.Store(true)
	case effect.SaveAutomations:
		if k.opened.Load() && !k.ran.Load() {
			k.at("before it is saved")
		}
		return k.moment != "closed, not saved" || !k.ran.Load()
	case effect.AutomationsSaved:
		if k.opened.Load() && !k.ran.Load() {
			k.at("after it is saved")
		}
		if k.ran.Load() {
			k.at("saved, not closed")
			k.memory.Store(true)
			k.both()
		}
	case effect.Run:
		k.at("before it begins")
	case effect.RunEnded:
		k.at("after it has ended")
		k.ran.Store(true)
	case effect.CloseRun:
		k.at("before it is closed")
		return k.moment != "saved, not closed"
	case effect.RunClosed:
		k.at("closed, not saved")
		k.shut.Store(true)
		k.both()
		return k.moment != "closed and saved, not reported"
	}
	return true
}

func (k *killer) both() {
	if k.shut.Load() && k.memory.Load() {
		k.at("closed and saved, not reported")
	}
}

// killCase is a test case: a city with one automation and with a controller that is killed during a run.
type killCase struct {
	gate, moment string
	retry        int
	bitter       bool // the previous run and its retry have failed
}

func (b killCase) String() string {
	name := fmt.Sprintf("%s retry %d %s", b.gate, b.retry, b.moment)
	if b.bitter {
		name += " and bitter"
	}
	return strings.ReplaceAll(name, " ", "_")
}

// city writes the city's files. Its automation records each execution. If a file "fatal" exists, the automation kills
// its controller.
func (b killCase) city(t *testing.T) string {
	t.Helper()
	const job = `echo $$ ${GC_EVENT_SEQ:-none} >>runs
[ -e bad ] && exit 1
[ -e fatal ] || exit 0
rm fatal
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
kill -9 $PPID
exec sleep 1000`
	gate := "gate = \"cooldown\"\ninterval = \"1h\"\n"
	if b.gate == "event" {
		gate = "gate = \"event\"\non = \"deploy.done\"\n"
	}
	dir := jobCity(t, fmt.Sprintf("%sexec = '''%s'''\nretry = %d\nretry_backoff = \"100ms\"\n",
		gate, job, b.retry))
	if b.bitter {
		touch(t, dir, "bad")
	} else if b.moment == "while it runs" {
		touch(t, dir, "fatal")
	}
	return dir
}

// TestCutSessionRecord is the main function of the controller that is killed. TestCutAtEachStep runs it in a
// separate process.
func TestCutSessionRecord(t *testing.T) {
	dir, moment, gate := os.Getenv("GCITY_CUT_CITY"), os.Getenv("GCITY_CUT_AT"),
		os.Getenv("GCITY_CUT_GATE")
	if dir == "" {
		t.Skip("runs only as a child process of TestCutAtEachStep")
	}
	k := &killer{moment: moment}
	if gate != "event" {
		k.armed.Store(true)
	}
	w := live(t, dir, events.Options{}, k)
	if gate == "event" {
		w.rests(t, 0)
		w.await(t, "memory", func(city.Automation, []city.Run) bool {
			deeds, err := memory.ReadAutomations(dir)
			return err == nil && deeds["job"].On != ""
		})
		if bad := filepath.Join(dir, "bad"); exists(bad) {
			w.emit(t)
			w.rests(t, 2)
			if err := os.Remove(bad); err != nil {
				t.Fatal(err)
			}
		}
		k.armed.Store(true)
		w.emit(t)
	}
	<-w.ended
}

// TestCutAtEachStep kills a city's controller at each step of a run and waits until the next controller is idle. The
// controller is a process with the real store, log and shell.
//
// A due run is executed at most once; with retry, at least once. Each event is handled by one opened run and its
// retries. No record stays open, no process is left, and the next run succeeds (L4).
func TestCutAtEachStep(t *testing.T) {
	var bars []killCase
	for _, moment := range moments() {
		for _, gate := range []string{"cooldown", "event"} {
			for retry := range 2 {
				bars = append(bars, killCase{gate: gate, moment: moment, retry: retry})
			}
		}
	}
	bars = append(bars, killCase{gate: "event", moment: "after it is opened", retry: 1, bitter: true},
		killCase{gate: "event", moment: "after it is saved", retry: 1, bitter: true})
	if testing.Short() {
		bars = bars[:8]
	}
	for _, b := range bars {
		t.Run(b.String(), func(t *testing.T) { t.Parallel(); b.cut(t) })
	}
}

func cutLife(t *testing.T, dir, moment, gate string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cut := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestCutSessionRecord$")
	cut.Env = append(os.Environ(), "GCITY_CUT_CITY="+dir, "GCITY_CUT_AT="+moment,
		"GCITY_CUT_GATE="+gate)
	cut.WaitDelay = time.Second
	out, err := cut.CombinedOutput()
	if s, ok := cut.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL ||
		ctx.Err() != nil {
		t.Fatalf("the controller was not killed %s: %v\n%s", moment, err, out)
	}
}

func (b killCase) cut(t *testing.T) {
	dir := b.city(t)
	cutLife(t, dir, b.moment, b.gate)
	before := 0
	if b.bitter {
		before = 2
	}
	w := live(t, dir, events.Options{}, nil)
	defer w.end(t)
	runs := w.rests(t, before+1)
	b.judge(t, dir, runs[:len(runs)-before], executions(t, dir)[before:])

	done := len(executions(t, dir))
	if b.gate == "event" {
		w.emit(t)
	} else if _, err := w.Do(t.Context(), city.Fire{Automation: "job"}); err != nil {
		t.Errorf("the next run was rejected: %v", err)
	}
	again := w.rests(t, len(runs)+1)
	if again[0].Outcome != "ok" || len(again) != len(runs)+1 || len(executions(t, dir)) != done+1 {
		t.Errorf("the next run: got %+v with %d executions, want ok with one",
			again[0], len(executions(t, dir))-done)
	}
	w.recorded(t, again)
	w.nothingLeft(t)
}

func (w *life) recorded(t *testing.T, runs []city.Run) {
	t.Helper()
	var wrong []string
	eventually.Poll(func() bool {
		wrong = w.misrecorded(t, runs)
		return len(wrong) == 0
	})
	for _, what := range wrong {
		t.Error(what)
	}
}

func (w *life) misrecorded(t *testing.T, runs []city.Run) (wrong []string) {
	t.Helper()
	all, err := w.log.Find(t.Context(), events.Query{Types: []string{"automation.*"},
		Limit: events.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	fired, ended := map[string]int{}, map[string]int{}
	for i := range all {
		told := effect.RunsIn(all[i : i+1])
		for id := range told.Fired {
			fired[id]++
		}
		for id := range told.Ended {
			ended[id]++
		}
	}
	for _, r := range runs {
		if r.Outcome != city.RunVoid && (fired[r.ID] != 1 || ended[r.ID] != 1) {
			wrong = append(wrong, fmt.Sprintf("run %s has %d start events and %d end events in "+
				"the log: %+v", r.ID, fired[r.ID], ended[r.ID], r))
		}
	}
	return wrong
}

func (b killCase) judge(t *testing.T, dir string, runs []city.Run, executed []string) {
	t.Helper()
	first, retries := 0, 0
	seqs := map[uint64]bool{}
	for _, r := range runs {
		seqs[r.Seq] = true
		if r.Retry == 0 {
			first++
		} else {
			retries++
		}
	}
	if first != 1 || retries > b.retry || len(seqs) != 1 || seqs[0] != (b.gate != "event") {
		t.Errorf("got %d runs and %d retries for events %v: %+v", first, retries, seqs, runs)
	}
	least, most := 0, 1+b.retry
	if b.retry > 0 || b.moment == "before it is opened" {
		least = 1
	}
	if n := len(executed); n < least || n > most {
		t.Errorf("got %d executions: %q", n, executed)
	}
	if last := runs[0]; last.Outcome != "ok" &&
		(last.Outcome != "interrupted" || b.retry > 0 && b.moment != "saved, not closed") {
		t.Errorf("the last run: got %+v", last)
	}
}

func executions(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}
