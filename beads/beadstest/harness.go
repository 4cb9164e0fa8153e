package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness creates stores for the suite.
type Harness struct {
	// New returns an empty store and cleans up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Again opens the content of a store that New has returned a second time, as another process would; nil if that
	// is impossible.
	Again func(t *testing.T, s beads.Store) beads.Store
	// Few is for a store that starts a process for each call. Tests then use fewer beads where the number does not
	// matter.
	Few bool
	// Lacks has the names of cases to skip, with the ability that the store does not have.
	Lacks map[string]string
}

// many returns a number of beads, or a smaller one if Few is set.
func (h Harness) many(n, few int) int {
	if h.Few {
		return few
	}
	return n
}
