//go:build noforcegc

package main

import (
	"math"
	_ "unsafe" // go:linkname requires this import
)

// forceGCPeriod is a private variable of the runtime. The runtime wakes its monitor thread twice in this period, by
// default each minute, so that garbage is collected even while the program allocates nothing. In a city of 500 idle
// agents, these wake-ups cost more than all patrols. An idle holder produces no garbage.
//
// No function of package runtime changes the period. The linker allows the reference only with -checklinkname=0, so
// this file needs a build tag.
//
//go:linkname forceGCPeriod runtime.forcegcperiod
var forceGCPeriod int64

// sleepDeeply disables the periodic wake-ups of the runtime. Allocations still trigger collections.
func sleepDeeply() { forceGCPeriod = math.MaxInt64 }
