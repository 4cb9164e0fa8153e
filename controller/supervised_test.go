package controller

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"gcity/config"
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
