package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness creates stores for the suite.
type Harness struct {
	// New returns an empty store and cleans up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Reopen opens the content of a store from New a second time, like another process; nil if this is not possible.
	Reopen func(t *testing.T, s beads.Store) beads.Store
	// Slow is set for a store that starts a process for each call. Tests then use fewer beads if the number does not
	// matter.
	Slow bool
	// Parallel is true if the cases can run at the same time, because they share nothing.
	Parallel bool
	// Skip maps the names of the cases to skip to the ability that the store does not have.
	Skip map[string]string
}

// many returns n, or the smaller number few if Slow is set.
func (h Harness) many(n, few int) int {
	if h.Slow {
		return few
	}
	return n
}
