package describe

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
)

func TestCount(t *testing.T) {
	got := strings.Join([]string{Count(0, "agent"), Count(1, "agent"), Count(2, "agent"), Processes(1),
		Processes(3)}, ", ")
	if want := "0 agents, 1 agent, 2 agents, 1 process, 3 processes"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRunner(t *testing.T) {
	got := strings.Join([]string{Runner("console", 7), Runner("headless", 8), Runner("supervised", 9), Runner("supervised", 0)}, "; ")
	if want := "control room (pid 7); background (gcity --headless, pid 8); supervisor (pid 9); supervisor"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLimits(t *testing.T) {
	a := &city.Automation{Timeout: 90 * time.Second, Retry: 2, Overlap: "skip", WhileSuspended: true}
	if got := Limits(a); got != "timeout 1m30s, 2 retries, overlap skip, also while suspended" {
		t.Error(got)
	}
	if got := Limits(&city.Automation{Timeout: time.Hour, Retry: 1}); got != "timeout 1h, one retry" {
		t.Error(got)
	}
}

func TestJudged(t *testing.T) {
	j := &city.Judgement{Decision: city.RemedyWake, By: "scout", Reason: "it hangs", Result: "typed",
		Took: 12 * time.Second}
	if got := Judged(j, "2m", time.Duration.String); got != "wake 2m ago, by scout in 12s: it hangs (typed)" {
		t.Error(got)
	}
}

// Environment returns a group for each origin that has variables, in the order of the origins.
func TestEnvironment(t *testing.T) {
	got := Environment([]city.Variable{{Name: "C", From: city.FromInherited},
		{Name: "A", From: city.FromConfig}, {Name: "B", From: city.FromInherited}})
	if len(got) != 2 || got[0].All[0].Name != "A" || got[1].All[0].Name != "C" || got[1].All[1].Name != "B" {
		t.Errorf("%+v", got)
	}
}

func TestNext(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		next        *city.Next
		full, brief string
	}{
		{nil, "", ""},
		{&city.Next{What: "stops when it reports done"}, "stops when it reports done", "stops when it reports done"},
		{&city.Next{What: "the check runs", At: &at}, "the check runs in 5s", "the check runs in 5s"},
		{&city.Next{What: "restarts unless it prints something", At: &at}, "restarts in 5s unless it prints something", "restarts in 5s"},
		{&city.Next{What: "is killed if still running", At: &at}, "is killed in 5s if still running", "is killed in 5s"},
	} {
		if full, brief := Next(c.next, func(time.Time) string { return "5s" }); full != c.full || brief != c.brief {
			t.Errorf("%+v: %q, %q", c.next, full, brief)
		}
	}
}

func TestNextRun(t *testing.T) {
	for due, want := range map[string]string{"in 24s": "next run in 24s", "due in 24s": "due in 24s", "": ""} {
		if got := NextRun(due); got != want {
			t.Errorf("%q: got %q, want %q", due, got, want)
		}
	}
}

func TestCauseFirst(t *testing.T) {
	crashes := city.RecentCrashes{Crashes: 6, Quarantine: &city.Quarantine{LastCrash: "exit 3, last: x", Span: 4 * time.Minute}}
	for want, a := range map[string]city.Agent{
		"exit 3, last: x, crashed 6× in 4m": {State: city.Quarantined, RecentCrashes: crashes},
		"":                                  {State: city.Running, RecentCrashes: crashes},
	} {
		if got := CauseFirst(&a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := CauseFirst(&city.Agent{State: city.Quarantined}); got != "" {
		t.Errorf("unknown crashes: %q", got)
	}
}
