package citytest_test

import (
	"testing"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

func TestFake(t *testing.T) {
	var f *citytest.Fake // of the test under way
	citytest.Suite(t, citytest.Harness{
		Open:   func(*testing.T) city.Control { f = citytest.NewTown(); return f },
		Drains: true, Pools: true, Rigs: true, Work: true, Automations: true,
		Hold:   func(*testing.T, city.Control) { f.Hold() },
		Record: func(_ *testing.T, _ city.Control, e events.Event) { f.Record(e) },
	})
}
