package host

import (
	"slices"
	"testing"
)

// A supervisor that a command starts hears of no city, and of no agent, in whose terminal the command may have been given.
func TestOfNoCity(t *testing.T) {
	got := ofNoCity([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
