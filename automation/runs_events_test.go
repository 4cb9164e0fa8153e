package automation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gcity/events"
)

// Each event is handled once, even if it arrives during a run. Events from before the automation was loaded are not
// handled. The cursor moves when the record of the run is written.
func TestEvents(t *testing.T) {
	e := parse(t, "e", "gate = 'event'\non = 'bead.*'\nexec = 'x'")
	d := newDrill(t, 0, e)
	d.r.See(events.Event{Seq: 1000, Type: "bead.closed"})
	d.is(d.turn(0), "")
	d.is(d.state("e"), "idle: event: no bead.* yet")
	d.happen("bead.closed", 0) // event 1042
	d.happen("agent.started", 0)
	d.happen("bead.created", 0)
	d.r.See(d.log[0]) // the event is delivered twice
	d.is(d.turn(0), "e(2 in 1041-1044)")
	d.happen("bead.closed", 0) // event 1045
	d.is(d.turn(0), "")
	d.is(d.r.Ended("e", OK, d.now), "")
	d.is(d.turn(0), "e(1 in 1044-1045)")
	d.r.Ended("e", OK, d.now)
	d.is(d.turn(0), "")
	// A run does not start until its record is written. Until then, its events wait together with newer ones.
	d.happen("bead.closed", 0) // event 1046
	out, _ := d.look(0)
	d.is(out, "e(1 in 1045-1046)")
	d.is(d.state("e"), "due: event: 1 bead.* since seq 1045; the run's record is being written")
	d.happen("bead.closed", 0)
	d.r.Unopened("e", "the disk is full", d.now)
	d.is(d.turn(0), "")
	d.is(d.state("e"), "due: event: 1 bead.* since seq 1045; cannot start: the disk is full")
	d.is(d.turn(time.Second), "e(2 in 1045-1047)")
	d.r.Ended("e", OK, d.now)
	// While no run can be opened, the state of a due automation says why. Afterwards, the run opens immediately.
	d.happen("bead.closed", 0) // event 1048
	d.shut = "the store is locked"
	d.is(d.turn(0), "")
	d.is(d.state("e"), "due: event: 1 bead.* since seq 1047; cannot start: the store is locked")
	d.shut = ""
	d.is(d.turn(0), "e(1 in 1047-1048)")
	d.r.Ended("e", OK, d.now)
	// If its event type changes, the automation starts over.
	d.happen("bead.closed", 0)
	e.On = "agent.*"
	d.r.Load(Catalog{Automations: []Definition{e}}, d.seq, d.now)
	d.is(d.turn(0), "")
	d.is(d.state("e"), "idle: event: no agent.* since 12:00:21")
}

func TestEventsOfAFailedRunAreTriedAgain(t *testing.T) {
	d := newDrill(t, 0, parse(t, "e", "gate = 'event'\non = 'x'\nexec = 'x'\nretry = 1"))
	d.happen("x", 0) // event 1042
	d.is(d.turn(0), "e(1 in 1041-1042)")
	d.r.Ended("e", Failed, d.now)
	d.happen("x", 0) // event 1043
	d.is(d.turn(time.Second), "")
	d.is(d.turn(time.Minute), "e#1(2 in 1041-1043)")
	d.r.Ended("e", Failed, d.now)
	d.is(d.turn(time.Hour), "")
	d.happen("x", 0)
	d.is(d.turn(0), "e(1 in 1043-1044)")
}

// The program crashes at each step of a run. Without retry, the run happens at most once; with retry, at least once. No
// event is lost before there is a record, and no run blocks the next one.
func TestCrashAtEachStep(t *testing.T) {
	for _, retry := range []int{0, 1} {
		text := fmt.Sprintf("gate = 'event'\non = 'x'\nexec = 'x'\nretry = %d", retry)
		tried := ""
		if retry > 0 {
			tried = "e#1(1 in 1041-1042)"
		}
		for step, want := range []struct{ interrupted, next string }{
			{"", "e(1 in 1041-1042)"}, // See has handled the event
			{"", "e(1 in 1041-1042)"}, // due, the record is being written
			{"e", tried},              // running
			{"", ""},                  // ended
		} {
			d := newDrill(t, 0, parse(t, "e", text))
			d.happen("x", 0)
			if step > 0 {
				_, opened := d.look(0)
				if step > 1 {
					d.r.Opened(opened[0].Definition.Scoped(), d.now)
				}
				if step > 2 {
					d.r.Ended("e", OK, d.now)
				}
			}
			d.is(strings.Join(d.restart(), " "), want.interrupted)
			d.is(d.turn(time.Minute), want.next)
			d.r.Ended("e", OK, d.now)
			d.happen("x", 0)
			d.is(d.turn(0), "e(1 in 1042-1043)")
		}
	}
	d := newDrill(t, 0, parse(t, "a", everyMinute))
	d.is(d.turn(0), "a")
	d.is(strings.Join(d.restart(), " "), "a")
	d.is(d.turn(59*time.Second), "") // the cooldown counts from the interrupted run
	d.is(d.turn(time.Second), "a")
}

// Note adds the information in a run's record that the memory lacks.
func TestNote(t *testing.T) {
	m := Memory{Last: noon(), Cursor: 5, Open: false, Retry: 2, Queued: noon()}
	for _, c := range []struct {
		opened time.Time
		seq    uint64
		retry  int
		want   Memory
	}{
		{noon().Add(-time.Hour), 3, 0, m},
		{noon(), 5, 1, m},
		{noon().Add(time.Hour), 0, 0, Memory{Last: noon().Add(time.Hour), Open: true, From: 5,
			Cursor: 5}},
		{noon().Add(time.Hour), 9, 1, Memory{Last: noon().Add(time.Hour), Open: true, From: 5,
			Cursor: 9, Retry: 1}},
	} {
		if got := m.Note(c.opened, true, c.seq, c.retry); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// After a restart, a retry waits for the events of the failed or interrupted run that it repeats.
func TestRetryWaitsForItsEvents(t *testing.T) {
	d := parse(t, "e", "gate = 'event'\non = 'deploy.done'\nexec = 'x'\nretry = 1\n"+
		"retry_backoff = '1s'")
	awake := World{Suspended: func(string) string { return "" }}
	happened := events.Event{Seq: 2, Type: "deploy.done"}
	for _, failed := range []bool{true, false} {
		now, r := noon(), NewRuns(0)
		r.Load(Catalog{Automations: []Definition{d}}, 1, now)
		r.See(happened)
		if open := r.Advance(now, awake).Open; len(open) != 1 {
			t.Fatalf("opened %+v", open)
		}
		r.Opened("e", now)
		if failed {
			r.Ended("e", Failed, now)
		}
		next := NewRuns(0)
		next.Recall(r.Memory())
		next.Load(Catalog{Automations: []Definition{d}}, 2, now)
		now = now.Add(time.Minute)
		if open := next.Advance(now, awake).Open; len(open) != 0 {
			t.Errorf("failed %v: the retry was opened without its events: %+v", failed, open)
		}
		next.See(happened)
		if open := next.Advance(now, awake).Open; len(open) != 1 || open[0].Retry != 1 ||
			open[0].Count != 1 || open[0].Until != 2 {
			t.Errorf("failed %v: got open runs %+v", failed, open)
		}
		next.Opened("e", now)
		next.Ended("e", OK, now)
		if open := next.Advance(now, awake).Open; len(open) != 0 || next.Memory()["e"].Cursor != 2 {
			t.Errorf("failed %v: the run was opened again: %+v", failed, open)
		}
	}
}

// An automation that fires on its own events is slowed down. A chain of runs that trigger one another ends at MaxDepth.
func TestAutomationOnItsOwnEvents(t *testing.T) {
	d := newDrill(t, 0, parse(t, "e", "gate = 'event'\non = 'automation.completed'\nexec = 'x'"))
	d.happen("automation.completed", 0)
	runs := 0
	for range 100 {
		d.now = d.now.Add(time.Second)
		out, opened := d.look(0)
		if len(opened) == 0 {
			if !strings.HasPrefix(out, "!e: skipped 1× automation.completed: at most 8 runs can trigger each other "+
				"in a chain") {
				t.Errorf("%q", out)
			}
			break
		}
		runs++
		d.r.Opened("e", d.now)
		d.r.Ended("e", OK, d.now)
		d.happen("automation.completed", opened[0].Depth+1)
	}
	if runs != MaxDepth {
		t.Errorf("runs in the chain: got %d", runs)
	}
	// If events have no depth, only the rate per minute is limited.
	runs = 0
	d.now = d.now.Add(time.Hour)
	for range 60 {
		d.happen("automation.completed", 0)
		if d.turn(time.Second) != "" {
			runs++
			d.r.Ended("e", OK, d.now)
		}
	}
	if runs != Rate {
		t.Errorf("got %d runs in a minute", runs)
	}
	if got := d.state("e"); !strings.HasPrefix(got, "idle: event: 50 automation.completed since") {
		t.Error(got)
	}
}

// An automation that is removed and soon added again keeps its history. After a long time, it is treated as new. A run
// continues even if its automation is removed.
func TestRemovedAndAddedAgain(t *testing.T) {
	e, a := parse(t, "e", "gate = 'event'\non = 'x'\nexec = 'x'"), parse(t, "a", everyMinute)
	d := newDrill(t, 0, e, a)
	d.is(d.turn(0), "a")
	gone := func(wait time.Duration) {
		d.r.Load(Catalog{}, d.seq, d.now)
		d.happen("x", 0)
		d.is(d.turn(wait), "")
		d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now)
		if from, ok := d.r.From(); ok {
			for _, e := range d.log {
				if e.Seq > from {
					d.r.See(e)
				}
			}
		}
	}
	gone(10 * time.Second)
	d.is(d.state("a"), "running: first run")
	d.is(d.turn(0), "e(1 in 1041-1042)")
	d.r.Ended("a", OK, d.now)
	d.r.Ended("e", OK, d.now)
	d.is(d.turn(time.Second), "")
	gone(25 * time.Hour)
	d.is(d.turn(0), "a")
	d.r.Ended("a", OK, d.now)
	d.r.Load(Catalog{}, d.seq, d.now)
	d.r.Load(Catalog{}, d.seq, d.now.Add(keepRemoved+time.Hour))
	if m := d.r.Memory(); len(m) > 0 {
		t.Errorf("state of a removed automation: got %v, want none", m)
	}
}

// An automation resumes after the cursor in a run's record, even if no saved state contains that cursor. It handles no
// earlier event again, and misses no later one.
func TestCursorOfARecordIsKept(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := Definition{Name: "a", Gate: Event, On: "x.y", Exec: "true", Overlap: Skip, Retry: 1,
		Zone: time.UTC, Hash: "1"}
	for _, open := range []bool{false, true} {
		r := NewRuns(0)
		r.Recall(map[string]Memory{"a": Memory{}.Note(now.Add(-time.Minute), open, 7, 0)})
		r.Load(Catalog{Automations: []Definition{d}}, 9, now)
		if from, ok := r.From(); from != 7 || !ok {
			t.Errorf("open %v: From() = %d, want 7", open, from)
		}
	}
	r := NewRuns(0)
	r.Recall(map[string]Memory{"a": Memory{}.Note(now.Add(-time.Minute), false, 7, 0)})
	r.Load(Catalog{Automations: []Definition{d}}, 5, now) // the event log starts over
	if from, _ := r.From(); from != 5 {
		t.Errorf("From() in a new log = %d, want 5", from)
	}
}
