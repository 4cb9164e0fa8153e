package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness creates stores for the suite.
type Harness struct {
	// New returns an empty store and cleans up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Reopen opens the store again, as another process would. It is nil if this is not possible.
	Reopen func(t *testing.T, s beads.Store) beads.Store
	// Slow reduces the number of beads, for stores that start a process for each call.
	Slow bool
	// Parallel permits cases to run at the same time.
	Parallel bool
	// Skip maps skipped cases to the missing abilities.
	Skip map[string]string
}

func (h Harness) many(n, few int) int {
	if h.Slow {
		return few
	}
	return n
}
