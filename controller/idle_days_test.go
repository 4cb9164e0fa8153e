package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/config"
)

const chained = `
[daemon]
patrol_interval = "5m"
[[agents]]
name = "worker"
start_command = "run"
[[agents]]
name = "scout"
start_command = "judge"
[[watchdogs]]
name = "care"
watches = "worker"
triage = "scout"
[[watchdogs]]
name = "spare"
watches = "worker"
every = "10m"
`

// In two days without activity, the controller writes no events and starts exactly one triage session per beat.
func TestTwoIdleDays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, chained)
		end := w.begin()
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		time.Sleep(30 * time.Second)
		go func() { defer close(over); w.lives(ctx, "worker", "scout") }()
		const period = 2 * 24 * time.Hour
		time.Sleep(period + time.Minute)
		cancel()
		<-over
		if got, want := w.types(), "controller.started\nagent.started worker"; got != want {
			t.Errorf("the log says:\n%s", got)
		}
		if got, want := w.fake.Started("scout"), int(period/(3*time.Minute)); got != want {
			t.Errorf("got %d beats, want %d", got, want)
		}
		s, _ := w.Snapshot(context.Background())
		for _, d := range s.Watchdogs {
			if d.Failed != 0 || d.Escalated != nil || d.Degraded != "" || d.Last == nil ||
				d.Last.Decision != city.RemedyNothing || len(d.Recent) > 0 {
				t.Errorf("%+v", d)
			}
		}
		end()
	})
}

func (w *town) lives(ctx context.Context, agent, scout string) {
	path := filepath.Join(w.dir, config.HeartbeatFile(agent))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Error(err)
	}
	for ctx.Err() == nil {
		synctest.Wait()
		beat := fmt.Sprintf(`{"timestamp": %q}`, time.Now().UTC().Format(time.RFC3339Nano))
		if err := os.WriteFile(path, []byte(beat), 0o600); err != nil {
			w.t.Error(err)
		}
		s, _ := w.Snapshot(ctx)
		if d, ok := s.Watchdog("care"); ok && d.Triaged != nil {
			if a, _ := s.Agent(scout); a == nil || a.Session == nil {
				w.t.Errorf("a triage is in progress, but its agent has no session")
			}
			if _, err := w.Do(ctx, city.Decide{Watchdog: "care", Decision: city.RemedyNothing,
				Reason: "all is well", Beat: d.Triaged.Beat}); err != nil {
				w.t.Error(err)
			}
			w.fake.Crash(scout, 0, "")
		}
		select {
		case <-ctx.Done():
		case <-time.After(90 * time.Second):
		}
	}
}
