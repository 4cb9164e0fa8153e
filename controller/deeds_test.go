package controller

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/internal/eventually"
)

// What a file of deeds holds that cannot be used is kept beside, before the file is replaced; and what can be used is.
func TestDeedsThatCannotBeUsed(t *testing.T) {
	const well = `"well":{"born":"2026-01-01T00:00:00Z","on":"x.y","cursor":7}`
	for name, c := range map[string]struct {
		file, why string
		known     int
	}{
		"cut off":     {`{"version":1,"automations":{` + well, "it is damaged", 0},
		"of later":    {`{"version":2,"automations":{` + well + `}}`, "it has version 2, and this program reads 1", 0},
		"one is bad":  {`{"version":1,"automations":{` + well + `,"bad":{"cursor":"x"}}}`, "bad: ", 1},
		"as it is":    {`{"version":1,"automations":{` + well + `}}`, "", 1},
		"of no order": {"\x00\x00\x00", "it is damaged", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, two)
			path := filepath.Join(w.dir, ".gc", deedsFile)
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			next, err := New(w.o, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := writeDeeds(w.dir, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(path + ".bad")
			told := strings.Join(next.snap.Load().Degraded, "\n")
			if c.why == "" {
				if err == nil || told != "" {
					t.Errorf("kept %q, told %q", kept, told)
				}
			} else if string(kept) != c.file || !strings.Contains(told, c.why) || !strings.Contains(told, ".gc/automations.json.bad") {
				t.Errorf("kept %q (%v), told %q", kept, err, told)
			}
			if n := len(next.m.work.deeds); n != c.known {
				t.Errorf("%d automations are remembered", n)
			}
		})
	}
}

// Without its memory a controller goes on from what the records of runs say, and hands in the events since.
func TestRecordsStandInForDeeds(t *testing.T) {
	w := newWorld()
	w.stuck["scan"] = true
	if err := w.automate([]string{"a", "gate=event", "on=job.done"}); err != nil {
		t.Fatal(err)
	}
	w.m.work.forgot = "the file is damaged"
	w.declare("x")
	w.advance(time.Second)
	for range 9 {
		w.emit("job.done")
	}
	run := func(seq uint64, ago time.Duration) city.Run {
		return city.Run{Automation: "a", Opened: w.now.Add(-ago), Seq: seq, Outcome: string(automation.OK)}
	}
	clear(w.stuck)
	w.step(effect.RunsSwept{Runs: []city.Run{run(5, time.Minute), run(3, time.Hour)}})
	if w.floor.after != 5 {
		t.Errorf("events are handed in from %d on", w.floor.after)
	}
	if m := w.m.work.runs.Memory()["a"]; m.From != 3 || m.Cursor != 5 || m.On != "job.done" {
		t.Errorf("remembered: %+v", m)
	}
	w.advance(time.Minute)
	if d := w.m.snapshot(w.now).Degraded; len(d) != 1 || d[0] != "the file is damaged" {
		t.Errorf("told: %q", d)
	}
	w.advance(2 * time.Hour)
	if d := w.m.snapshot(w.now).Degraded; len(d) != 0 {
		t.Errorf("told for ever: %q", d)
	}
}

// When events cannot be read any more that is told, and they are followed anew from where they were dealt with (L7).
func TestTheEndOfEventsIsNoticed(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=event", "on=job.done"}); err != nil {
		t.Fatal(err)
	}
	w.declare("x")
	w.advance(time.Second)
	w.floor.types = nil // nobody hands events in
	w.step(effect.FollowEnded{Follow: w.m.work.follow, Err: errors.New("too many open files")})
	w.emit("job.done")
	degraded := func() string { return strings.Join(w.m.snapshot(w.now).Degraded, "\n") }
	if want := "events for automations cannot be read: too many open files"; degraded() != want {
		t.Errorf("told: %q, want %q", degraded(), want)
	}
	w.advance(w.m.conf.Patrol)
	if degraded() == "" {
		t.Error("taken for well before it has shown")
	}
	w.hand()
	if w.floor.going["a"].Bead == "" {
		t.Errorf("the event is lost: %q", w.showAutomations())
	}
	w.advance(w.m.conf.Patrol)
	if degraded() != "" {
		t.Errorf("told for ever: %q", degraded())
	}
}

// The events of a log that is closed under its followers are an input too.
func TestFollowersTellOfTheirEnd(t *testing.T) {
	w, _ := workTown(t)
	w.runner.followEvents(effect.Follow{Types: []string{"x"}})
	if err := w.o.Log.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.runner.finish(false)
	in := eventually.Receive(t, "something is told", w.inbox)
	if d, ok := in.(effect.FollowEnded); !ok || d.Err == nil {
		t.Errorf("%T %+v", in, in)
	}
}
