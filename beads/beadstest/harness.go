package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness creates stores for the suite.
type Harness struct {
	// New returns an empty store and cleans up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Reopen opens a store from New a second time, as another process would. It is nil if this is not possible.
	Reopen func(t *testing.T, s beads.Store) beads.Store
	// Slow is set if the store starts a process for each call. Tests then use fewer beads if the number does not
	// matter.
	Slow bool
	// Parallel is true if the cases can run at the same time, because they share nothing.
	Parallel bool
	// Skip contains the cases that must be skipped. It maps each name to the ability that the store lacks.
	Skip map[string]string
}

func (h Harness) many(n, few int) int {
	if h.Slow {
		return few
	}
	return n
}
