package automation

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// noon is 12:00:20 on a Sunday.
func noon() time.Time { return time.Date(2026, 11, 22, 12, 0, 20, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

func brief(v Verdict) string {
	var actions []string
	for _, deed := range []struct {
		is   bool
		name string
	}{{v.Due, "due"}, {v.Ask, "ask"}, {v.Skip, "skip"}, {v.Keep, "keep"},
		{v.Retry > 0, fmt.Sprintf("retry%d", v.Retry)}} {
		if deed.is {
			actions = append(actions, deed.name)
		}
	}
	out := strings.Join(actions, "+")
	if out == "" {
		out = "-"
	}
	out += " | " + v.Reason
	if !v.Next.IsZero() {
		out += " | " + v.Next.Format("01-02 15:04:05")
	}
	return out
}

type judged struct {
	name string
	f    Facts
	want string
}

func judgeAll(t *testing.T, d Definition, cases []judged) {
	t.Helper()
	for _, c := range cases {
		v := Judge(d, c.f, noon())
		if got := brief(v); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", d.Name, c.name, got, c.want)
		}
		if v.Due && v.Opening.IsZero() {
			t.Errorf("%s %s: %+v", d.Name, c.name, v)
		}
	}
}

func TestCooldown(t *testing.T) {
	d := parse(t, "cooldown", "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'")
	judgeAll(t, d, []judged{
		{"never run", Facts{}, "due | first run"},
		{"just run", Facts{Last: ago(0)}, "- | cooldown: 5m remaining | 11-22 12:05:20"},
		{"some time ago", Facts{Last: ago(2*time.Minute + 19*time.Second)},
			"- | cooldown: 2m41s remaining | 11-22 12:03:01"},
		{"almost", Facts{Last: ago(5*time.Minute - time.Nanosecond)},
			"- | cooldown: 1s remaining | 11-22 12:00:20"},
		{"exactly", Facts{Last: ago(5 * time.Minute)}, "due | cooldown: 5m elapsed"},
		{"long ago", Facts{Last: ago(10 * 365 * 24 * time.Hour)}, "due | cooldown: 5m elapsed"},
		{"suspended", Facts{Suspended: "with rig demo"}, "- | suspended with rig demo"},
		{"running", Facts{Last: ago(time.Minute), Running: ago(time.Minute)}, "- | running for 1m"},
		{"slower than its interval", Facts{Last: ago(6 * time.Minute),
			Running: ago(6 * time.Minute)}, "skip | running for 6m"},
		// The clock was set back. After a small change, the automation has just run. After a large change, its
		// history is ignored.
		{"a little ahead", Facts{Last: ago(-time.Second)}, "- | cooldown: 5m1s remaining | " +
			"11-22 12:05:21"},
		{"an hour ahead", Facts{Last: ago(-time.Hour)}, "due | cooldown: ended early, because the " +
			"clock was set back to a time before the last run"},
		{"ten years ahead", Facts{Last: ago(-10 * 365 * 24 * time.Hour)},
			"due | cooldown: ended early, because the clock was set back to a time before the last run"},
	})
}

func TestCron(t *testing.T) {
	d := parse(t, "cron", "gate = 'cron'\nschedule = '0 3,12 * * *'\nexec = 'x'")
	catch := parse(t, "catch", "gate = 'cron'\nschedule = '0 3,12 * * *'\ncatch_up = true\n"+
		"exec = 'x'")
	queue := parse(t, "queue", "gate = 'cron'\nschedule = '0 12 * * *'\noverlap = 'queue'\n"+
		"exec = 'x'")
	rare := parse(t, "rare", "gate = 'cron'\nschedule = '0 3 * * *'\nexec = 'x'")
	const due, next = "due | cron: due 2026-11-22 12:00 UTC | 11-23 03:00:00",
		"- | cron: next 2026-11-23 03:00 UTC | 11-23 03:00:00"
	judgeAll(t, d, []judged{
		{"first seen in its minute", Facts{}, due},
		{"run in this minute", Facts{Last: ago(10 * time.Second)}, next},
		{"run by hand just before", Facts{Last: ago(21 * time.Second)}, due},
		{"judged in this minute", Facts{JudgedAt: ago(5 * time.Second)}, next},
		{"judged before it", Facts{JudgedAt: ago(50 * time.Second), Last: ago(9 * time.Hour)}, due},
		{"the clock was set back an hour", Facts{JudgedAt: ago(-time.Hour),
			Last: ago(-30 * time.Minute)}, next},
		{"the clock was set back ten years", Facts{JudgedAt: ago(-87600 * time.Hour), Last: ago(-87600 * time.Hour)},
			due},
		{"slept eight hours", Facts{JudgedAt: ago(8 * time.Hour), Last: ago(9 * time.Hour)}, due},
		{"the clock was set ten years ahead",
			Facts{JudgedAt: ago(87600 * time.Hour), Last: ago(87600 * time.Hour)}, due},
		{"running", Facts{JudgedAt: ago(time.Minute), Last: ago(9 * time.Hour),
			Running: ago(9 * time.Hour)}, "skip | running for 9h"},
		{"running, and skipped already", Facts{JudgedAt: ago(time.Minute),
			Skipped: ago(20 * time.Second), Running: ago(time.Hour)}, "- | running for 1h"},
	})
	judgeAll(t, rare, []judged{
		{"first seen", Facts{}, next},
		// missed by more than Late, for example during sleep
		{"a late patrol", Facts{JudgedAt: ago(9*time.Hour + time.Minute)}, next},
	})
	often := parse(t, "often", "gate = 'cron'\nschedule = '*/5 * * * *'\nexec = 'x'")
	judgeAll(t, often, []judged{
		{"the clock was set back two hours", Facts{Born: ago(99 * time.Hour), JudgedAt: ago(-2 * time.Hour),
			Last: ago(-2 * time.Hour)}, "due | cron: due 2026-11-22 12:00 UTC | 11-22 12:05:00"},
		{"the clock was set back after a run", Facts{Born: ago(99 * time.Hour), JudgedAt: ago(-3 * time.Second),
			Last: ago(-3 * time.Second)}, "- | cron: next 2026-11-22 12:05 UTC | 11-22 12:05:00"},
	})
	// A late call to Judge still finds a scheduled time since the previous call.
	at := time.Date(2026, 11, 22, 3, 7, 30, 0, time.UTC)
	if v := Judge(rare, Facts{JudgedAt: at.Add(-10 * time.Minute), Last: at.Add(-24 * time.Hour)},
		at); brief(v) != "due | cron: due 2026-11-22 03:00 UTC, 7m30s late | 11-23 03:00:00" {
		t.Errorf("a late patrol: got %s", brief(v))
	}
	// After the clock was set back, it is unknown which of the latest scheduled times were handled.
	for _, f := range []Facts{{Last: at.Add(24 * time.Hour)}, {Skipped: at.Add(24 * time.Hour)}} {
		f.Born = at.Add(-99 * time.Hour)
		for _, f.JudgedAt = range []time.Time{{}, at.Add(24 * time.Hour)} {
			if v := Judge(rare, f, at); brief(v) != next {
				t.Errorf("the clock was set back a day: got %s", brief(v))
			}
			if v := Judge(catch, f, at); v.Due {
				t.Errorf("the clock was set back a day, with catch_up: got %s", brief(v))
			}
		}
	}
	judgeAll(t, catch, []judged{
		{"missed for a day", Facts{Born: ago(99 * time.Hour), Last: ago(25 * time.Hour)},
			"due | cron: due 2026-11-21 12:00 UTC, 24h0m20s late | 11-23 03:00:00"},
		{"never run, known since yesterday", Facts{Born: ago(20 * time.Hour)},
			"due | cron: due 2026-11-22 03:00 UTC, 9h0m20s late | 11-23 03:00:00"},
		{"nothing missed", Facts{Born: ago(99 * time.Hour), Last: ago(10 * time.Second)}, next},
		{"new", Facts{}, due},
		{"born in the future", Facts{Born: ago(-87600 * time.Hour)}, due},
		{"born within its own minute", Facts{Born: ago(5 * time.Second)}, next},
	})
	judgeAll(t, queue, []judged{
		{"running", Facts{JudgedAt: ago(time.Minute), Running: ago(time.Hour)},
			"keep | running for 1h"},
		{"ended", Facts{JudgedAt: ago(time.Second), Last: ago(time.Hour),
			Queued: ago(20 * time.Second)}, "due | queued: was due 2026-11-22 12:00 UTC, during " +
			"the last run"},
		{"suspended since", Facts{Queued: ago(20 * time.Second), Suspended: "with the city"},
			"- | suspended with the city"},
	})
}

func TestScheduleInAnotherZone(t *testing.T) {
	d := parse(t, "zone", "gate = 'cron'\nschedule = '30 7 * * *'\ntimezone = "+
		"'America/New_York'\nexec = 'x'")
	if got := brief(Judge(d, Facts{}, noon())); got != "- | cron: next 2026-11-22 07:30 EST | "+
		"11-22 07:30:00" {
		t.Error(got)
	}
	d.Zone = time.Local // the reason does not name the machine's local zone
	if got := Judge(d, Facts{}, noon()).Reason; !strings.HasPrefix(got, "cron: next ") ||
		strings.Count(got, " ") != 3 {
		t.Error(got)
	}
}

func TestCondition(t *testing.T) {
	d := parse(t, "condition", "gate = 'condition'\ncheck = 'true'\nexec = 'x'")
	patrol := func(c CheckFacts) Facts { return Facts{Check: c, Patrol: 30 * time.Second} }
	judgeAll(t, d, []judged{
		{"new", patrol(CheckFacts{}), "ask | condition: not checked yet"},
		{"in progress", patrol(CheckFacts{Running: true, Asked: ago(time.Hour)}),
			"- | condition: check is running"},
		{"failed", patrol(CheckFacts{Done: true, Fresh: true, Code: 1,
			Asked: ago(29 * time.Second)}), "- | condition: exit 1"},
		{"failed a patrol ago", patrol(CheckFacts{Done: true, Fresh: true, Code: 1,
			Asked: ago(30 * time.Second)}), "ask | condition: exit 1"},
		{"failed at a late patrol", patrol(CheckFacts{Done: true, Fresh: true, Code: 1,
			Asked: ago(30*time.Second - 3*time.Millisecond)}), "ask | condition: exit 1"},
		{"asked again", patrol(CheckFacts{Done: true, Running: true, Code: 128,
			Asked: ago(30 * time.Second)}), "- | condition: exit 128"},
		{"a signal", patrol(CheckFacts{Done: true, Fresh: true, Code: -1, Asked: ago(0),
			Err: "check was killed by SIGSEGV"}), "- | condition: check was killed by SIGSEGV"},
		{"timed out", patrol(CheckFacts{Done: true, Fresh: true, Err: "timed out after 10s",
			Asked: ago(0)}), "- | condition: timed out after 10s"},
		{"succeeded", patrol(CheckFacts{Done: true, Fresh: true, Asked: ago(time.Hour)}),
			"due | condition: exit 0"},
		{"succeeded, and run", patrol(CheckFacts{Done: true, Asked: ago(time.Second)}),
			"- | condition: not checked since the last run"},
		{"succeeded, run and asked again", patrol(CheckFacts{Done: true, Running: true,
			Asked: ago(time.Second)}), "- | condition: check is running"},
		{"the clock was set back", patrol(CheckFacts{Done: true, Code: 1, Asked: ago(-time.Hour)}),
			"ask | condition: exit 1"},
		{"running", Facts{Running: ago(time.Second), Check: CheckFacts{Done: true, Fresh: true}},
			"- | running for 1s"},
		{"suspended", Facts{Suspended: "with the city"}, "- | suspended with the city"},
	})
}

func TestEvent(t *testing.T) {
	d := parse(t, "event", "gate = 'event'\non = 'bead.closed'\nexec = 'x'")
	many := make([]time.Time, Rate)
	for i := range many {
		many[i] = ago(48*time.Second - time.Duration(i)*time.Second)
	}
	some := EventFacts{Cursor: 1041, Count: 2}
	judgeAll(t, d, []judged{
		{"none", Facts{Events: EventFacts{Cursor: 1041}}, "- | event: no bead.closed yet"},
		{"none today", Facts{Events: EventFacts{Cursor: 1041}, Last: ago(time.Hour)},
			"- | event: no bead.closed since 11:00:20"},
		{"none since yesterday", Facts{Events: EventFacts{Cursor: 1041}, Last: ago(24 * time.Hour)},
			"- | event: no bead.closed since 2026-11-21 12:00"},
		{"two", Facts{Events: some}, "due | event: 2 bead.closed since seq 1041"},
		{"two during a run", Facts{Events: some, Running: ago(14 * time.Second)},
			"- | running for 14s; event: 2 bead.closed since seq 1041"},
		{"suspended", Facts{Events: some, Suspended: "with the city"},
			"- | suspended with the city"},
		// After many runs in a short time, the next run waits and no event is lost.
		{"too often", Facts{Events: some, Recent: many}, "- | event: 2 bead.closed since seq 1041; " +
			"ran 10× in the last 1m, next run in 12s | 11-22 12:00:32"},
		{"often", Facts{Events: some, Recent: many[1:]}, "due | event: 2 bead.closed since seq 1041"},
	})
	for i := range many {
		many[i] = ago(-time.Hour)
	}
	judgeAll(t, d, []judged{{"the clock was set back", Facts{Events: some, Recent: many},
		"due | event: 2 bead.closed since seq 1041"}})
}

func TestManualAndOff(t *testing.T) {
	d := parse(t, "manual", "gate = 'manual'\nexec = 'x'")
	off := parse(t, "off", "gate = 'cooldown'\ninterval = '1s'\nexec = 'x'\nenabled = false")
	judgeAll(t, d, []judged{{"", Facts{}, "- | manual"},
		{"suspended", Facts{Suspended: "with the city"}, "- | manual"},
		{"running", Facts{Running: ago(time.Second)}, "- | running for 1s"}})
	judgeAll(t, off, []judged{{"", Facts{}, "- | disabled in its file (enabled = false)"}})
}

func TestRetry(t *testing.T) {
	d := parse(t, "retry", "gate = 'cooldown'\ninterval = '1s'\nexec = 'x'\nretry = 3\n"+
		"retry_backoff = '10s'")
	failed := func(tries int, since time.Duration) Facts {
		return Facts{Last: ago(since), Tries: tries, FailedAt: ago(since)}
	}
	judgeAll(t, d, []judged{
		{"just failed", failed(1, 0), "- | retry 1 of 3 in 10s | 11-22 12:00:30"},
		{"soon", failed(1, 2*time.Second), "- | retry 1 of 3 in 8s | 11-22 12:00:28"},
		{"now", failed(1, 10*time.Second), "due+retry1 | retry 1 of 3"},
		{"again", failed(2, 10*time.Second), "- | retry 2 of 3 in 10s | 11-22 12:00:30"},
		{"the last time", failed(3, 40*time.Second), "due+retry3 | retry 3 of 3"},
		{"no retries left", failed(4, time.Minute), "due | cooldown: 1s elapsed"},
		{"the clock was set back", failed(1, -time.Hour), "due+retry1 | retry 1 of 3"},
		{"suspended", Facts{Tries: 1, FailedAt: ago(time.Hour), Suspended: "with the city"},
			"- | suspended with the city"},
	})
	d.Retry, d.RetryBackoff = 100, 30*time.Minute
	if got := d.backoff(90); got != MaxBackoff {
		t.Errorf("backoff after many retries: got %v", got)
	}
	d.RetryBackoff = 5 * time.Hour
	if got := d.backoff(9); got != 5*time.Hour {
		t.Errorf("long backoff: got %v, want 5h", got)
	}
}

// For any clock and any history, the verdict has a reason. Its next time is in the future, and the automation is due
// at that time.
func FuzzJudge(f *testing.F) {
	f.Add(uint8(0), int64(0), int64(-1), int64(5), int64(0), uint8(0), uint8(0))
	f.Add(uint8(1), int64(-100), int64(1<<40), int64(0), int64(3), uint8(3), uint8(1))
	defs := []Definition{
		parse(f, "a", "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'\nretry = 2"),
		parse(f, "b", "gate = 'cron'\nschedule = '*/7 2,3 * * *'\ncatch_up = true\ntimezone = "+
			"'Europe/Berlin'\nexec = 'x'"),
		parse(f, "c", "gate = 'cron'\nschedule = '30 * * * *'\noverlap = 'queue'\nexec = 'x'"),
		parse(f, "d", "gate = 'event'\non = '*'\nexec = 'x'\nretry = 1"),
		parse(f, "e", "gate = 'condition'\ncheck = 'true'\nexec = 'x'"),
	}
	f.Fuzz(func(t *testing.T, which uint8, last, looked, born, failed int64, tries, count uint8) {
		d := defs[int(which)%len(defs)]
		at := func(s int64) time.Time {
			if s == 0 {
				return time.Time{}
			}
			return noon().Add(time.Duration(s%(20*365*86400)) * time.Second)
		}
		facts := Facts{Last: at(last), JudgedAt: at(looked), Born: at(born), Tries: int(tries % 4),
			FailedAt: at(failed), Events: EventFacts{Count: int(count)}}
		v := Judge(d, facts, noon())
		if v.Reason == "" || v.Due && (v.Skip || v.Keep || v.Ask || v.Opening.IsZero()) {
			t.Fatalf("%+v", v)
		}
		if v.Due || v.Next.IsZero() {
			return
		}
		if !v.Next.After(noon()) {
			t.Fatalf("Next = %v, want after %v", v.Next, noon())
		}
		facts.JudgedAt, facts.ScheduleCache = noon(), v.ScheduleCache
		if then := Judge(d, facts, v.Next); !then.Due {
			t.Fatalf("at Next = %v: got %s; then: %s", v.Next, v.Reason, then.Reason)
		}
	})
}

// The cache of search results only saves work. Verdicts are the same with and without it, however the clock is set.
func FuzzScheduleCache(f *testing.F) {
	f.Add(uint64(1), []byte{1, 200, 3, 255, 0, 9})
	d := parse(f, "b", "gate = 'cron'\nschedule = '*/7 2,3 * * 0-3'\ntimezone = "+
		"'America/New_York'\nexec = 'x'")
	f.Fuzz(func(t *testing.T, start uint64, steps []byte) {
		now := noon().Add(time.Duration(start%31_536_000) * time.Second)
		var facts, bare Facts
		for i, s := range steps[:min(len(steps), 40)] {
			now = now.Add(time.Duration(int8(s)) * time.Duration(1+i%7*i%5*3600) * time.Second)
			d.CatchUp = i%9 > 5
			v, w := Judge(d, facts, now), Judge(d, bare, now)
			if brief(v) != brief(w) {
				t.Fatalf("at %v: got %s, without a cache %s", now, brief(v), brief(w))
			}
			facts.JudgedAt, bare.JudgedAt, facts.ScheduleCache = now, now, v.ScheduleCache
			if v.Due {
				facts.Last, bare.Last = now, now
			}
			facts.Born, bare.Born = noon(), noon()
		}
	})
}

func BenchmarkJudge100(b *testing.B) {
	var all []Definition
	for i := range 20 {
		name := fmt.Sprintf("a%d", i)
		all = append(all,
			parse(b, name, "gate = 'cooldown'\ninterval = '5m'\nexec = 'x'"),
			parse(b, name, "gate = 'cron'\nschedule = '0 3 * * *'\nexec = 'x'"),
			parse(b, name, "gate = 'cron'\nschedule = '*/5 9-17 * * mon-fri'\ntimezone = "+
				"'Europe/Berlin'\nexec = 'x'"),
			parse(b, name, "gate = 'condition'\ncheck = 'true'\nexec = 'x'"),
			parse(b, name, "gate = 'event'\non = 'bead.closed'\nexec = 'x'"))
	}
	sought := make([]ScheduleCache, len(all))
	f := Facts{Last: ago(time.Minute), JudgedAt: ago(time.Second), Born: ago(time.Hour),
		Check: CheckFacts{Done: true, Code: 1, Asked: ago(time.Second)}, Patrol: time.Minute}
	b.ReportAllocs()
	for b.Loop() {
		for i := range all {
			f.ScheduleCache = sought[i]
			sought[i] = Judge(all[i], f, noon()).ScheduleCache
		}
	}
}
