package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness makes stores for the suite.
type Harness struct {
	// New makes an empty store and clears up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Again opens the same content as a store that New has returned, as another process would; nil if that is
	// impossible.
	Again func(t *testing.T, s beads.Store) beads.Store
	// Few is for a store of which each call is a process: where the number is not the point, there are fewer beads.
	Few bool
	// Lacks names, by case, the ability that the store has not got; the case is skipped with it as the reason.
	Lacks map[string]string
}

// many is a number of beads, or a smaller one where few have to do.
func (h Harness) many(n, few int) int {
	if h.Few {
		return few
	}
	return n
}
