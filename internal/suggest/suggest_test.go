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

// Of equally near commands, one that only shows something is preferred to one that changes something.
func TestNearestCommand(t *testing.T) {
	names := []string{"start", "stop", "restart", "status", "agent", "man", "events"}
	for word, want := range map[string]string{
		"statu": "status", "staus": "status", "stats": "status", "stat": "status", "Stat": "status", "st": "status",
		"strat": "start", "sotp": "stop", "restrat": "restart", "event": "events", "evnets": "events",
		"ls": "", "x": "", "completely": "",
	} {
		if got := NearestCommand(word, names, func(name string) bool { return name == "status" }); got != want {
			t.Errorf("NearestCommand(%q) = %q, want %q", word, got, want)
		}
	}
}
