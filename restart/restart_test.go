package restart

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func policy(mode Mode) Policy {
	return Policy{Mode: mode, MinUptime: 10 * time.Second, MaxRestarts: 5, Window: time.Hour, Backoff: time.Second, MaxBackoff: 30 * time.Second}
}

func TestCrashRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    Mode
		death   Death
		crash   bool
		outcome Outcome
	}{
		{"clean, long", Always, Death{Uptime: time.Minute}, false, Restart},
		{"clean, too soon", Always, Death{Uptime: 9 * time.Second}, true, Restart},
		{"clean at exactly min_uptime", Always, Death{Uptime: 10 * time.Second}, false, Restart},
		{"clean, on-failure", OnFailure, Death{Uptime: time.Second}, false, Leave},
		{"clean, never", Never, Death{Uptime: time.Second}, false, Leave},
		{"exit 1", Always, Death{Code: 1, Uptime: time.Minute}, true, Restart},
		{"exit 1, on-failure", OnFailure, Death{Code: 1, Uptime: time.Minute}, true, Restart},
		{"exit 1, never", Never, Death{Code: 1, Uptime: time.Minute}, true, Leave},
		{"by signal", OnFailure, Death{Code: -1, Signal: "SIGSEGV", Uptime: time.Minute}, true, Restart},
		{"code unknown", OnFailure, Death{Code: -1, Uptime: time.Minute}, true, Restart},
		{"start failed", OnFailure, Death{StartFailed: true}, true, Restart},
		{"start failed, never", Never, Death{StartFailed: true}, true, Leave},
		{"lost", Never, Death{Code: -1, Lost: true}, false, Restart},
	} {
		var h History
		v := h.Died(t0, c.death, policy(c.mode))
		if v.Crash != c.crash || v.Outcome != c.outcome {
			t.Errorf("%s: crash %t, outcome %d; want %t, %d", c.name, v.Crash, v.Outcome, c.crash, c.outcome)
		}
		if v.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

// The first restart is immediate. Later waits double up to the patrol interval. The crash after max_restarts
// quarantines the agent for one window.
func TestCrashLoop(t *testing.T) {
	var h History
	p := policy(Always)
	now := t0
	for i, wait := range []time.Duration{0, 1, 2, 4, 8} {
		v := h.Died(now, Death{Code: 1}, p)
		base := wait * time.Second
		if v.Outcome != Restart || v.At.Before(now.Add(base)) || v.At.After(now.Add(base+base/10)) {
			t.Errorf("crash %d: %v, restart in %v, want %v plus at most 10 %%", i+1, v.Outcome, v.At.Sub(now), base)
		}
		now = v.At
	}
	v := h.Died(now, Death{Code: 1}, p)
	if v.Outcome != Quarantine || !v.At.Equal(now.Add(time.Hour)) {
		t.Fatalf("the sixth crash: got %+v", v)
	}
	if v := h.Died(v.At, Death{Code: 1}, p); v.Outcome != Restart || !v.At.Equal(now.Add(time.Hour)) {
		t.Errorf("the first crash after a quarantine: got %+v", v)
	}
}

func TestALongRunEndsTheStreak(t *testing.T) {
	var h History
	p := policy(Always)
	for range 3 {
		h.Died(t0, Death{Code: 1}, p)
	}
	at := t0.Add(p.Window/5 + time.Second)
	v := h.Died(at, Death{Code: 1, Uptime: p.Window/5 + time.Second}, p)
	if !v.At.Equal(at) {
		t.Errorf("wait after a long run: got %v", v.At.Sub(at))
	}
}

func TestZeroMeansForEver(t *testing.T) {
	var h History
	p := policy(Always)
	p.MaxRestarts = 0
	for range 1000 {
		if v := h.Died(t0, Death{Code: 1}, p); v.Outcome != Restart {
			t.Fatalf("%+v", v)
		}
	}
	if len(h.Crashes) > 0 {
		t.Errorf("got %d stored crashes without a limit", len(h.Crashes))
	}
}

// A simple model gives the same verdicts. The stored history stays bounded.
func TestQuarantineAgreesWithASimpleModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policy(Always)
		p.MaxRestarts = rapid.IntRange(1, 6).Draw(t, "max")
		p.Window = time.Duration(rapid.IntRange(1, 100).Draw(t, "window")) * time.Second
		var h History
		var crashes []time.Time
		now := t0
		for range rapid.IntRange(1, 60).Draw(t, "deaths") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "gap")) * time.Second)
			v := h.Died(now, Death{Code: 1}, p)
			crashes = append(crashes, now)
			n := 0
			for _, c := range crashes {
				if now.Sub(c) < p.Window {
					n++
				}
			}
			if want := n > p.MaxRestarts; (v.Outcome == Quarantine) != want {
				t.Fatalf("%d crashes in the window, max_restarts %d: got outcome %d",
					n, p.MaxRestarts, v.Outcome)
			}
			if v.Outcome == Quarantine {
				crashes = nil
			}
			if v.At.Before(now) || len(h.Crashes) > p.MaxRestarts {
				t.Fatalf("got a restart in the past, or %d stored crashes", len(h.Crashes))
			}
		}
	})
}

// An agent that cannot be started is retried without a limit. The waits double up to the patrol interval.
func TestAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		backoff, most time.Duration
		tries         int
		want          time.Duration
	}{
		{time.Second, 30 * time.Second, 1, time.Second},
		{time.Second, 30 * time.Second, 2, 2 * time.Second},
		{time.Second, 30 * time.Second, 5, 16 * time.Second},
		{time.Second, 30 * time.Second, 6, 30 * time.Second},
		{time.Second, 30 * time.Second, 1 << 30, 30 * time.Second},
		{time.Minute, 30 * time.Second, 1, 30 * time.Second},
		{0, 30 * time.Second, 1, time.Second},
		{0, 0, 9, time.Second},
	} {
		if got := (Policy{Backoff: c.backoff, MaxBackoff: c.most}).Again(now, c.tries).Sub(now); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
