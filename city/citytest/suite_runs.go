package citytest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/beads"
	"gcity/city"
)

func outputOf(t *testing.T, ctx context.Context, ctl city.Control, run string) string {
	t.Helper()
	var all strings.Builder
	for p, err := range ctl.RunOutput(ctx, run) {
		if err != nil {
			t.Fatalf("RunOutput of %s: %v after %q", run, err, all.String())
		}
		if p.Dropped != 0 {
			t.Errorf("RunOutput of %s: %d bytes are missing", run, p.Dropped)
		}
		all.WriteString(p.Text)
	}
	if ctx.Err() != nil {
		t.Fatalf("RunOutput of %s did not return in time", run)
	}
	return all.String()
}

// RunOutput of an ended run yields the recorded output.
func testRunOutput(t *testing.T, ctx context.Context, ctl city.Control) {
	for name, want := range map[string]string{Chore: "swept", Wreck: "oops", Brew: ""} {
		_, r := fire(t, ctx, ctl, city.Fire{Automation: name, By: "tester"})
		record(t, ctx, ctl, r.ID)
		if got := strings.TrimRight(outputOf(t, ctx, ctl, r.ID), "\n"); got != want {
			t.Errorf("output of %s: got %q, want %q", name, got, want)
		}
	}
}

func testRunOutputUnknown(t *testing.T, ctx context.Context, ctl city.Control) {
	b := beadOf(t, do(t, ctx, ctl, city.CreateBead{Bead: beads.Bead{Title: "not a run"}}))
	for _, id := range []string{"tw-nothing", "nothing", "", "..", "../x", "no id", b.ID} {
		n := 0
		for _, err := range ctl.RunOutput(ctx, id) {
			n++
			wantCode(t, "RunOutput of "+id, err, city.NotFound)
		}
		if n != 1 {
			t.Errorf("RunOutput of %q: got %d results, want one error", id, n)
		}
	}
}

// All readers see the output of a run in progress, whenever they start to read (L12).
func testRunOutputLive(t *testing.T, ctx context.Context, ctl city.Control) {
	s, err := ctl.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	idle(t, ctx, ctl, Drip)
	run := beadOf(t, do(t, ctx, ctl, city.Fire{Automation: Drip, By: "tester"})).ID
	late := make(chan string, 1)
	var all string
	pieces := 0
	for p, err := range ctl.RunOutput(ctx, run) {
		if err != nil || p.Dropped != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		pieces++
		if all += p.Text; all != "dröp\n" {
			continue
		}
		// the run continues only after its first line has been seen
		for p, err := range ctl.RunOutput(ctx, run) {
			if p.Text != all || err != nil {
				t.Errorf("second reader: got %q, %v", p.Text, err)
			}
			break
		}
		go func() {
			var text string
			for p := range ctl.RunOutput(ctx, run) {
				text += p.Text
			}
			late <- text
		}()
		if err := os.WriteFile(filepath.Join(s.Path, "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if all != "dröp\ndrop" || pieces < 2 {
		t.Errorf("got %q in %d pieces", all, pieces)
	}
	if text := <-late; text != all {
		t.Errorf("another reader: got %q", text)
	}
	record(t, ctx, ctl, run)
	if text := outputOf(t, ctx, ctl, run); text != all {
		t.Errorf("output in the record: got %q", text)
	}
}

func testEndRunRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	idle(t, ctx, ctl, Chore)
	for _, name := range []string{"nothing", Chore + ":rig:nowhere", ".."} {
		_, err := ctl.Do(ctx, city.EndRun{Automation: name})
		wantCode(t, "EndRun of "+name, err, city.NotFound)
	}
	_, err := ctl.Do(ctx, city.EndRun{Automation: Chore, By: "tester"})
	wantCode(t, "EndRun without a run", err, city.Conflict)
	_, err = ctl.Do(ctx, city.EndRun{Automation: Chore, By: "a\ab"})
	wantCode(t, "EndRun by a name with a control character", err, city.Invalid)
}

// A run that was stopped by hand counts as failed.
func testEndRun(t *testing.T, ctx context.Context, ctl city.Control) {
	idle(t, ctx, ctl, Drip)
	run := beadOf(t, do(t, ctx, ctl, city.Fire{Automation: Drip, By: "tester"})).ID
	for p, err := range ctl.RunOutput(ctx, run) {
		if err != nil || strings.Contains(p.Text, "\n") {
			break
		}
	}
	r := do(t, ctx, ctl, city.EndRun{Automation: Drip, By: "ann"})
	if !strings.Contains(r.Message, run) {
		t.Errorf("%+v", r)
	}
	record(t, ctx, ctl, run)
	if got, err := city.GetRun(ctx, ctl, run); err != nil || got.Outcome != "failed" ||
		got.Error != "ended by ann" || got.Code != nil || got.TimedOut ||
		!strings.Contains(got.Output, "dröp") {
		t.Errorf("%+v, %v", got, err)
	}
	if a := idle(t, ctx, ctl, Drip); a.Failures != 1 {
		t.Errorf("%+v", a)
	}
}
