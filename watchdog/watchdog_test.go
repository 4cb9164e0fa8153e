package watchdog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var spec = Spec{Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute}

const tick = time.Nanosecond

// Judge follows the decision matrix on both sides of every boundary.
func TestJudge(t *testing.T) {
	lives := Facts{Alive: true}
	with := func(change func(*Facts)) Facts { f := lives; change(&f); return f }
	at := func(age time.Duration, mail int) Facts {
		return with(func(f *Facts) { f.Age, f.Mail = age, mail })
	}
	mute := func(f Facts) Facts { f.CannotType = "its provider cannot type"; return f }
	called := func(f Facts) Facts { f.Alive, f.IsTriage = false, true; return f }
	for _, c := range []struct {
		name string
		f    Facts
		want Decision
		is   Freshness
		says string
	}{
		{"dead", Facts{EndState: "has exited (exit 1)"}, Start, Dead, "it has no session and has exited (exit 1)"},
		{"dead, with a fresh heartbeat", Facts{Age: time.Second}, Start, Dead, "it has no session"},
		{"dead, with mail", Facts{Age: time.Hour, Mail: 3}, Start, Dead, "it has no session"},
		{"dead, but already starting", Facts{Starting: true, EndState: "is starting (as declared)"}, Nothing, Dead, "it has no session yet and is starting (as declared)"},
		{"just now", at(0, 5), Nothing, Fresh, "its heartbeat is 0s old"},
		{"just before it is stale", at(spec.Fresh-tick, 5), Nothing, Fresh, "5m old"},
		{"just stale, with mail", at(spec.Fresh, 1), Nudge, Stale, "its heartbeat is 5m old (stale from 5m on), and 1 message is waiting"},
		{"just stale, without mail", at(spec.Fresh, 0), Nothing, Stale, "no mail is waiting"},
		{"still stale, with mail", at(spec.VeryStale, 2), Nudge, Stale, "2 messages are waiting"},
		{"still stale, without mail", at(spec.VeryStale, 0), Nothing, Stale, "no mail is waiting"},
		{"very stale", at(spec.VeryStale+tick, 0), Wake, VeryStale, "its heartbeat is 15m old; the limit is 15m"},
		{"very stale, with mail", at(spec.VeryStale+tick, 2), Wake, VeryStale, "the limit is 15m"},
		{"a day", at(25*time.Hour+10*time.Minute, 0), Wake, VeryStale, "25h10m old"},
		{"cannot be typed into: fresh", mute(at(time.Minute, 1)), Nothing, Fresh, "1m old"},
		{"cannot be typed into: stale, with mail", mute(at(spec.Fresh, 1)), Nothing, Stale, "but its provider cannot type"},
		{"cannot be typed into: very stale", mute(at(spec.VeryStale+tick, 1)), Restart, VeryStale, "its provider cannot type"},
		{"no heartbeat", with(func(f *Facts) { f.Age, f.NoHeartbeat = time.Hour, true }), Wake, VeryStale, "no heartbeat for 1h since the session started"},
		{"frozen", with(func(f *Facts) { f.Age, f.Frozen = time.Hour, true }), Wake, VeryStale, "SIGSTOP"},
		{"broken", with(func(f *Facts) { f.Problem = "its heartbeat is empty" }), Nothing, Fresh, "; its heartbeat is empty"},
		{"stuck", with(func(f *Facts) { f.Stuck, f.SilentKnown, f.Silent = true, true, 90*time.Second }), Nothing, Fresh, "it has printed nothing for 1m30s"},
		{"called, at rest", called(at(time.Minute, 0)), Nothing, Fresh, "no decision or heartbeat for 1m"},
		{"called, late", called(at(spec.Fresh, 1)), Nothing, Stale, "for its next check"},
		{"called, silent", called(at(spec.VeryStale+tick, 1)), Start, VeryStale, "the limit is 15m"},
	} {
		v := Judge(spec, c.f)
		if v.Decision != c.want || v.Freshness != c.is || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: got %q, %q, %q", c.name, v.Decision, v.Freshness, v.Reason)
		}
	}
}

// An older heartbeat never leads to a milder decision than a newer one. An agent that cannot receive text is neither
// nudged nor woken.
func FuzzJudge(f *testing.F) {
	f.Add(true, int64(time.Minute), int64(time.Hour), 1, false, false)
	f.Fuzz(func(t *testing.T, alive bool, a, b int64, mail int, mute, called bool) {
		if a < 0 || b < a {
			t.Skip("b must not be younger than a, and neither may be in the future")
		}
		facts := Facts{Alive: alive, Mail: max(0, mail), IsTriage: called}
		if mute {
			facts.CannotType = "it cannot receive text"
		}
		rank := map[Decision]int{Nothing: 0, Nudge: 1, Wake: 2, Restart: 2, Start: 2}
		facts.Age = time.Duration(a)
		young := Judge(spec, facts)
		facts.Age = time.Duration(b)
		old := Judge(spec, facts)
		if rank[old.Decision] < rank[young.Decision] {
			t.Errorf("got %s at age %s, but only %s at age %s",
				young.Decision, time.Duration(a), old.Decision, time.Duration(b))
		}
		for _, v := range []Verdict{young, old} {
			if v.Reason == "" {
				t.Error("no reason")
			}
			if (mute || !alive) && (v.Decision == Wake || v.Decision == Nudge) {
				t.Errorf("got %s although text cannot be typed", v.Decision)
			}
			if alive && v.Decision == Start {
				t.Error("got start for a live agent")
			}
		}
	})
}

func TestSight(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(m int) time.Time { return noon.Add(time.Duration(m) * time.Minute) }
	age := func(s Sighting, now time.Time) time.Duration { d, _ := s.Age(now); return d }

	var s Sighting
	if _, ok := s.Age(noon); ok {
		t.Error("the zero Sighting has an age")
	}
	s = s.Update(at(-4), time.Time{}, noon) // the first read trusts the timestamp
	if got := age(s, at(1)); got != 5*time.Minute {
		t.Error("age at the first read:", got)
	}
	if s.Update(at(-4), noon, at(3)) != s || s.Update(time.Time{}, noon, at(3)) != s {
		t.Error("an unchanged or missing timestamp changed the Sighting")
	}
	// The local clock was set forward, or the writer's clock is slow.
	if got := age(s.Update(at(-600), at(3), at(6)), at(6)); got != 3*time.Minute {
		t.Error("written between two reads:", got)
	}
	for _, c := range []struct {
		name string
		s    Sighting
		want bool
	}{
		{"seen before", s, false},
		{"dated after it", s.Update(at(5), at(3), at(6)), true},
		{"dated in the same second", s.Update(at(4).Add(-time.Second+tick), at(3), at(6)), true},
		{"dated before it, though not seen before", s.Update(at(4).Add(-time.Second), at(3), at(6)), false},
		{"dated before it, after a long time without a read", s.Update(at(3), at(1), at(6)), false},
		{"dated before the read that did not see it", s.Update(at(-600), at(3), at(6)), true},
	} {
		if c.s.After(at(4)) != c.want {
			t.Errorf("%s: got After = %t", c.name, !c.want)
		}
	}
	future := s.Update(at(600), at(3), at(6))
	if got := age(future, at(6)); got != 0 {
		t.Error("timestamp in the future: age", got)
	}
	if got := age(future, at(30)); got != 24*time.Minute {
		t.Error("timestamp in the future, unchanged: age", got)
	}
	if future.SeenAfter(at(6)) || !future.SeenAfter(at(5)) {
		t.Error("SeenAfter is wrong")
	}
}

func TestParse(t *testing.T) {
	want := time.Date(2026, 1, 2, 18, 30, 0, 0, time.UTC)
	for _, text := range []string{
		`{"timestamp": "2026-01-02T18:30:00Z", "cycle": 42, "last_action": "health-scan", "healthy_agents": 3, "unhealthy_agents": 0}`,
		`{"timestamp":"2026-01-02T20:30:00+02:00"}`, `{"timestamp":"2026-01-02T20:30:00+0200"}`, `{"timestamp":"2026-01-02 18:30:00Z"}`,
		`{"timestamp": 1767378600}`, "\xef\xbb\xbf" + `{"timestamp": 1767378600.0}` + "\n",
	} {
		if got, err := Parse([]byte(text)); err != nil || !got.Stamp.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"": "is empty", " \n": "is empty", "2026-01-02T18:30:00Z": "is not a JSON object", `"now"`: "is not a JSON object", `{"timestamp": "20`: "is not a JSON object",
		"{}": `has no "timestamp"`, `{"timestamp": null}`: `has no "timestamp"`, `{"timestamp": "now"}`: "has an invalid \"timestamp\"", `{"timestamp": true}`: "has an invalid \"timestamp\"",
		`{"timestamp": -5}`: "has an invalid \"timestamp\"", `{"timestamp": 1e99}`: "has an invalid \"timestamp\"", `{"timestamp": "2026-01-02"}`: "has an invalid \"timestamp\"", `{"timestamp": 5}`: "has an invalid \"timestamp\"",
		strings.Repeat(" ", MaxHeartbeat+1): "is larger than 64 KiB", "[]": "is not a JSON object",
	} {
		if got, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: got %v, %v, want %q", text, got, err, says)
		}
	}
}

// A heartbeat may report the numbers of healthy and unhealthy agents. Invalid numbers are ignored.
func TestReportedAgents(t *testing.T) {
	text := func(n *int) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for says, want := range map[string]string{
		``: "- -", `, "healthy_agents": 3, "unhealthy_agents": 0`: "3 0", `, "unhealthy_agents": 1`: "- 1", `, "healthy_agents": null`: "- -",
		`, "healthy_agents": "3"`: "- -", `, "healthy_agents": -1, "unhealthy_agents": 1.5`: "- -", `, "healthy_agents": 1e99, "unhealthy_agents": 99999999999`: "- -",
	} {
		got, err := Parse([]byte(`{"timestamp": "2026-01-02T18:30:00Z"` + says + "}"))
		if have := text(got.Healthy) + " " + text(got.Unhealthy); err != nil || have != want {
			t.Errorf("%s: got %s, %v, want %s", says, have, err, want)
		}
	}
}

// Parse accepts any input. It returns a valid time, or an error that is safe to print.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"timestamp": "2026-01-02T18:30:00Z"}`))
	f.Add([]byte(`{"timestamp": 1767378600}`))
	f.Add([]byte("{\"timestamp\": \"\x1b[2J\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data)
		if err == nil && (got.Stamp.Year() < 1971 || got.Stamp.Year() > 9999) {
			t.Error(got)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q", err)
		}
	})
}

func TestAhead(t *testing.T) {
	now := time.Unix(1e9, 0)
	for d, says := range map[time.Duration]string{-time.Hour: "", 0: "", time.Minute: "", time.Minute + 1: "1m in the future", 3 * time.Hour: "3h in the future"} {
		if got := Ahead(now.Add(d), now); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%s: %q", d, got)
		}
	}
}

// A chain counts the actions that did not help.
func TestChain(t *testing.T) {
	const every = 3 * time.Minute
	for _, c := range []struct {
		name string
		// beats has one letter per beat: d dead, b starting, x stopping, s stale, v very stale, f fresh, h new
		// heartbeat, V new heartbeat that is already very stale, y new session without a heartbeat, n very stale but
		// without an action.
		beats string
		want  string // number of failed actions after each beat; ! = recovered
	}{
		{"well", "hhhh", "0 0 0 0"},
		{"wakes that do not help", "vvvv", "0 1 2 3"},
		{"a wake that helps", "vvh", "0 1 0!"},
		{"a first wake that helps is not a recovery", "vh", "0 0"},
		{"a heartbeat, but very stale again at the next beat", "vVv", "0 0 1"},
		{"beats without an action do not count", "vnnv", "0 1 1 1"},
		{"a heartbeat after a beat without an action", "vnf", "0 1 0!"},
		{"starts that do not help", "dddd", "0 1 2 3"},
		{"a start has not helped before the first heartbeat", "dyyvh", "0 0 0 1 0!"},
		{"a new session after a wake gets time to start", "vydh", "0 0 1 0!"},
		{"a slow start", "dbbbyh", "0 0 0 0 0 0"},
		{"a slow start that fails", "dbbd", "0 0 0 1"},
		{"a wake, then a restart by something else", "vbyh", "0 0 0 0"},
		{"a restart in progress has not failed", "vxxxbyv", "0 0 0 0 0 0 1"},
		{"a wake of a stopping session has not failed", "vxxdh", "0 0 0 1 0!"},
		{"nudges do not count as wakes", "ssss", "0 0 0 0"},
	} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var chain Chain
		heartbeat := Sighting{}.Update(now.Add(-time.Hour), time.Time{}, now)
		var got []string
		for _, b := range c.beats {
			f := Facts{Alive: b != 'd' && b != 'b', Starting: b == 'b', Stopping: b == 'x', Age: time.Hour, NoHeartbeat: b == 'y'}
			switch b {
			case 'f', 'h', 'y':
				f.Age = time.Minute
			case 's':
				f.Age, f.Mail = 6*time.Minute, 1
			}
			if b == 'h' || b == 'V' {
				heartbeat = heartbeat.Update(now, now.Add(-every), now)
			}
			v := Judge(spec, f)
			var well bool
			chain, well = chain.Before(heartbeat, f, v)
			got = append(got, fmt.Sprint(chain.Failed)+map[bool]string{true: "!"}[well])
			if b != 'n' {
				chain = chain.After(v.Decision, now)
			}
			now = now.Add(every)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

// A stopped process is woken twice and then restarted. A running process is woken, but not restarted.
func TestFrozen(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		beats string // one letter per beat: f = stopped by a signal, r = running, x = stopping; all are very stale
		want  string
	}{
		{"ffff", "wake wake restart wake"},
		{"frff", "wake wake restart wake"},
		{"rrrr", "wake wake wake wake"},
		{"ffxf", "wake wake nothing restart"},
	} {
		var chain Chain
		var got []string
		for _, b := range c.beats {
			f := Facts{Alive: true, Age: time.Hour, Frozen: b == 'f', Stopping: b == 'x'}
			chain, _ = chain.Before(Sighting{}, f, Judge(spec, f))
			f.Wakes = chain.Wakes
			v := Judge(spec, f)
			got = append(got, string(v.Decision))
			if b == 'f' && f.Wakes >= 2 && !strings.Contains(v.Reason, "2 wakes failed") {
				t.Errorf("%s: %s", c.beats, v.Reason)
			}
			chain = chain.After(v.Decision, now)
			now = now.Add(3 * time.Minute)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.beats, text, c.want)
		}
	}
}

// A triage agent spares an agent if its decision is milder than the thresholds'.
func TestSpare(t *testing.T) {
	for _, c := range []struct {
		// says has one letter per event. A decision is n (nothing), m (nudge), w (wake), s (start) or p (made by a
		// user). A new heartbeat is h (very stale) or f (fresh).
		says string
		want string
	}{
		{"nnnn", "1 2 3 4"},
		{"nmn", "1 2 3"},
		{"nnwn", "1 2 0 1"},
		{"nsn", "1 0 1"},
		{"nnpn", "1 2 0 1"},
		{"nnhnn", "1 2 1 2"},
		{"nfn", "1 0 1"},
	} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		heartbeat := Sighting{}.Update(now.Add(-time.Hour), time.Time{}, now)
		var chain Chain
		var got []string
		for _, b := range c.says {
			now = now.Add(3 * time.Minute)
			if b == 'h' {
				heartbeat = heartbeat.Update(now.Add(-30*time.Minute), time.Time{}, now)
				continue
			}
			f := Facts{Alive: true, Age: time.Hour}
			if b == 'f' {
				f.Age = time.Minute
			}
			d := map[rune]Decision{'n': Nothing, 'm': Nudge, 'w': Wake, 's': Start, 'f': Nothing}[b]
			chain = chain.Spare(heartbeat, Judge(spec, f), d)
			got = append(got, fmt.Sprint(chain.Spared))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.says, text, c.want)
		}
	}
}
