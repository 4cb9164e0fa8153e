package citytest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"gcity/city"
	"gcity/events"
)

func testInspect(t *testing.T, ctx context.Context, ctl city.Control) {
	for _, name := range []string{Worker, Lazy} {
		about, err := ctl.Inspect(ctx, name)
		if err != nil {
			t.Fatalf("Inspect of %s: %v", name, err)
		}
		if about.Agent != name || about.Spec == nil || about.Spec.Restart.Mode == "" ||
			about.Spec.Cols <= 0 || about.At.IsZero() {
			t.Errorf("Inspect of %s: %+v", name, about)
		}
		at := slices.IndexFunc(about.Env, func(v city.Variable) bool {
			return v.Name == "GC_AGENT"
		})
		if at < 0 || about.Env[at].Value != name || about.Env[at].From != city.FromCity {
			t.Errorf("Inspect of %s: GC_AGENT is missing in %+v", name, about.Env)
		}
		if about.Drift == nil || len(about.Drift) > 0 || about.Crashes == nil ||
			len(about.Crashes) > 0 {
			t.Errorf("Inspect of %s: got drift %+v, crashes %+v, want none", name,
				about.Drift, about.Crashes)
		}
		if alive := about.Life != ""; alive != (name == Worker) {
			t.Errorf("Inspect of %s: got session %q", name, about.Life)
		}
	}
	_, err := ctl.Inspect(ctx, "nobody")
	wantCode(t, "Inspect of an unknown agent", err, city.NotFound)
}

func testInspectCrashes(record func(*testing.T, city.Control, events.Event)) func(*testing.T,
	context.Context, city.Control) {
	return func(t *testing.T, ctx context.Context, ctl city.Control) {
		inspectCrashes(t, ctx, ctl, record)
	}
}

func inspectCrashes(t *testing.T, ctx context.Context, ctl city.Control,
	record func(*testing.T, city.Control, events.Event)) {
	for _, output := range []string{"first words", "last words"} {
		payload, err := json.Marshal(map[string]any{"code": 3, "uptime_ms": 1500, "output": output})
		if err != nil {
			t.Fatal(err)
		}
		record(t, ctl, events.Event{Type: events.AgentCrashed, Actor: "controller", Subject: Lazy,
			Message: "exit 3", Payload: payload})
	}
	about, err := ctl.Inspect(ctx, Lazy)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, c := range about.Crashes {
		said = append(said, c.Output)
		if c.Code != 3 || c.Uptime.Milliseconds() != 1500 || c.Why != "exit 3" || c.At.IsZero() ||
			c.Seq == 0 {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(said, []string{"last words", "first words"}) {
		t.Errorf("crashes: %q", said)
	}
}
