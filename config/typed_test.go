package config

import (
	"fmt"
	"strings"
	"testing"

	"gcity/session"
)

// A text that is too long to be typed is reported at its place in the file.
func TestTextTooLongToType(t *testing.T) {
	const city = "[[agents]]\nname = \"a\"\nstart_command = \"sh\"\n"
	for _, c := range []struct{ before, key, at string }{
		{city + "[[watchdogs]]\nname = \"w\"\nwatches = \"a\"\nwake = ", "watchdogs.wake", "7:8"},
		{city + "[[watchdogs]]\nname = \"w\"\nwatches = \"a\"\nnudge = ", "watchdogs.nudge", "7:9"},
		{city + "nudge = ", "agents.nudge", "4:9"},
		{city + "[[patches.agents]]\nname = \"a\"\nnudge = ", "patches.agents.nudge", "6:9"},
		{city + "[[rigs]]\nname = \"r\"\npath = \"/\"\n[[rigs.overrides]]\nname = \"a\"\nnudge = ",
			"rigs.overrides.nudge", "9:9"},
	} {
		text := strings.Repeat("x", session.MaxText)
		if got := said(c.before + `"` + text + `"`); strings.Contains(got, "bytes") {
			t.Errorf("%s: a text that can be typed was rejected: %.300s", c.key, got)
		}
		want := fmt.Sprintf("city.toml:%s: %s: is %d bytes long, but at most %d can be typed",
			c.at, c.key, session.MaxText+1, session.MaxText)
		if got := said(c.before + `"` + text + `x"`); !strings.Contains(got, want) {
			t.Errorf("%s: got %.300s, want %s", c.key, got, want)
		}
	}
}
