package automation

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const everyMinute = "gate = 'cooldown'\ninterval = '1m'\nexec = 'x'\n"

func TestRunsFollowEachOther(t *testing.T) {
	d := newDrill(t, 0, parse(t, "a", everyMinute))
	d.is(d.state("a"), "idle: not evaluated yet")
	d.is(d.turn(0), "a")
	d.is(d.state("a"), "running: first run")
	d.is(d.turn(30*time.Second), "")
	d.r.Ended("a", OK, d.now)
	d.is(d.turn(0), "")
	d.is(d.state("a"), "idle: cooldown: 30s remaining")
	if next := d.r.Next(d.now); !next.Equal(noon().Add(time.Minute)) {
		t.Errorf("Next = %v", next)
	}
	d.is(d.turn(30*time.Second), "a")
}

// If a run takes longer than the automation's interval, the next run is skipped, and one message reports this.
func TestSlowerThanItsInterval(t *testing.T) {
	d := newDrill(t, 0, parse(t, "a", everyMinute),
		parse(t, "c", "gate = 'cron'\nschedule = '* * * * *'\nexec = 'x'"))
	d.is(d.turn(0), "a c")
	d.is(d.turn(time.Minute), "!a: due 2026-11-22 12:01 UTC, but the run that started at 2026-11-22 12:00 "+
		"UTC has not ended "+
		"!c: due 2026-11-22 12:01 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended")
	d.is(d.turn(time.Minute), "")
	d.r.Ended("a", OK, d.now)
	d.r.Ended("c", OK, d.now)
	d.is(d.turn(5*time.Second), "a") // a's gate is still open; c's scheduled times have passed
	d.is(d.turn(time.Minute), "!a: due 2026-11-22 12:03 UTC, but the run that started at 2026-11-22 12:02 "+
		"UTC has not ended c")
}

func TestQueue(t *testing.T) {
	d := newDrill(t, 0, parse(t, "c", "gate = 'cron'\nschedule = '* * * * *'\noverlap = 'queue'\n"+
		"exec = 'x'"))
	d.is(d.turn(0), "c")
	for range 3 {
		d.is(d.turn(time.Minute), "")
	}
	d.r.Ended("c", OK, d.now)
	d.is(d.turn(time.Second), "c") // one run for all missed times
	d.is(d.state("c"), "running: queued: was due 2026-11-22 12:01 UTC, during the last run")
	d.r.Ended("c", OK, d.now)
	d.is(d.turn(time.Second), "")
	if err := d.r.Fire("c", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "c")
	if err := d.r.Fire("c", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.r.Ended("c", OK, d.now)
	d.is(d.turn(0), "c")
}

// The number of concurrent runs is limited. The automation that has waited longest runs next.
func TestSlots(t *testing.T) {
	var defs []Definition
	for i := range 100 {
		defs = append(defs, parse(t, fmt.Sprintf("a%02d", i), everyMinute))
	}
	d := newDrill(t, 0, defs[50:]...)
	d.is(d.turn(0), "a50 a51 a52 a53 a54 a55 a56 a57")
	d.r.Load(Catalog{Automations: defs}, d.seq, d.now)
	d.is(d.turn(time.Second), "")
	d.is(d.state("a99"), "due: first run; waiting for a slot (at most 8 automations run at the same time)")
	d.r.Ended("a50", OK, d.now)
	d.is(d.turn(2*time.Minute), "!a51: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 "+
		"12:00 UTC has not ended "+
		"!a52: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended "+
		"!a53: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended "+
		"!a54: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended "+
		"!a55: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended "+
		"!a56: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended "+
		"!a57: due 2026-11-22 12:02 UTC, but the run that started at 2026-11-22 12:00 UTC has not ended a58")
	if err := d.r.Fire("a98", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.r.Ended("a51", OK, d.now)
	d.is(d.turn(0), "a98") // a manual run precedes scheduled runs
	for _, name := range []string{"a52", "a53", "a54"} {
		d.r.Ended(name, Failed, d.now)
	}
	d.is(d.turn(0), "a59 a60 a61")
}

func TestByHand(t *testing.T) {
	d := newDrill(t, 0, parse(t, "m", "gate = 'manual'\nexec = 'x'"),
		parse(t, "off", everyMinute+"enabled = false"), parse(t, "a", everyMinute))
	d.suspended = "with the city"
	d.is(d.turn(0), "")
	d.is(d.state("a"), "off: suspended with the city")
	d.is(d.state("m"), "idle: manual")
	d.is(d.state("off"), "off: disabled in its file (enabled = false)")
	for _, name := range []string{"m", "a"} { // by hand, even while suspended
		if err := d.r.Fire(name, "operator", d.now); err != nil {
			t.Error(err)
		}
	}
	d.is(d.turn(0), "a m")
	for name, want := range map[string]string{
		"off": "it is disabled in its file (enabled = false)", "none": "automation \"none\" not found; run `gcity automation list` to see all",
		"m": "it has been running since 2026-11-22 12:00 UTC; wait until it ends, or set overlap " +
			"= \"queue\" in /city/automations/m/automation.toml",
	} {
		if err := d.r.Fire(name, "operator", d.now); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d.r.Ended("m", OK, d.now)
	if err := d.r.Fire("m", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.defs[0].Off = "disabled in its file (enabled = false)"
	d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now)
	d.is(d.turn(0), "!m: was due (by hand) but is disabled in its file (enabled = false)")
}

func TestSuspendedWhileWaiting(t *testing.T) {
	d := newDrill(t, 1, parse(t, "a", everyMinute), parse(t, "b", everyMinute))
	d.is(d.turn(0), "a")
	d.suspended = "with the city"
	d.r.Ended("a", OK, d.now)
	d.is(d.turn(0), "")
	d.suspended = ""
	d.is(d.turn(0), "b")
}

// With while_suspended, an automation runs although the city is suspended, even after a failure. Other automations
// wait.
func TestWhileSuspended(t *testing.T) {
	a := parse(t, "a", everyMinute+"\nwhile_suspended = true\non_failure = 'alarm'")
	alarm := parse(t, "alarm", "gate = 'manual'\nexec = 'x'\nwhile_suspended = true")
	d := newDrill(t, 0, a, alarm, parse(t, "b", everyMinute))
	d.suspended = "with the city"
	d.is(d.turn(0), "a")
	d.is(d.state("b"), "off: suspended with the city")
	d.is(d.r.Ended("a", Failed, d.now), "alarm")
	d.is(d.turn(0), "alarm")
	d.is(d.turn(time.Minute), "a")
}

// A failed run is retried with increasing delays. After the last retry, on_failure runs once.
func TestRetryAndFailure(t *testing.T) {
	a, alarm := parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 2\non_failure = 'alarm'"),
		parse(t, "alarm", "gate = 'manual'\nexec = 'x'")
	d := newDrill(t, 0, a, alarm)
	if err := d.r.Fire("a", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "a")
	d.is(d.r.Ended("a", Failed, d.now), "")
	d.is(d.turn(9*time.Second), "")
	d.is(d.state("a"), "backoff: retry 1 of 2 in 1s")
	d.is(d.turn(time.Second), "a#1")
	d.is(d.r.Ended("a", Failed, d.now), "")
	d.is(d.turn(19*time.Second), "")
	d.is(d.turn(time.Second), "a#2")
	d.is(d.r.Ended("a", Failed, d.now), "alarm")
	d.is(d.turn(0), "alarm")
	d.is(d.state("alarm"), "running: a failed")
	d.is(d.r.Ended("alarm", Failed, d.now), "")
	d.is(d.turn(time.Hour), "")
	if m := d.r.Memory()["a"]; m.Failures != 3 || m.Tries != 0 || m.Outcome != Failed {
		t.Errorf("%+v", m)
	}
	// A success resets the count of failures, and on_failure does not run.
	if err := d.r.Fire("a", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "a")
	d.is(d.r.Ended("a", OK, d.now), "")
	if m := d.r.Memory()["a"]; m.Failures != 0 {
		t.Errorf("%+v", m)
	}
}

// If an edit lowers retry below the number of the next retry, no retry follows.
func TestRetryLowered(t *testing.T) {
	d := newDrill(t, 0, parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1"))
	if err := d.r.Fire("a", "operator", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "a")
	d.is(d.r.Ended("a", Failed, d.now), "")
	d.is(d.turn(0), "")
	d.is(d.state("a"), "backoff: retry 1 of 1 in 10s")
	d.r.Load(Catalog{Automations: []Definition{parse(t, "a", "gate = 'manual'\nexec = 'x'")}}, d.seq, d.now)
	d.is(d.turn(time.Second), "")
	d.is(d.state("a"), "idle: manual")
}

func TestConditions(t *testing.T) {
	d := newDrill(t, 0, parse(t, "c", "gate = 'condition'\ncheck = 'true'\nexec = 'x'"))
	d.is(d.turn(0), "?c")
	d.is(d.turn(time.Hour), "") // one check at a time, however long it takes
	d.r.Checked("c", "true", -1, "timed out after 10s")
	d.is(d.turn(0), "?c")
	d.is(d.state("c"), "idle: condition: timed out after 10s")
	d.r.Checked("c", "true", 1, "")
	d.is(d.turn(time.Second), "")
	d.is(d.turn(29*time.Second), "?c")
	d.r.Checked("c", "true", 0, "")
	d.is(d.turn(0), "c")
	d.r.Ended("c", OK, d.now)
	d.is(d.turn(time.Second), "") // a successful check opens only one run
	d.is(d.turn(30*time.Second), "?c")
}

// The condition is checked at the patrol that follows a late one.
func TestConditionAfterALatePatrol(t *testing.T) {
	d := newDrill(t, 0, parse(t, "c", "gate = 'condition'\ncheck = 'true'\nexec = 'x'"))
	d.is(d.turn(0), "?c")
	for _, wait := range []time.Duration{3, -2, -1} {
		d.r.Checked("c", "true", 1, "")
		d.is(d.turn(30*time.Second+wait*time.Millisecond), "?c")
	}
	d.r.Checked("c", "true", 1, "")
	d.is(d.turn(28*time.Second), "")
}

// However the clock is set, no automation gets stuck, and at most one run makes up for missed times.
func TestClockJumps(t *testing.T) {
	daily := parse(t, "d", "gate = 'cron'\nschedule = '0 * * * *'\ncatch_up = true\nexec = 'x'")
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 8 * time.Hour, 87600 * time.Hour,
		-87600 * time.Hour} {
		d := newDrill(t, 0, parse(t, "a", everyMinute), daily)
		count := func(turns int) (a, c int) {
			for range turns {
				out := d.turn(30 * time.Second)
				for name := range strings.FieldsSeq(out) {
					d.r.Ended(name, OK, d.now)
				}
				a += strings.Count(out, "a")
				c += strings.Count(out, "d")
			}
			return a, c
		}
		count(130)
		d.now = d.now.Add(jump)
		if a, c := count(2); a > 1 || c > 1 {
			t.Errorf("immediately after a jump by %v: got %d and %d runs", jump, a, c)
		}
		// after a jump back, the schedule does not run again for the same times
		if a, c := count(480); a < 235 || c < 2 || c > 5 {
			t.Errorf("after a jump by %v: got %d and %d runs in four hours", jump, a, c)
		}
	}
}

// If the program starts before the clock is set, schedules still do not run for times before they took effect.
func TestStartBeforeTheClockIsSet(t *testing.T) {
	at := func(schedule string) Definition {
		return parse(t, "a", "gate = 'cron'\nexec = 'x'\ncatch_up = true\nschedule = '"+schedule+"'")
	}
	for _, schedule := range []string{"0 8 * * *", "30 8 * * *"} { // the second one is new
		d := newDrill(t, 0, at("0 8 * * *"))
		d.is(d.turn(0), "")
		d.now = time.Unix(0, 0).UTC()
		d.defs = []Definition{at(schedule)}
		d.restart()
		d.is(d.turn(time.Minute), "")
		d.now = noon().Add(time.Hour)
		d.is(d.turn(0), "")
		d.restart()
		d.is(d.turn(0), "")
		d.is(d.turn(22*time.Hour), "a")
	}
}

// The same calls always give the same results (L8).
func TestRunsAreDeterministic(t *testing.T) {
	story := func() string {
		var out []string
		var defs []Definition
		for i := range 30 {
			defs = append(defs, parse(t, fmt.Sprintf("a%d", i), everyMinute))
		}
		d := newDrill(t, 3, defs...)
		for range 20 {
			got := d.turn(20 * time.Second)
			out = append(out, got)
			for name := range strings.FieldsSeq(got) {
				d.r.Ended(name, Failed, d.now)
			}
		}
		return strings.Join(out, "\n")
	}
	first := story()
	for range 3 {
		if next := story(); next != first {
			t.Fatalf("the same calls had different results:\n%s\n\n%s", first, next)
		}
	}
}

func BenchmarkTurn100(b *testing.B) {
	var defs []Definition
	for i := range 100 {
		text := []string{everyMinute, "gate = 'cron'\nschedule = '0 3 * * *'\nexec = 'x'",
			"gate = 'event'\non = 'x'\nexec = 'x'"}[i%3]
		d := parse(b, fmt.Sprintf("a%d", i), text)
		d.Interval = time.Hour
		defs = append(defs, d)
	}
	r := NewRuns(1000)
	now := noon()
	r.Load(Catalog{Automations: defs}, 0, now)
	w := World{Suspended: func(string) string { return "" }, Patrol: time.Minute}
	for _, run := range r.Advance(now, w).Open {
		r.Opened(run.Definition.Scoped(), now)
		r.Ended(run.Definition.Scoped(), OK, now)
	}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		r.Advance(now, w)
	}
}

// A schedule takes effect when it is loaded: an earlier time in the same minute counts as passed. The same applies to a
// schedule that was changed while the program was not running.
func TestScheduleLoadedWithinItsMinute(t *testing.T) {
	at := func(schedule string) Definition {
		return parse(t, "a", "gate = 'cron'\nexec = 'x'\nschedule = '"+schedule+"'")
	}
	d := newDrill(t, 1)
	d.defs = []Definition{at("0 12 * * *")}
	d.load()
	d.is(d.turn(0), "")
	d.is(d.turn(time.Minute), "")
	d.defs = []Definition{at("1 12 * * *")} // it is 12:01:20
	d.load()
	d.is(d.turn(0), "")
	d.defs = []Definition{parse(t, "a", "gate = 'manual'\nexec = 'x'")}
	d.load()
	d.defs = []Definition{at("1 12 * * *")}
	d.restart()
	d.is(d.turn(0), "")
	d.restart()
	d.is(d.turn(24*time.Hour-20*time.Second), "a")
}

// A recently missed scheduled time is found after a restart of the program, and when the city is resumed, even if a file
// was saved in the meantime.
func TestAScheduledTimeIsNotLost(t *testing.T) {
	d := newDrill(t, 1, parse(t, "a", "gate = 'cron'\nschedule = '30 * * * *'\nexec = 'x'"))
	d.is(d.turn(29*time.Minute), "")
	d.now = d.now.Add(31 * time.Minute)
	d.restart()
	d.is(d.turn(0), "a")
	d.r.Ended("a", OK, d.now)
	d.restart()
	d.is(d.turn(0), "")

	d.suspended = "with the city"
	d.is(d.turn(10*time.Minute), "")
	d.now = d.now.Add(40 * time.Minute)
	d.load()
	d.is(d.turn(0), "")
	d.suspended = ""
	d.is(d.turn(time.Minute), "a")
	d.r.Ended("a", OK, d.now)
	d.is(d.turn(time.Minute), "")
}

// A time that was skipped because of a running automation stays skipped after a restart of the program.
func TestASkippedTimeIsStored(t *testing.T) {
	d := newDrill(t, 1, parse(t, "a", "gate = 'cron'\nschedule = '*/30 * * * *'\nexec = 'x'"))
	d.is(d.turn(0), "a")
	rev := d.r.Rev()
	d.is(d.turn(30*time.Minute), "!a: due 2026-11-22 12:30 UTC, but the run that started at "+
		"2026-11-22 12:00 UTC has not ended")
	if d.r.Rev() == rev {
		t.Error("the skipped time is not stored")
	}
	d.restart()
	d.is(d.turn(0), "")
}

// A run after a failure knows which automation has failed, even if the run had to wait in the queue.
func TestQueuedRunAfterAFailure(t *testing.T) {
	d := newDrill(t, 3, parse(t, "a", "gate = 'manual'\nexec = 'x'\non_failure = "+
		"'alarm'\nretry = 1"), parse(t, "alarm", "gate = 'manual'\nexec = 'x'"))
	for _, name := range []string{"a", "alarm"} {
		if err := d.r.Fire(name, "me", d.now); err != nil {
			t.Fatal(err)
		}
	}
	d.is(d.turn(0), "a alarm")
	d.r.Ended("a", Failed, d.now)
	if try, of, at, ok := d.r.Again("a"); try != 1 || of != 1 ||
		!at.Equal(d.now.Add(10*time.Second)) || !ok {
		t.Errorf("Again() = %d, %d, %v, %v", try, of, at, ok)
	}
	d.is(d.turn(10*time.Second), "a#1")
	d.r.Ended("a", Failed, d.now)
	if _, _, _, ok := d.r.Again("a"); ok {
		t.Error("got another retry after the last one")
	}
	if !d.r.Queued("alarm") {
		t.Error("the run of alarm was not queued")
	}
	d.r.Ended("alarm", OK, d.now)
	_, opened := d.look(0)
	if len(opened) != 1 || opened[0].Follows != "a" {
		t.Errorf("%+v", opened)
	}
}

// A queued run names the user that requested it, even after a restart of the program.
func TestAQueuedRunNamesItsUser(t *testing.T) {
	d := newDrill(t, 3, parse(t, "a", "gate = 'manual'\nexec = 'x'\noverlap = 'queue'"))
	fire := func(by string) {
		t.Helper()
		if err := d.r.Fire("a", by, d.now); err != nil {
			t.Fatal(err)
		}
	}
	fire("ann")
	d.look(0)
	fire("bob") // while the record is being written
	d.is(d.state("a"), "due: by hand (ann); the run's record is being written; the next run is queued (bob)")
	for range 2 {
		d.r.Unopened("a", "the disk is full", d.now)
		d.is(d.state("a"), "due: by hand (bob); cannot start: the disk is full")
		d.look(maxUnopened)
	}
	fire("bob")
	d.r.Opened("a", d.now)
	fire("carl")
	d.is(d.state("a"), "running: by hand; the next run is queued (bob)")
	d.restart()
	d.shut = "the store is closed"
	d.look(0)
	d.is(d.state("a"), "due: by hand (bob); cannot start: the store is closed")
	d.shut = ""
	fire("dora")
	if !d.r.Withdraw("a") {
		t.Error("the second request was not canceled")
	}
	for range 2 {
		if _, opened := d.look(maxUnopened); len(opened) != 1 || opened[0].By != "bob" {
			t.Errorf("opened %+v", opened)
		}
		d.is(d.state("a"), "due: by hand (bob); the run's record is being written")
		d.r.Unopened("a", "the disk is full", d.now)
		d.is(d.state("a"), "due: by hand (bob); cannot start: the disk is full")
	}
	load := func(off string) {
		d.defs[0].Off = off
		d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now)
	}
	load("disabled")
	d.is(d.turn(0), "!a: was due (by hand) but is disabled")
	load("")
	d.is(d.turn(maxUnopened), "") // the queued run was dropped
}

// A run after a failure is not lost if the program restarts before the run is opened.
func TestARunAfterAFailureIsStored(t *testing.T) {
	newPair := func() *drill {
		d := newDrill(t, 3, parse(t, "a", "gate = 'manual'\nexec = 'x'\non_failure = 'alarm'"),
			parse(t, "alarm", "gate = 'manual'\nexec = 'x'"))
		if err := d.r.Fire("a", "me", d.now); err != nil {
			t.Fatal(err)
		}
		d.is(d.turn(0), "a")
		return d
	}
	follows := func(d *drill, what string) {
		t.Helper()
		out, opened := d.look(0)
		if out != "alarm" || opened[0].Follows != "a" {
			t.Errorf("%s: got %q, %+v", what, out, opened)
		}
	}

	d := newPair()
	d.r.Ended("a", Failed, d.now)
	d.shut = "the store does not respond"
	d.is(d.turn(0), "")
	d.restart()
	d.is(d.turn(0), "")
	d.shut = ""
	follows(d, "after a restart")
	d.restart()
	follows(d, "after a restart while the run was being opened")
	d.r.Opened("alarm", d.now)
	d.restart()
	d.is(d.turn(0), "")

	d = newPair()
	if err := d.r.Fire("alarm", "me", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "alarm")
	d.r.Ended("a", Failed, d.now)
	d.restart()
	follows(d, "queued")

	d = newPair()
	d.r.Ended("a", Failed, d.now)
	d.suspended = "with the city"
	rev := d.r.Rev()
	d.is(d.turn(0), "!alarm: was due (a failed) but is suspended with the city")
	if d.r.Rev() == rev {
		t.Error("the skipped run is still stored")
	}
	d.suspended = ""
	d.restart()
	d.is(d.turn(0), "")
}

// A retry that takes the place of a queued run leaves no run to store.
func TestARetryReplacesAQueuedRun(t *testing.T) {
	d := newDrill(t, 3, parse(t, "a", "gate = 'manual'\nexec = 'x'\non_failure = 'alarm'"),
		parse(t, "alarm", "gate = 'manual'\nexec = 'x'\nretry = 1"))
	for _, name := range []string{"a", "alarm"} {
		if err := d.r.Fire(name, "me", d.now); err != nil {
			t.Fatal(err)
		}
	}
	d.is(d.turn(0), "a alarm")
	d.r.Ended("a", Failed, d.now)
	d.r.Ended("alarm", Failed, d.now)
	d.is(d.turn(10*time.Second), "alarm#1")
	d.r.Ended("alarm", OK, d.now)
	d.restart()
	d.is(d.turn(0), "")
}
