package mirror_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gcity/events"
	"gcity/events/mirror"
	"gcity/internal/eventually"
)

func city(t *testing.T, record string) (mirror.Options, *events.Log) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script")
	text := "#!/bin/sh\ncase \"$1\" in\nrecord) " + record + " ;;\nlatest-seq) echo 7 ;;\n*) exit 2 ;;\nesac\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := events.Open(dir, events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return mirror.Options{Script: path, Dir: dir, State: dir, Log: log, Env: []string{"PATH=" + os.Getenv("PATH")}, Logger: slog.New(slog.DiscardHandler)}, log
}

func write(t *testing.T, log *events.Log, types ...string) {
	t.Helper()
	for _, kind := range types {
		if _, err := log.Append(events.Event{Type: kind, Actor: "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, o mirror.Options, enough func([]events.Event) bool) []events.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { mirror.Run(ctx, o) })
	defer all.Wait()
	defer cancel()
	var got []events.Event
	eventually.True(t, "all events to reach the script", func() bool { got = told(t, o.Dir); return enough(got) }, func() string { return fmt.Sprintf("the script received %+v", got) })
	return got
}

func told(t *testing.T, dir string) (all []events.Event) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "told"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var e events.Event
		if json.Unmarshal(s.Bytes(), &e) == nil { // the last line can be incomplete
			all = append(all, e)
		}
	}
	return all
}

func types(all []events.Event) string {
	var out []string
	for _, e := range all {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

const keeps = `printf '%s\n' "$(cat)" >>told`

// The script gets every event in the log, in order and with its seq. After a restart, it continues at the same position
// (L9).
func TestEveryEventInOrder(t *testing.T) {
	o, log := city(t, keeps)
	write(t, log, "a.a", "b.b")
	run(t, o, func(got []events.Event) bool { return len(got) == 2 })
	write(t, log, "c.c")
	got := run(t, o, func(got []events.Event) bool { return len(got) >= 3 })
	if types(got) != "a.a b.b c.c" || got[0].Seq != 1 || got[2].Seq != 3 || got[2].TS.IsZero() {
		t.Errorf("%+v", got)
	}
	if at, err := mirror.Load(o.State); err != nil || at.Seq != 3 || at.Missed != 0 {
		t.Errorf("%+v, %v", at, err)
	}
	if n, err := mirror.Newest(t.Context(), o); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
}

// The script gets this process's environment without any session's variables.
func TestEnviron(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://builder")
	t.Setenv("GC_SESSION_ID", "of-a-session")
	o, log := city(t, `env >environ; `+keeps)
	write(t, log, "a.b")
	run(t, o, func(all []events.Event) bool { return len(all) > 0 })
	got, err := os.ReadFile(filepath.Join(o.Dir, "environ"))
	if err != nil || !strings.Contains(string(got), "DOCKER_HOST=tcp://builder\n") || strings.Contains(string(got), "of-a-session") {
		t.Errorf("environment of the script: got %s (%v)", got, err)
	}
}

// A failing script misses no events. Its failure and its recovery are recorded as events. The script gets them after it
// works again.
func TestFailingScript(t *testing.T) {
	t.Parallel()
	o, log := city(t, `echo x >>tries; [ $(wc -l <tries) -gt 3 ] || { echo full >&2; exit 1; }; `+keeps)
	write(t, log, "a.a", "b.b")
	got := run(t, o, func(got []events.Event) bool { return len(got) >= 4 })
	if types(got) != "a.a b.b "+mirror.Failing+" "+mirror.Healed || !strings.Contains(got[2].Message, `"record" operation failed (exit code 1): full`) {
		t.Errorf("%+v", got)
	}
}

// A script that falls far behind gets a single event in place of the skipped ones, with the seq of the last one.
func TestFarBehind(t *testing.T) {
	t.Parallel()
	o, log := city(t, `[ "$(grep -c . told)" != 3 ] || exit 1; `+keeps) // without this, Run sends all events
	batch := make([]events.Event, mirror.MaxBehind+10)
	for i := range batch {
		batch[i] = events.Event{Type: "n.n", Actor: "x"}
	}
	if _, err := log.Append(batch...); err != nil {
		t.Fatal(err)
	}
	got := run(t, o, func(got []events.Event) bool { return len(got) >= 3 })
	if got[0].Type != events.Gap || got[0].Seq != 10 || !strings.Contains(string(got[0].Payload), `"count":10`) || got[1].Seq != 11 {
		t.Errorf("%+v", got[:2])
	}
	if at, err := mirror.Load(o.State); err != nil || at.Missed != 10 {
		t.Errorf("%+v, %v", at, err)
	}
}

// Mirroring starts from the beginning if the state file names another script, has a seq beyond the log, or cannot be
// read.
func TestMirrorFromStart(t *testing.T) {
	for _, state := range []string{`{"script":"another","seq":2}`, `{"script":"SCRIPT","seq":900}`, "no JSON"} {
		o, log := city(t, keeps)
		write(t, log, "a.a", "b.b")
		if err := os.WriteFile(filepath.Join(o.State, "events-mirror.json"), []byte(strings.ReplaceAll(state, "SCRIPT", o.Script)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t, o, func(got []events.Event) bool { return len(got) >= 2 }); types(got) != "a.a b.b" {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

func TestMissingScript(t *testing.T) {
	o, _ := city(t, keeps)
	o.Script += "-not"
	if _, err := mirror.Newest(t.Context(), o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// When the city stops, a failing script is not retried. The city waits for a hanging script only once.
func TestNoRetryAfterStop(t *testing.T) {
	for _, tc := range []struct {
		name, record string
		running      bool // the city stops while the script is running
	}{
		{"it fails", `echo x >>tries; exit 1`, false},
		{"it hangs", `echo x >>tries; exec sleep 100`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, log := city(t, tc.record)
			write(t, log, "a.a", "b.b")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tries := func() int {
				text, err := os.ReadFile(filepath.Join(o.Dir, "tries"))
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
				return strings.Count(string(text), "x")
			}
			if !tc.running {
				cancel()
			}
			var all sync.WaitGroup
			defer all.Wait()
			all.Go(func() {
				defer cancel()
				eventually.Poll(func() bool { return !tc.running || tries() > 0 || ctx.Err() != nil })
			})
			mirror.Run(ctx, o)
			if n := tries(); n != 1 {
				t.Errorf("calls of the script: got %d, want 1", n)
			}
		})
	}
}
