package lifecycle

import (
	"maps"
	"slices"
	"testing"
)

var names = map[State]string{Absent: "absent", Starting: "starting", Unready: "unready",
	Resuming: "resuming", Running: "running", Stopping: "stopping", Unknown: "unclear"}

var events = map[string]func(*Phase){
	"Start":        func(p *Phase) { p.Start(1) },
	"Resume":       func(p *Phase) { p.Resume(1) },
	"Cancel":       func(p *Phase) { p.Cancel() },
	"StartEnds":    func(p *Phase) { p.StartEnds(1) },
	"Stop":         func(p *Phase) { p.Stop(1) },
	"StopEnds":     func(p *Phase) { p.StopEnds(1) },
	"Runs":         func(p *Phase) { p.Runs() },
	"Doubt":        func(p *Phase) { p.BecomesUnknown() },
	"Ends":         func(p *Phase) { p.Ends() },
	"ExitReported": func(p *Phase) { p.ExitReported(1) },
	"Listed":       func(p *Phase) { p.Listed() },
	"Found":        func(p *Phase) { p.FoundRunning(true) },
	"FoundUnready": func(p *Phase) { p.FoundRunning(false) },
}

func reach() []Phase {
	known := map[Phase]bool{{}: true}
	for queue := []Phase{{}}; len(queue) > 0; queue = queue[1:] {
		for _, event := range slices.Sorted(maps.Keys(events)) {
			p := queue[0]
			if events[event](&p); !known[p] {
				known[p] = true
				queue = append(queue, p)
			}
		}
	}
	return slices.Collect(maps.Keys(known))
}

func TestEveryPhaseIsConsistent(t *testing.T) {
	all := reach()
	if len(all) < len(names) {
		t.Fatalf("only %d phases can be reached", len(all))
	}
	for _, p := range all {
		if names[p.state] == "" {
			t.Errorf("%+v has no named state", p)
		}
		if u := p.known; u != Absent && u != Unready && u != Running {
			t.Errorf("%+v: got known state %s", p, names[u])
		}
		if p.Ready() && !p.Alive() || p.Alive() && !p.Seen() {
			t.Errorf("%+v: ready %t, alive %t, seen %t", p, p.Ready(), p.Alive(), p.Seen())
		}
		if p.Idle() == (p.Alive() || p.InFlight()) {
			t.Errorf("%+v: idle %t, alive %t, in flight %t", p, p.Idle(), p.Alive(), p.InFlight())
		}
	}
}

// TestOneStartOrStopAtATime checks that a start or stop can begin only in Absent or while a session runs (L1).
func TestOneStartOrStopAtATime(t *testing.T) {
	for _, p := range reach() {
		for _, begin := range []string{"Start", "Resume", "Stop"} {
			after := p
			events[begin](&after)
			if after.state == p.state {
				continue
			}
			if p.InFlight() || p.state == Unknown {
				t.Errorf("%s: got a transition from %s to %s",
					begin, names[p.state], names[after.state])
			}
			if !after.InFlight() || after.Step() != 1 {
				t.Errorf("%s: got state %s in step %d, want an effect in flight in step 1",
					begin, names[after.state], after.Step())
			}
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		events []string
		want   State
	}{
		{[]string{"Start", "StartEnds", "Runs", "Stop", "StopEnds", "Ends"}, Absent},
		{[]string{"Start", "StartEnds", "Doubt"}, Unknown},
		{[]string{"Start", "Cancel", "StartEnds", "Doubt", "Listed"}, Absent},
		{[]string{"Start", "StartEnds", "Runs", "Ends"}, Absent},
		{[]string{"FoundUnready", "Resume", "StartEnds", "Runs"}, Running},
		// after a failed stop, the session has the state from before the stop
		{[]string{"FoundUnready", "Stop", "StopEnds", "Doubt", "Listed"}, Unready},
		{[]string{"Found", "Stop", "StopEnds", "Doubt", "Listed"}, Running},
		// after a failed stop, an exit does not resolve the state Unknown
		{[]string{"Found", "Stop", "StopEnds", "Doubt", "Ends"}, Unknown},
		{[]string{"Found", "Stop", "StopEnds", "Doubt", "Ends", "Listed"}, Absent},
	} {
		var p Phase
		for _, event := range c.events {
			events[event](&p)
		}
		if p.state != c.want {
			t.Errorf("after %v: got %s, want %s", c.events, names[p.state], names[c.want])
		}
	}
	var p Phase
	p.Start(3)
	if !p.Cancel() || p.Cancel() || !p.Canceled() || !p.Starting() || p.StopEnds(4) {
		t.Errorf("canceling a start: got %+v, want it canceled once and in flight", p)
	}
	if !p.StartEnds(5) || p.StartEnds(6) || p.Step() != 5 {
		t.Errorf("end of a start: got %+v, want only the first end accepted", p)
	}
}

// TestEarlierCancelHasNoEffect checks that the wait for an adopted session can be canceled even if an earlier start was
// canceled.
func TestEarlierCancelHasNoEffect(t *testing.T) {
	var p Phase
	for _, event := range []string{"Start", "Cancel", "StartEnds", "Doubt", "Listed", "FoundUnready",
		"Resume"} {
		events[event](&p)
	}
	if p.Canceled() || !p.Cancel() {
		t.Errorf("%+v cannot be canceled", p)
	}
}
