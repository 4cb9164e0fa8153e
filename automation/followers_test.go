package automation

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// alarmed returns a drill in which the runs of the given automations are active, and "alarm" runs after each failure.
func alarmed(t *testing.T, retry int, names ...string) *drill {
	defs := []Definition{parse(t, "alarm", fmt.Sprintf("gate = 'event'\non = 'x'\nexec = 'x'\nretry = %d", retry))}
	for _, name := range names {
		defs = append(defs, parse(t, name, "gate = 'manual'\nexec = 'x'\non_failure = 'alarm'"))
	}
	d := newDrill(t, 0, defs...)
	d.fire(names...)
	d.is(d.turn(0), strings.Join(names, " "))
	return d
}

func (d *drill) fire(names ...string) {
	d.t.Helper()
	for _, name := range names {
		if err := d.r.Fire(name, "me", d.now); err != nil {
			d.t.Fatal(err)
		}
	}
}

// alarm opens the run of alarm, and returns the number of its retry, the failed automation and the depth.
func (d *drill) alarm(wait time.Duration) string {
	d.t.Helper()
	out, opened := d.look(wait)
	if len(opened) != 1 || !strings.HasPrefix(out, "alarm") {
		return out
	}
	d.r.Opened("alarm", d.now)
	return fmt.Sprintf("%s after %s, depth %d", out, opened[0].Follows, opened[0].Depth)
}

// A retry of an on_failure run knows which automation has failed, even after a restart or an interruption.
func TestARetryOfAnOnFailureRun(t *testing.T) {
	for _, step := range []string{"", "restart", "record", "interrupt"} {
		d := alarmed(t, 1, "a")
		d.r.Ended("a", Failed, d.now)
		d.is(d.alarm(0), "alarm after a, depth 1")
		if step != "interrupt" {
			d.r.Ended("alarm", Failed, d.now)
		}
		if step != "" {
			d.restart()
		}
		if step == "record" {
			_, opened := d.look(10 * time.Second)
			if len(opened) != 1 || opened[0].Follows != "a" || opened[0].Retry != 1 {
				t.Errorf("%+v", opened)
			}
			d.restart()
		}
		d.is(d.alarm(10*time.Second), "alarm#1 after a, depth 1")
		d.r.Ended("alarm", Failed, d.now)
		d.restart()
		d.is(d.alarm(time.Hour), "")
	}
}

// An interrupted run without a further retry causes one on_failure run, which starts after the restart.
func TestAnOnFailureRunAfterAnInterruption(t *testing.T) {
	for _, stopped := range []bool{false, true} { // a stopped controller records the interruption itself
		d := alarmed(t, 0)
		d.defs = append(d.defs, parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1\non_failure = 'alarm'"))
		d.load()
		interrupt := func() {
			if stopped {
				d.r.Ended("a", Interrupted, d.now)
			}
			d.restart()
		}
		d.fire("a")
		d.is(d.turn(0), "a")
		interrupt()
		d.is(d.turn(0), "")
		d.is(d.turn(10*time.Second), "a#1")
		interrupt()
		d.is(d.alarm(0), "alarm after a, depth "+map[bool]string{false: "1", true: "0"}[stopped])
		d.r.Ended("alarm", OK, d.now)
		d.restart()
		d.is(d.alarm(time.Hour), "")
	}
}

// Automations that fail at the same time cause one on_failure run each, even after a restart.
func TestOneOnFailureRunForEachFailure(t *testing.T) {
	all := []string{"backup", "report", "sync"}
	for _, before := range []string{"", "opening", "running"} {
		for _, restart := range []bool{false, true} {
			d := alarmed(t, 0, all...)
			rest := all
			if before != "" {
				d.r.Ended("backup", Failed, d.now)
				if before == "running" {
					d.is(d.alarm(0), "alarm after backup, depth 1")
				} else {
					if out, _ := d.look(0); out != "alarm" {
						t.Errorf("got %q, want alarm", out)
					}
				}
				rest = all[1:]
			}
			for _, name := range rest {
				d.is(d.r.Ended(name, Failed, d.now), "alarm")
			}
			depth := 1
			if restart {
				d.restart()
				depth = 0 // not stored
			}
			switch {
			case before == "opening" && !restart:
				d.r.Opened("alarm", d.now)
				d.r.Ended("alarm", OK, d.now)
			case before == "opening":
				rest = all
			case before == "running" && !restart:
				d.r.Ended("alarm", OK, d.now)
			}
			for _, name := range rest {
				d.is(d.alarm(0), fmt.Sprintf("alarm after %s, depth %d", name, depth))
				d.is(d.alarm(0), "")
				d.r.Ended("alarm", OK, d.now)
			}
			d.is(d.alarm(time.Hour), "")
		}
	}
}

// A failure during an on_failure run's backoff does not replace the retry, unless the same automation has failed again.
func TestAFailureDuringTheBackoff(t *testing.T) {
	d := alarmed(t, 1, "a", "b")
	d.r.Ended("a", Failed, d.now)
	d.is(d.alarm(0), "alarm after a, depth 1")
	d.r.Ended("alarm", Failed, d.now)
	d.r.Ended("b", Failed, d.now)
	d.is(d.alarm(0), "")
	d.is(d.alarm(10*time.Second), "alarm#1 after a, depth 1")
	d.r.Ended("alarm", OK, d.now)
	d.is(d.alarm(0), "alarm after b, depth 1")
	d.r.Ended("alarm", Failed, d.now)
	d.fire("b")
	d.is(d.turn(0), "b")
	d.r.Ended("b", Failed, d.now)
	d.is(d.alarm(0), "alarm after b, depth 1")
	d.r.Ended("alarm", OK, d.now)
	d.is(d.alarm(time.Hour), "")
}

// Failures that are not passed on because the city is suspended are reported.
func TestOnFailureRunsThatAreSkipped(t *testing.T) {
	d := alarmed(t, 0, "a", "b")
	d.r.Ended("a", Failed, d.now)
	d.r.Ended("b", Failed, d.now)
	d.suspended = "with the city"
	d.is(d.turn(0), "!alarm: was due (a failed) but is suspended with the city "+
		"!alarm: was due (b failed) but is suspended with the city")
	d.suspended = ""
	d.restart()
	d.is(d.turn(time.Hour), "")

	d = alarmed(t, 1, "a")
	d.r.Ended("a", Failed, d.now)
	d.is(d.alarm(0), "alarm after a, depth 1")
	d.r.Ended("alarm", Failed, d.now)
	d.shut = "the store does not respond"
	d.is(d.turn(10*time.Second), "")
	d.shut, d.suspended = "", "with the city"
	d.is(d.turn(0), "") // the retry stays due
	d.suspended = ""
	d.is(d.alarm(0), "alarm#1 after a, depth 1")
}

// A retry that takes the place of a queued on_failure run knows the failure.
func TestARetryTakesAFailure(t *testing.T) {
	for _, restart := range []bool{false, true} {
		d := alarmed(t, 2, "a")
		d.fire("alarm")
		d.is(d.turn(0), "alarm")
		d.r.Ended("a", Failed, d.now)
		d.r.Ended("alarm", Failed, d.now)
		for try := range 2 {
			depth := 1
			if restart {
				d.restart()
				depth = 0 // not stored
			}
			d.is(d.alarm(20*time.Second), fmt.Sprintf("alarm#%d after a, depth %d", try+1, depth))
			d.r.Ended("alarm", Failed, d.now)
		}
		d.is(d.alarm(time.Hour), "")
	}
}

// A failure that waits behind a manual request is passed on even if the request is canceled.
func TestAFailureWaitsBehindARequest(t *testing.T) {
	d := alarmed(t, 0, "a")
	d.shut = "the store does not respond"
	d.fire("alarm")
	d.is(d.turn(0), "")
	d.r.Ended("a", Failed, d.now)
	if !d.r.Withdraw("alarm") {
		t.Error("the request was not canceled")
	}
	d.shut = ""
	d.is(d.alarm(0), "alarm after a, depth 1")
}

// The controller was killed after it had closed the record of a failed run, but before it had saved the state.
func TestFailureThatOnlyTheRecordContains(t *testing.T) {
	for _, c := range []struct {
		name            string
		retry           int
		canceled, alarm bool
	}{
		{"last try", 0, false, true},
		{"a retry follows", 1, false, false},
		{"canceled", 1, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrill(t, 0, parse(t, "a", fmt.Sprintf("gate = 'manual'\nexec = 'x'\nretry = %d\n"+
				"on_failure = 'alarm'", c.retry)), parse(t, "alarm", "gate = 'manual'\nexec = 'x'"))
			if err := d.r.Fire("a", "operator", d.now); err != nil {
				t.Fatal(err)
			}
			d.is(d.turn(0), "a")
			all := d.r.Memory()
			all["a"] = all["a"].FailedRun(d.now, c.canceled)
			d.r = NewRuns(d.r.most)
			d.r.Recall(all)
			if names := d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now); len(names) > 0 {
				t.Errorf("interrupted: %v", names)
			}
			due := map[bool]string{true: "alarm"}[c.alarm]
			d.is(d.turn(0), due)
			d.is(d.turn(time.Minute), map[bool]string{false: "a#1"}[c.alarm])
			if m := d.r.Memory()["a"]; m.Failures != 1 {
				t.Errorf("got %d failures, want 1", m.Failures)
			}
			// the saved state is up to date, so the record changes nothing
			if m := d.r.Memory()["a"].FailedRun(d.now, false); c.alarm && !m.failed.IsZero() {
				t.Errorf("the run failed again: %+v", m)
			}
		})
	}
}
