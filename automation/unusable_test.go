package automation

import (
	"strings"
	"testing"
	"time"
)

func broken(names ...string) (c Catalog) {
	for _, name := range names {
		c.Broken = append(c.Broken, Broken{Name: name})
	}
	return c
}

// While an automation's file is invalid or cannot be read, no run starts, but its retry, its queued run, its events and
// its on_failure run stay due (L6).
func TestBrokenAutomationsKeepTheirState(t *testing.T) {
	a := parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1\nretry_backoff = '10s'\non_failure = 'alarm'")
	alarm := parse(t, "alarm", "gate = 'manual'\nexec = 'x'")
	e := parse(t, "e", "gate = 'event'\non = 'x'\nexec = 'x'")
	q := parse(t, "q", "gate = 'cooldown'\ninterval = '1m'\nexec = 'x'\noverlap = 'queue'")
	for _, outage := range []string{"broken", "broken and restarted", "unread", "unread and restarted"} {
		d := newDrill(t, 0, a, alarm, e, q)
		lose := func() {
			c := broken("a", "alarm", "e", "q")
			if strings.HasPrefix(outage, "unread") {
				c = Catalog{Unread: []string{""}}
			}
			d.r.Load(c, d.seq, d.now)
			if strings.HasSuffix(outage, "restarted") {
				d.restartWith(c)
			}
			d.is(d.turn(time.Hour), "")
			d.load()
			d.readLog()
		}
		if err := d.r.Fire("a", "ann", d.now); err != nil {
			t.Fatal(err)
		}
		d.is(d.turn(0), "a q")
		d.is(d.turn(time.Minute), "") // q is queued
		d.r.Ended("a", Failed, d.now)
		d.r.Ended("q", OK, d.now)
		d.happen("x", 0)
		lose()
		d.is(d.turn(0), "a#1 e(1 in 1041-1042) q")
		d.r.Ended("q", OK, d.now)
		d.r.Ended("e", OK, d.now)
		d.is(d.r.Ended("a", Failed, d.now), "alarm")
		lose()
		d.is(d.turn(0), "alarm q")
	}
}

// A run that was active at the last exit counts as interrupted when its automation can be read again, so its retry
// follows.
func TestInterruptedRunOfABrokenAutomation(t *testing.T) {
	a := parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1")
	d := newDrill(t, 0, a)
	if err := d.r.Fire("a", "ann", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "a")
	if got := d.restartWith(broken("a")); len(got) > 0 {
		t.Errorf("got %q interrupted, want none", got)
	}
	d.is(d.turn(time.Minute), "")
	d.is(strings.Join(d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now), " "), "a")
	d.is(d.turn(time.Minute), "a#1")
}

// The end of a run leads to a retry or an on_failure run even if the files of both automations are broken by then.
func TestRunThatEndsWhileItsAutomationIsBroken(t *testing.T) {
	a := parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1\nretry_backoff = '10s'\non_failure = 'alarm'")
	alarm := parse(t, "alarm", "gate = 'manual'\nexec = 'x'")
	d := newDrill(t, 0, a, alarm)
	if err := d.r.Fire("a", "ann", d.now); err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{"a#1", "alarm"} {
		d.turn(0)
		d.r.Load(broken("a", "alarm"), d.seq, d.now)
		d.r.Ended("a", Failed, d.now)
		d.is(d.turn(time.Minute), "")
		d.load()
		d.is(d.turn(0), next)
	}
}

// A failure does not replace the retry of an on_failure automation that could not be read since the controller started.
func TestAFailureWhileItsOnFailureAutomationIsBroken(t *testing.T) {
	d := alarmed(t, 1, "a", "b")
	d.r.Ended("a", Failed, d.now)
	d.r.Ended("b", OK, d.now)
	d.is(d.alarm(0), "alarm after a, depth 1")
	d.r.Ended("alarm", Failed, d.now)
	c := broken("alarm")
	c.Automations = d.defs[1:]
	d.restartWith(c)
	d.fire("b")
	d.is(d.turn(0), "b")
	d.is(d.r.Ended("b", Failed, d.now), "alarm")
	d.is(d.turn(time.Minute), "")
	d.load()
	d.is(d.alarm(0), "alarm#1 after a, depth 1")
	d.r.Ended("alarm", OK, d.now)
	d.is(d.alarm(0), "alarm after b, depth 1")
}

// A manual request does not wait for a broken automation, and broken automations that are then removed leave no state.
func TestBrokenAutomationsAreForgottenAfterTheirRemoval(t *testing.T) {
	a := parse(t, "a", "gate = 'manual'\nexec = 'x'\nretry = 1\nretry_backoff = '10s'")
	d := newDrill(t, 0, a)
	d.shut = "the store is closed"
	if err := d.r.Fire("a", "ann", d.now); err != nil {
		t.Fatal(err)
	}
	d.is(d.turn(0), "")
	d.r.Load(broken("a"), d.seq, d.now)
	d.is(d.turn(0), "")
	if d.r.Awaits("a") {
		t.Error("the request for a broken automation is still due")
	}
	d.load()
	d.shut = ""
	d.is(d.turn(0), "")
	d.r.Load(broken("a"), d.seq, d.now.Add(keepRemoved+time.Hour))
	if !d.r.Remembers("a") {
		t.Error("the state of a broken automation is gone")
	}
	d.r.Load(Catalog{}, d.seq, d.now)
	d.r.Load(Catalog{}, d.seq, d.now.Add(keepRemoved+time.Hour))
	if d.r.Remembers("a") {
		t.Error("the state of a removed automation is kept")
	}
}

// Scheduled times from before a cron automation was enabled, or added again after a long time, do not count as missed.
func TestTimesBeforeAnAutomationIsEnabled(t *testing.T) {
	const text = "gate = 'cron'\nschedule = '0 13 * * *'\nexec = 'x'\ncatch_up = "
	for _, catchUp := range []string{"true", "false"} {
		on := parse(t, "a", text+catchUp)
		off := on
		off.Off, off.Hash = "it is disabled in its file (enabled = false)", "off"
		for outage, c := range map[string]Catalog{"off": {Automations: []Definition{off}}, "removed": {}, "broken": broken("a")} {
			for _, restart := range []bool{false, true} {
				d := newDrill(t, 0, on)
				d.is(d.turn(0), "")
				d.r.Load(c, d.seq, d.now)
				d.is(d.turn(2*time.Hour), "")
				want := ""
				if outage == "broken" {
					want = "a"
				}
				if restart {
					d.restart()
				} else {
					d.load()
				}
				d.is(d.turn(0), want)
				d.r.Ended("a", OK, d.now)
				d.is(d.turn(23*time.Hour), "a")
			}
		}
	}
}
