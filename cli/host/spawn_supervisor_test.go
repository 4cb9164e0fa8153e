package host

import (
	"slices"
	"testing"
)

// A supervisor does not inherit the variables of the city or agent in whose terminal it was started.
func TestOfNoCity(t *testing.T) {
	got := ofNoCity([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
