package fleet

import (
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

// A city that is shutting down is listed as stopping.
func TestStateOfAStoppingCity(t *testing.T) {
	f := citytest.NewFake("orchard")
	f.Set(func(s *city.Snapshot) { s.ShutDown, s.Suspended = true, true })
	if i := runningState(t.Context(), city.Info{Path: "/srv/orchard"}, f); i.Status != city.CityStopping || !i.Running {
		t.Errorf("%+v", i)
	}
}

// The cause says whether another process runs the city. Older supervisors send only the text.
func TestRunsElsewhere(t *testing.T) {
	text := "controller already running for /srv/orchard"
	for i, want := range map[city.Info]bool{
		{Status: city.CityRefused, Cause: city.RunsElsewhere, Error: "reworded"}: true,
		{Status: city.CityRefused, Cause: city.Unresponsive, Error: text}:        false,
		{Status: city.CityRefused, Error: text}:                                  true,
		{Status: city.CityRefused, Error: "city.toml:1:1: no"}:                   false,
		{Status: city.CityCrashed, Error: text}:                                  false,
	} {
		if got := runsElsewhere(i); got != want {
			t.Errorf("%+v: got %v", i, got)
		}
	}
}
