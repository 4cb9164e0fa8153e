package suggest

import "testing"

func TestNearest(t *testing.T) {
	keys := []string{"name", "nudge", "idle_timeout", "min_uptime", "restart"}
	for word, want := range map[string]string{
		"idle_timout": "idle_timeout",
		"nmae":        "name",
		"restrat":     "restart",
		"name":        "",
		"x":           "",
		"":            "",
		"completely":  "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
