package citytest_test

import (
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

func TestFake(t *testing.T) {
	var f *citytest.Fake // of the test under way
	citytest.Suite(t, citytest.Harness{
		Open:   func(*testing.T) city.Control { f = citytest.NewTown(); return f },
		Drains: true, Pools: true, Rigs: true, Work: true, Automations: true,
		Hold: func(*testing.T, city.Control) { f.Hold() },
	})
}
