//go:build noforcegc

package main

import (
	"math"
	_ "unsafe" // for go:linkname
)

// forceGCPeriod is a private variable of the runtime. The runtime wakes its monitor thread twice in this period, by
// default each minute, to collect garbage that no allocation would collect. In a city of 500 idle agents, these
// wake-ups cost more than all patrols. An idle holder allocates nothing, so it has no garbage.
//
// No function of package runtime changes the period. The linker allows the reference with -checklinkname=0, so this
// file needs a build tag.
//
//go:linkname forceGCPeriod runtime.forcegcperiod
var forceGCPeriod int64

// sleepDeeply disables the periodic wake-ups of the runtime. Allocations still trigger collections.
func sleepDeeply() { forceGCPeriod = math.MaxInt64 }
