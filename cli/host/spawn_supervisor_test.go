package host

import (
	"slices"
	"testing"
)

// A supervisor that was started in an agent's terminal does not inherit the agent's variables.
func TestWithoutCityEnv(t *testing.T) {
	got := withoutCityEnv([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
