package controller

import (
	"log/slog"
	"strings"
	"testing"

	"gcity/events"
)

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
			t.Errorf("%s is not told as %s", lines[i], want)
		}
	}
}
