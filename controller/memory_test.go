package controller

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/restart"
)

// keepOnDisk replaces a town's controller by one that keeps crash histories, as a restart would.
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

// The file is the owner's alone, is there as soon as the crash is, and the next controller begins with it. An orderly
// end writes what a pause had held back.
func TestHistoryOutlivesTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.keepOnDisk(1)
		end := w.begin()
		synctest.Wait()
		w.fake.Crash("a", 3, "")
		synctest.Wait()
		path := filepath.Join(w.dir, ".gc", memoryFile)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatal(info, err)
		}
		w.fake.Crash("a", 4, "") // within the pause after the write before
		synctest.Wait()
		end()
		w.keepOnDisk(1)
		end = w.begin()
		synctest.Wait()
		if w.state("a") != "quarantined" || w.fake.Started("a") != 2 || w.state("b") != "running" {
			t.Errorf("a is %s after %d starts, b is %s", w.state("a"), w.fake.Started("a"), w.state("b"))
		}
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a, _ := s.Agent("a"); a.Crashes != 2 || a.Until == nil || a.Until.Sub(a.Since) < time.Hour-time.Minute || !strings.Contains(fmt.Sprint(a.Decisions), "remembered") {
			t.Errorf("shown: %+v", a)
		}
		if _, err := w.Do(t.Context(), city.Release{Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		end()
		if all, err := readMemory(w.dir); err != nil || len(all) != 0 {
			t.Errorf("after the release: %v, %v", all, err)
		}
	})
}

// A file that cannot be used costs the histories and nothing else; it is told of until it is replaced.
func TestUnusableHistory(t *testing.T) {
	for content, want := range map[string]string{
		"{\"version\":1,\"ci": "damaged",
		"":                    "damaged",
		"[1, 2]\n":            "damaged",
		`{"version":7}`:       "version 7",
		`{"version":1,"city":"/elsewhere","agents":{}}`:                                    `belongs to the city in "/elsewhere"`,
		`{"version":1,"city":"CITY","agents":{"a":{"fingerprint":"x","state":"running"}}}`: `waits in the state "running"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, two)
			content := strings.ReplaceAll(content, "CITY", w.dir)
			if err := os.WriteFile(filepath.Join(w.dir, ".gc", memoryFile), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			w.keepOnDisk(5)
			defer w.begin()()
			synctest.Wait()
			if w.state("a") != "running" || !strings.Contains(w.degraded(), want) || !strings.Contains(w.degraded(), "clean slate") {
				t.Errorf("%q: a is %s, told: %s", content, w.state("a"), w.degraded())
			}
			w.fake.Crash("a", 3, "")
			time.Sleep(time.Minute) // on the bubble's clock
			synctest.Wait()
			if all, err := readMemory(w.dir); err != nil || len(all["a"].Crashes) != 1 || w.degraded() != "" {
				t.Errorf("%q: then %v, %v; told: %s", content, all, err, w.degraded())
			}
		})
	}
}

// A folder that cannot be written to is told of, and the agents go on; with room again nothing has been lost.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		path := filepath.Join(w.dir, ".gc", memoryFile)
		if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.keepOnDisk(5)
		defer w.begin()()
		synctest.Wait()
		w.fake.Crash("a", 3, "")
		time.Sleep(time.Second)
		synctest.Wait()
		if w.state("a") != "running" || !strings.Contains(w.degraded(), "crash histories are not kept") {
			t.Errorf("a is %s, told: %s", w.state("a"), w.degraded())
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * rememberRetry)
		synctest.Wait()
		if all, err := readMemory(w.dir); err != nil || len(all["a"].Crashes) != 1 || w.degraded() != "" {
			t.Errorf("%v, %v; told: %s", all, err, w.degraded())
		}
	})
}

// Whatever the clock was when the file was written, no agent waits longer than it can have to, and nothing lies ahead
// that has happened (L13). What was written is what is read.
func FuzzMemory(f *testing.F) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{-time.Hour, 0, time.Minute, 3 * 24 * time.Hour, 1 << 62} {
		content, err := json.Marshal(memoryOf[map[string]memo]{memoryVersion, "/app", map[string]memo{
			"a": {Fingerprint: want("a").Spec.Fingerprint.Sum, State: city.Quarantined, Until: at.Add(ahead), Since: at.Add(ahead), Why: "x",
				History: restart.History{Crashes: []time.Time{at.Add(ahead), at, at.Add(-time.Minute)}, Streak: 3}, End: "s1"},
			"b": {Fingerprint: want("b").Spec.Fingerprint.Sum, State: city.Backoff, Until: at.Add(ahead), History: restart.History{Streak: -1}},
		}})
		if err != nil {
			continue // a year that JSON does not know
		}
		f.Add(content)
	}
	f.Add([]byte(`{"version":1,"city":"/app","agents":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		all, err := decodeMemory(content, "/app")
		if err != nil {
			return
		}
		w := newWorld()
		w.onDisk = true
		w.m.keeper.recalled = all
		w.declare("a", "b")
		for _, a := range w.m.order {
			if a.notBefore.Sub(w.now) > time.Hour || a.hold == city.Backoff && a.notBefore.Sub(w.now) > 33*time.Second {
				t.Errorf("%s waits until %s, now is %s", a.name, a.notBefore, w.now)
			}
			if a.since.After(w.now) || len(a.history.Crashes) > a.want.Policy.MaxRestarts || a.history.Streak < 0 {
				t.Errorf("%s since %s: %+v", a.name, a.since, a.history)
			}
			for _, c := range a.history.Crashes {
				if c.After(w.now) || w.now.Sub(c) >= time.Hour {
					t.Errorf("%s has crashed at %s, now is %s", a.name, c, w.now)
				}
			}
		}
		agents, err := w.m.memory()
		if err != nil {
			t.Fatal(err)
		}
		again := map[string]memo{}
		if err := json.Unmarshal(agents, &again); err != nil {
			t.Fatal(err)
		}
		w.m.keeper.recalled = again
		w.m.recall(w.now)
		for _, a := range w.m.order {
			if !a.blank() && a.notBefore.After(w.now) && !a.asKept() {
				t.Errorf("%s is %+v, written as %+v", a.name, a.history, a.kept)
			}
		}
	})
}
