package beadstest

import (
	"testing"

	"gcity/beads"
)

// Harness makes stores for the suite.
type Harness struct {
	// New makes an empty store and clears up with t.Cleanup.
	New func(t *testing.T) beads.Store
	// Again gives another store of the same content as one that New has made, as another process would open it; nil
	// if there is no such thing.
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
