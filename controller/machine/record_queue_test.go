package machine

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"gcity/controller/effect"
	"gcity/events"
)

// crashes returns the payloads of all recorded crashes of an agent.
func (w *world) crashes(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	for _, e := range w.events {
		if e.Type != events.AgentCrashed || e.Subject != name {
			continue
		}
		var about map[string]any
		if err := json.Unmarshal(e.Payload, &about); err != nil {
			t.Fatal(err)
		}
		all = append(all, about)
	}
	return all
}

func (w *world) subjects(from int) (out []string) {
	for _, e := range w.events[from:] {
		out = append(out, e.Type+" "+e.Subject)
	}
	return out
}

// If an agent crashes again while its first output is being captured, both crashes keep their output.
func TestEachCrashKeepsItsOutput(t *testing.T) {
	w := newWorld()
	w.declare("a:max=1")
	w.advance(time.Second)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("a", 3, "")
	if n := len(w.crashes(t, "a")); n != 0 {
		t.Errorf("%d crashes are recorded before the output of the first is kept", n)
	}
	delete(w.stuck, "capture:a:s1")
	w.Step(effect.Wake{})
	all := w.crashes(t, "a")
	if len(all) != 2 {
		t.Fatalf("%d crashes are recorded", len(all))
	}
	for i, about := range all {
		if about["output"] != "last words" || about["file"] != ".gc/crashes/x.ansi" {
			t.Errorf("crash %d: %v", i+1, about)
		}
	}
	if all[0]["session"] != "s1" || all[1]["session"] != "s2" {
		t.Errorf("the order is %v, %v", all[0]["session"], all[1]["session"])
	}
	if len(w.dead) != 0 {
		t.Errorf("ends that are not acknowledged: %v", w.dead)
	}
}

// The effects of a crash on other agents are recorded after the crash, even if the capture of its output takes
// long.
func TestAnEffectIsRecordedAfterItsCause(t *testing.T) {
	w := newWorld()
	w.declare("fam:strategy=rest_for_one", "kid:needs=fam")
	w.advance(time.Minute)
	from := len(w.events)
	w.stuck["capture:fam:s1"] = true
	w.die("fam", -1, "SIGKILL")
	if more := w.subjects(from); len(more) != 0 {
		t.Errorf("recorded before the crash: %v", more)
	}
	delete(w.stuck, "capture:fam:s1")
	w.Step(effect.Wake{})
	want := []string{"agent.crashed fam", "agent.stopped kid", "agent.started fam",
		"agent.started kid"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// A hung capture delays the log only for a limited time.
func TestHungCaptureDelaysNothing(t *testing.T) {
	w := newWorld()
	w.declare("a", "b")
	w.advance(time.Minute)
	from := len(w.events)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("b", 0, "")
	w.advance(outputWait)
	want := []string{"agent.crashed a", "agent.started a", "agent.stopped b", "agent.started b"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	if about := w.crashes(t, "a")[0]; about["output_error"] == nil {
		t.Errorf("nothing says that the output is missing: %v", about)
	}
}
