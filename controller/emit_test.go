package controller

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/events"
)

// If the disk is full, a client's event is rejected. The controller's own events wait for space, and the snapshot shows
// how many are waiting.
func TestEmitOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		gc := filepath.Join(w.dir, ".gc")
		if err := syscall.Mount("tmpfs", gc, "tmpfs", 0, "size=4m"); err != nil {
			t.Skipf("cannot mount a small disk: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(gc, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		end := w.begin()
		synctest.Wait()
		emit := func(kind string) error {
			_, err := w.Do(t.Context(), city.Emit{Event: events.Event{Type: kind, Actor: "a"}})
			return err
		}
		degraded := func() string {
			time.Sleep(time.Minute) // two patrols
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(s.Degraded, "\n")
		}
		if err := emit("client.first"); err != nil {
			t.Fatal(err)
		}

		ballast := filepath.Join(gc, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err,
			syscall.ENOSPC) {
			t.Fatal(err)
		}
		for err := error(nil); err == nil; { // fill the reserved space of the log
			_, err = w.o.Log.Append(events.Event{Type: "test.big",
				Payload: json.RawMessage(`"` + strings.Repeat("x", 60_000) + `"`)})
		}
		var refused *city.Error
		if err := emit("client.refused"); !errors.As(err, &refused) ||
			refused.Code != city.Unavailable ||
			!strings.Contains(err.Error(), "Free some space. Then try again") {
			t.Errorf("client event on a full disk: got %v", err)
		}
		if _, err := w.Do(t.Context(), city.Restart{Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		if d := degraded(); !strings.Contains(d, "queued in memory") ||
			strings.Contains(d, " 1 is queued") {
			t.Errorf("degraded: %q", d)
		}

		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if d := degraded(); d != "" {
			t.Errorf("degraded after space was freed: got %q", d)
		}
		if err := emit("client.last"); err != nil {
			t.Error(err)
		}
		end()
		if all := w.types(); strings.Contains(all, "client.refused") ||
			!strings.Contains(all, "client.last") || strings.Count(all, events.AgentStarted) != 3 {
			t.Errorf("events in the log: got %s", all)
		}
		w.gapless()
	})
}
