package controllertest_test

import (
	"testing"

	"gcity/city/citytest"
	"gcity/controller/controllertest"
)

// The controller of a city with simulated sessions fulfills the contract of city.Control.
func TestTown(t *testing.T) { citytest.Suite(t, controllertest.Harness(nil)) }
