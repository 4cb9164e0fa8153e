package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/controller/effect"
)

// While the run records cannot be read, automations are listed with the reason why they do not run.
func TestAutomationsAreListedBeforeTheyRun(t *testing.T) {
	w := newWorld()
	w.stuck["sweep"] = true
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("x")
	w.advance(time.Second)
	if got, want := w.showAutomations(), []string{"a is idle: the records of earlier runs " +
		"are being read"}; !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	w.Step(effect.RunsSwept{Err: errors.New("the disk is on fire")})
	want := "a is idle: the records of earlier runs are not available: work cannot be read: the " +
		"disk is on fire"
	if got := w.showAutomations(); !slices.Equal(got, []string{want}) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	w.Step(effect.RunsSwept{Unclosable: "app-1 (odd)"})
	if got := w.showAutomations(); !slices.Equal(got, []string{"a is idle: manual"}) {
		t.Errorf("shown: %q", got)
	}
	degraded := w.m.Snapshot(w.now).Degraded
	if len(degraded) != 1 || !strings.Contains(degraded[0], "app-1 (odd)") {
		t.Errorf("degraded: %q", degraded)
	}
}
