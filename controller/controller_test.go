package controller

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/config"
	"gcity/events"
	"gcity/pool"
	"gcity/session"
)

// A city under a supervisor does not listen. Its [api] settings are ignored. A log message and a warning say so
// once.
func TestSupervisedCityDoesNotListen(t *testing.T) {
	var logs strings.Builder
	logger := slog.New(slog.NewTextHandler(&logs, nil))
	for _, c := range []struct {
		mode   string
		port   int
		warned bool
	}{{Supervised, 8080, true}, {Supervised, 0, false}, {"headless", 8080, false}} {
		logs.Reset()
		ctl := &Controller{o: Options{Mode: c.mode, Dir: t.TempDir(), Logger: logger}}
		cfg := &config.City{Workspace: config.Workspace{Name: "X"}, API: config.API{Port: c.port}}
		const want = "city 'X' has [api] port=8080 which is ignored under supervisor mode"
		for range 3 {
			got := ctl.translate(cfg)
			if listens := got.API.Port != 0; listens != (c.port != 0 && !c.warned) ||
				slices.Contains(got.Warnings, want) != c.warned {
				t.Errorf("%+v: %+v, %q", c, got.API, got.Warnings)
			}
		}
		if n := strings.Count(logs.String(), want); n != 1 && c.warned || n != 0 && !c.warned {
			t.Errorf("%+v: logged %d times:\n%s", c, n, &logs)
		}
	}
}

// The text log contains failed runs and configuration changes, and no other events.
func TestLogNamesWhatFailed(t *testing.T) {
	var text strings.Builder
	c := &Controller{o: Options{Logger: slog.New(slog.NewTextHandler(&text, nil))}}
	for _, kind := range []string{events.AutomationFailed, events.ConfigRejected,
		events.ConfigReloaded, events.AutomationCompleted, events.BeadCreated} {
		c.journal(events.Event{Type: kind, Subject: "a", Message: "because of " + kind})
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"level=WARN", "level=WARN", "level=INFO"} {
		if !strings.Contains(lines[i], want) || !strings.Contains(lines[i], "because of ") {
			t.Errorf("log line %s: want %s", lines[i], want)
		}
	}
}

// Secrets in a quoted command line are removed from the message and payload of an event. An event without secrets is
// written unchanged.
func TestEventsHaveNoSecrets(t *testing.T) {
	got := withoutSecrets(events.Event{Message: "TOKEN=hunter2 cmd failed",
		Payload: json.RawMessage(
			`{"why":"cmd --api-key hunter2 x","n":12345678901234567890,"token":"hunter2"}`)})
	if want := `{"n":12345678901234567890,"token":"…","why":"cmd --api-key … x"}`; got.Message !=
		"TOKEN=… cmd failed" || string(got.Payload) != want {
		t.Errorf("%s %s", got.Message, got.Payload)
	}
	const plain = `{ "why":"exit 1",  "n":1 }`
	if got := withoutSecrets(events.Event{Message: "exit 1",
		Payload: json.RawMessage(plain)}); got.Message != "exit 1" || string(got.Payload) != plain {
		t.Errorf("%s %s", got.Message, got.Payload)
	}
}

// If the limit on open files is too low for the number of agents, a warning names the required limit.
func TestFewFiles(t *testing.T) {
	for _, c := range []struct {
		limit  uint64
		agents int
		want   string
	}{
		{32, 25, "can open at most 32 files, but 25 agents need about 164; start the controller after `ulimit -n " +
			"1024`, or set LimitNOFILE=1024 in its service"},
		{32, 250, "`ulimit -n 2128`"},
		{32, 1, "but 1 agent needs about 68; "},
		{163, 25, "can open at most 163 files"},
		{164, 25, ""},
		{0, 25, ""}, // unknown limit
	} {
		if got := FewFiles(c.limit, c.agents); c.want == "" && got != "" ||
			!strings.Contains(got, c.want) {
			t.Errorf("limit %d, %d agents: got %q", c.limit, c.agents, got)
		}
	}
}

// A limit with which the controller cannot work is an error. Surplus members of pools, suspended agents and agents of
// other providers do not count.
func TestTooFewFiles(t *testing.T) {
	own := session.Spec{Provider: "pty"}
	wants := []agent.Want{{Spec: own}, {Spec: own, Pool: "w", Index: 1},
		{Spec: own, Pool: "w", Index: 2},
		{Spec: own, Suspended: agent.Suspension{Level: agent.AgentLevel}},
		{Spec: session.Spec{Provider: "tmux"}}}
	pools := []agent.Pool{{Spec: pool.Spec{Name: "w", Min: 1, Max: 2}}}
	for limit, want := range map[uint64]string{0: "", 42: "", 1024: "",
		41: "the limit of 41 open files is too low, because gcity needs at least 42; start the " +
			"controller after `ulimit -n 1024`, or set LimitNOFILE=1024 in its service"} {
		got := ""
		if err := TooFewFiles(limit, wants, pools); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("limit %d: got %q, want %q", limit, got, want)
		}
	}
}
