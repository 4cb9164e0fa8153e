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
