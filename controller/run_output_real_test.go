package controller_test

import (
	"context"
	"testing"
	"time"

	"gcity/city"
)

func begin(t *testing.T, ctx context.Context, c city.Control, name string) string {
	t.Helper()
	for s, err := range c.Snapshots(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := s.Automation(name); ok && a.State == city.AutomationIdle {
			break
		}
	}
	r, err := c.Do(ctx, city.Fire{Automation: name, By: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Bead.ID
}

func ended(t *testing.T, ctx context.Context, c city.Control, name, run string) city.Run {
	t.Helper()
	for s, err := range c.Snapshots(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := s.Automation(name); ok && a.Last != nil && a.Last.ID == run &&
			a.Last.Ended != nil {
			return *a.Last
		}
	}
	t.Fatalf("run %s did not end in time", run)
	return city.Run{}
}

// A slow reader does not slow down a run that prints a lot. The reader learns how many bytes it has missed.
func TestFloodDelaysNoOtherAgent(t *testing.T) {
	const flood = 30_000_000
	c := openWith(t, map[string]string{"flood": "gate = \"manual\"\nexec = \"yes | head -c " +
		"30000000\"\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	run := begin(t, ctx, c, "flood")
	other := make(chan int64, 1)
	go func() {
		var got int64
		for p, err := range c.RunOutput(ctx, run) {
			if err == nil {
				got += p.Dropped + int64(len(p.Text))
			}
		}
		other <- got
	}()
	var total, missed int64
	held := false
	for p, err := range c.RunOutput(ctx, run) {
		if err != nil {
			t.Fatal(err)
		}
		if !held { // wait until the run has ended
			held = true
			if r := ended(t, ctx, c, "flood", run); r.Outcome != "ok" {
				t.Errorf("%+v", r)
			}
		}
		if len(p.Text) > 64<<10 {
			t.Errorf("a piece of %d bytes", len(p.Text))
		}
		total, missed = total+p.Dropped+int64(len(p.Text)), missed+p.Dropped
	}
	// A line break may be inserted after a gap.
	if got := <-other; got < flood || got > flood+flood/64 {
		t.Errorf("bytes read or skipped by the other reader: got %d, want %d", got, flood)
	}
	if total < flood || total > flood+2 || missed == 0 {
		t.Errorf("bytes read or skipped by the slow reader: got %d, want %d; %d skipped",
			total, flood,
			missed)
	}
}

// A run's output ends when the controller ends, even if the run has not ended.
func TestOutputEndsWithController(t *testing.T) {
	c := openWith(t, map[string]string{"endless": "gate = \"manual\"\nexec = \"echo here; exec " +
		"sleep 1000\"\ntimeout = \"1h\"\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	run := begin(t, ctx, c, "endless")
	text, stopped := "", make(chan error, 1)
	for p, err := range c.RunOutput(ctx, run) {
		if err != nil {
			break // the controller ended first
		}
		if text += p.Text; p.Text == "here\n" {
			go func() {
				_, err := c.Do(ctx, city.Shutdown{})
				stopped <- err
			}()
		}
	}
	if ctx.Err() != nil || text != "here\n" {
		t.Fatalf("the stream did not end after %q", text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for _, err := range c.RunOutput(ctx, run) {
		if err != nil {
			t.Errorf("RunOutput after the end: %v", err)
		}
	}
}

func TestRunTimesOut(t *testing.T) {
	c := openWith(t, map[string]string{"slow": "gate = \"manual\"\nexec = \"echo here; exec " +
		"sleep 1000\"\ntimeout = \"100ms\"\nretry = 2\noverlap = \"queue\"\n" +
		"retry_backoff = \"1h\"\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	run := begin(t, ctx, c, "slow")
	if r := ended(t, ctx, c, "slow", run); !r.TimedOut || r.Outcome != "failed" || r.Code != nil {
		t.Errorf("%+v", r)
	}
	for p, err := range c.RunOutput(ctx, run) { // wait until the run is recorded
		if err != nil {
			t.Errorf("%+v, %v", p, err)
		}
	}
	s, err := c.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := s.Automation("slow"); a.Timeout != 100*time.Millisecond || a.Retry != 2 ||
		a.Overlap != "queue" {
		t.Errorf("%+v", a)
	}
}
