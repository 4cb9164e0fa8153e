package controller_test

import (
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
)

// Prometheus can parse the metrics page, and the page shows the activity of a real city.
func TestMetrics(t *testing.T) {
	c := open(t)
	for snap, err := range c.Snapshots(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, known := snap.Automation(citytest.Chore); known {
			break
		}
	}
	for _, name := range []string{citytest.Chore, citytest.Wreck} {
		if _, err := c.Do(t.Context(), city.Fire{Automation: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Do(t.Context(), city.Kill{Agent: citytest.Worker}); err != nil {
		t.Fatal(err)
	}
	h := api.Handler(c, api.Options{})
	line := regexp.MustCompile(`^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*\}) ([0-9.e+-]+)$`)
	enough := map[string]float64{
		`gcity_agents{city="town",state="running"}`:                         2,
		`gcity_agents{city="town",state="suspended"}`:                       2,
		`gcity_agent_starts_total{city="town"}`:                             2,
		`gcity_automation_runs_total{city="town",outcome="completed"}`:      1,
		`gcity_automation_runs_total{city="town",outcome="failed"}`:         1,
		`gcity_automation_runs_total{city="town",outcome="fired"}`:          2,
		`gcity_patrol_duration_seconds_count{city="town"}`:                  1,
		`gcity_patrol_duration_seconds_bucket{city="town",le="+Inf"}`:       1,
		`gcity_loop_turn_duration_seconds_count{city="town"}`:               1,
		`gcity_store_duration_seconds_count{city="town",rig="",op="write"}`: 2,
		`gcity_store_duration_seconds_count{city="town",rig="",op="read"}`:  1,
		`gcity_info{city="town",version="test"}`:                            1,
	}
	missing, tick := "", time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"),
			"text/plain; version=0.0.4") {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		got, typed := map[string]float64{}, ""
		for text := range strings.Lines(w.Body.String()) {
			text = strings.TrimSuffix(text, "\n")
			if name, ok := strings.CutPrefix(text, "# TYPE "); ok {
				typed, _, _ = strings.Cut(name, " ")
			}
			if strings.HasPrefix(text, "#") {
				continue
			}
			m := line.FindStringSubmatch(text)
			if m == nil || !strings.HasPrefix(m[1], typed) {
				t.Fatalf("not a sample of metric %s: %q", typed, text)
			}
			v, err := strconv.ParseFloat(m[3], 64)
			if _, twice := got[m[1]+m[2]]; err != nil || twice {
				t.Fatalf("%q: %v, twice: %v", text, err, twice)
			}
			got[m[1]+m[2]] = v
		}
		missing = ""
		for name, want := range enough {
			if got[name] < want {
				missing += "\n" + name
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("metrics are missing or too small:%s\n%s", missing, w.Body)
		}
	}
}
