package describe

import (
	"slices"
	"testing"

	"gcity/automation"
	"gcity/city"
)

func TestGates(t *testing.T) {
	if got, want := city.AutomationGates[:], automation.GateNames(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
