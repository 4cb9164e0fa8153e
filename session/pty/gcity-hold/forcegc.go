//go:build noforcegc

package main

import (
	"math"
	_ "unsafe" // for go:linkname
)

// forceGCPeriod is the runtime's own variable. The runtime wakes its monitor thread twice in this time, by default
// each minute, to collect garbage that no allocation would collect. A city of 500 idle agents spent more on that
// than on all its patrols. An idle holder allocates nothing, so there is nothing to collect.
//
// No function of package runtime changes the period. The linker allows the reference with -checklinkname=0, so this
// file needs a build tag.
//
//go:linkname forceGCPeriod runtime.forcegcperiod
var forceGCPeriod int64

// sleepDeeply disables the periodic wake-ups of the runtime. Allocations still trigger collections.
func sleepDeeply() { forceGCPeriod = math.MaxInt64 }
