package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/memory"
)

func (w *town) keepOnDisk(maxRestarts int) {
	w.t.Helper()
	cfg, err := config.Load(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.Daemon.CrashHistory, cfg.Daemon.MaxRestarts = "disk", maxRestarts
	if w.Controller, err = New(w.o, cfg); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) degraded() string {
	s, err := w.Snapshot(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(s.Degraded, "\n")
}

// Only its owner can read the history file. It is written right after a crash and at a clean shutdown. The next
// controller loads it.
func TestHistoryOutlivesTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.keepOnDisk(1)
		end := w.begin()
		synctest.Wait()
		w.fake.Crash("a", 3, "")
		synctest.Wait()
		path := filepath.Join(w.dir, ".gc", memory.CrashHistoryFile)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatal(info, err)
		}
		w.fake.Crash("a", 4, "") // within the minimum interval after the previous write
		synctest.Wait()
		end()
		w.keepOnDisk(1)
		end = w.begin()
		synctest.Wait()
		if w.state("a") != "quarantined" || w.fake.Started("a") != 2 || w.state("b") != "running" {
			t.Errorf("a is %s after %d starts, b is %s", w.state("a"), w.fake.Started("a"),
				w.state("b"))
		}
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a, _ := s.Agent("a"); a.Crashes != 2 || a.Until == nil ||
			a.Until.Sub(a.Since) < time.Hour-time.Minute ||
			a.Quarantine == nil || a.Quarantine.LastCrash != "exit 4" ||
			!strings.Contains(fmt.Sprint(a.Decisions), "), from the previous controller") {
			t.Errorf("shown: %+v", a)
		}
		if _, err := w.Do(t.Context(), city.Release{Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s, err = w.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, _ := s.Agent("a"); a.Quarantine != nil {
			t.Errorf("after the release: got %+v", a.Quarantine)
		}
		end()
		if all, err := memory.ReadHistories(w.dir); err != nil || len(all.Agents) != 0 {
			t.Errorf("after the release: got %v, %v", all, err)
		}
	})
}

// An agent's suspension keeps its start time when the controller stops or restarts. This does not depend on
// crash_history.
func TestASuspensionOutlivesTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two+"suspended = true\n")
		end := w.begin()
		synctest.Wait()
		since := func(s *city.Snapshot, err error) time.Time {
			t.Helper()
			b, ok := s.Agent("b")
			if err != nil || !ok || b.State != city.Suspended {
				t.Fatal(b, err)
			}
			return b.Since
		}
		began := since(w.Snapshot(t.Context()))
		time.Sleep(time.Hour)
		end()
		cfg, err := config.Load(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		past := Past{
			InitialState: machine.InitialState{Observes: &machine.Observation{Stopped: time.Now()}},
			Execute:      func(context.Context, effect.Effect) effect.Input { return nil },
		}
		if at := since(Observe(t.Context(), w.o, cfg, time.Now(), past)); !at.Equal(began) {
			t.Errorf("start of b's suspension without a controller: got %s, want %s", at, began)
		}
		if w.Controller, err = New(w.o, cfg); err != nil {
			t.Fatal(err)
		}
		defer w.begin()()
		synctest.Wait()
		if at := since(w.Snapshot(t.Context())); !at.Equal(began) {
			t.Errorf("start of b's suspension with the next controller: got %s, want %s", at, began)
		}
	})
}

// If the file is unusable, only the histories are lost. The problem is reported until the file is replaced.
func TestUnusableHistory(t *testing.T) {
	for content, want := range map[string]string{
		"{\"version\":1,\"ci": "damaged",
		"":                    "damaged",
		"[1, 2]\n":            "damaged",
		`{"version":7}`:       "version 7",
		`{"version":1,"city":"/elsewhere","agents":{}}`:                                    `belongs to the city in "/elsewhere"`,
		`{"version":1,"city":"CITY","agents":{"a":{"fingerprint":"x","state":"running"}}}`: `has the invalid state "running"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, two)
			content := strings.ReplaceAll(content, "CITY", w.dir)
			if err := os.WriteFile(filepath.Join(w.dir, ".gc", memory.CrashHistoryFile), []byte(content),
				0o600); err != nil {
				t.Fatal(err)
			}
			w.keepOnDisk(5)
			defer w.begin()()
			synctest.Wait()
			if w.state("a") != "running" || !strings.Contains(w.degraded(), want) ||
				!strings.Contains(w.degraded(), "without a crash history") {
				t.Errorf("%q: a is %s, degraded: %s", content, w.state("a"), w.degraded())
			}
			w.fake.Crash("a", 3, "")
			time.Sleep(time.Minute)
			synctest.Wait()
			if all, err := memory.ReadHistories(w.dir); err != nil || len(all.Agents["a"].Crashes) != 1 ||
				w.degraded() != "" {
				t.Errorf("%q: then got %v, %v; degraded: %s", content, all, err, w.degraded())
			}
		})
	}
}

// If the histories cannot be written, the problem is reported, and the agents keep running. No history is lost.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		path := filepath.Join(w.dir, ".gc", memory.CrashHistoryFile)
		if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.keepOnDisk(5)
		defer w.begin()()
		synctest.Wait()
		w.fake.Crash("a", 3, "")
		time.Sleep(time.Second)
		synctest.Wait()
		if w.state("a") != "running" || !strings.Contains(w.degraded(),
			"crash histories cannot be saved") {
			t.Errorf("a is %s, degraded: %s", w.state("a"), w.degraded())
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * machine.SaveRetry)
		synctest.Wait()
		if all, err := memory.ReadHistories(w.dir); err != nil || len(all.Agents["a"].Crashes) != 1 ||
			w.degraded() != "" {
			t.Errorf("got %v, %v; degraded: %s", all, err, w.degraded())
		}
	})
}

// A state file with unusable content is copied to .bad before it is replaced. Its usable entries are kept.
func TestUnusableAutomationState(t *testing.T) {
	const well = `"well":{"born":"2026-01-01T00:00:00Z","on":"x.y","cursor":7}`
	for name, c := range map[string]struct {
		file, why string
		known     int
	}{
		"cut off": {`{"version":1,"automations":{` + well, "the file is damaged", 0},
		"of later": {`{"version":2,"automations":{` + well + `}}`,
			"the file has version 2, but this program reads only version 1", 0},
		"one is bad": {`{"version":1,"automations":{` + well + `,"bad":{"cursor":"x"}}}`, "bad: ",
			1},
		"as it is":    {`{"version":1,"automations":{` + well + `}}`, "", 1},
		"of no order": {"\x00\x00\x00", "the file is damaged", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, two)
			path := filepath.Join(w.dir, ".gc", memory.AutomationsFile)
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			known, _ := memory.ReadAutomations(w.dir) // New reports the error
			next, err := New(w.o, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := memory.WriteAutomations(w.dir, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(path + ".bad")
			told := strings.Join(next.snap.Load().Degraded, "\n")
			if c.why == "" {
				if err == nil || told != "" {
					t.Errorf("kept %q, reported %q", kept, told)
				}
			} else if string(kept) != c.file || !strings.Contains(told, c.why) ||
				!strings.Contains(told, ".gc/automations.json.bad") {
				t.Errorf("kept %q (%v), reported %q", kept, err, told)
			}
			if n := len(known); n != c.known {
				t.Errorf("got %d automations with saved state", n)
			}
		})
	}
}
