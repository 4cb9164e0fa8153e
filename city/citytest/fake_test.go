package citytest_test

import (
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

func TestFake(t *testing.T) {
	citytest.Suite(t, func(*testing.T) city.Control { return worker() })
}

func worker() *citytest.Fake {
	f := citytest.NewFake("town", city.Agent{Name: citytest.Worker, Running: true}, city.Agent{Name: citytest.Lazy})
	f.Print(citytest.Worker, citytest.Ready+"\r\n")
	return f
}
