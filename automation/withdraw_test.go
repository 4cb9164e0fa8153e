package automation

import "testing"

// A request that is canceled while its run is being opened cancels the run, unless the run has another cause or handles
// events.
func TestWithdrawWhileTheRunIsOpened(t *testing.T) {
	d := newDrill(t, 0, parse(t, "a", "gate = 'manual'\nexec = 'x'\noverlap = 'queue'"),
		parse(t, "c", everyMinute), parse(t, "e", "gate = 'event'\non = 'x'\nexec = 'x'"))
	d.shut = "the store does not respond"
	d.turn(0)
	d.fire("a", "c")
	d.happen("x", 0)
	d.turn(0)
	d.fire("e")
	d.shut = ""
	if out, _ := d.look(0); out != "a c e(1 in 1041-1042)" {
		t.Fatal(out)
	}
	for name, want := range map[string]bool{"a": true, "c": false, "e": false} {
		if got := d.r.Withdraw(name); got != want {
			t.Errorf("Withdraw(%s) = %v, want %v", name, got, want)
		}
		if got := d.r.Opened(name, d.now); got != want {
			t.Errorf("Opened(%s) = %v, want %v", name, got, want)
		}
	}
	if m := d.r.Memory()["a"]; m.Open || m.Failures > 0 || !m.Last.IsZero() {
		t.Errorf("the canceled run is in the state: %+v", m)
	}
	d.defs = d.defs[:1]
	d.load()

	// another request keeps the run due if its record cannot be written
	d.fire("a")
	if out, _ := d.look(0); out != "a" {
		t.Fatal(out)
	}
	d.fire("a")
	d.r.Withdraw("a")
	d.r.Unopened("a", "the store does not respond", d.now)
	if out, _ := d.look(maxUnopened); out != "a" || d.r.Opened("a", d.now) {
		t.Errorf("got %q, want a run that is not canceled", out)
	}
}
