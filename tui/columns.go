package tui

import (
	"slices"
)

// columns are the widths of the Agents panel; 0 = dropped.
type columns struct {
	state, name, why, age, cpu, mem, restarts, pid, gap int
}

// needs is what the rows to be shown would take: the widest name, and the widest reason with what belongs to it.
type needs struct {
	name, why int
	names     int  // what all names but a few take
	usage     bool // some agent has been measured
}

// usual is the greatest of widths without those that few have: one long name takes no room from all other rows.
func usual(widths []int) int {
	slices.Sort(widths)
	if few := len(widths) / 8; len(widths) >= 4 {
		return widths[len(widths)-1-max(1, few)]
	}
	if len(widths) == 0 {
		return 0
	}
	return widths[len(widths)-1]
}

// lone is what a name gets that is longer than those of all others.
const lone = 24

// agentColumns drops columns from the right until the reasons have room: the longest, or most of it.
func agentColumns(w int, n needs) columns {
	c := columns{state: stateWidth + 2, name: min(max(n.name, 6),
		max(8, min(28, w/4, max(n.names, lone)))), age: 4, cpu: 5, mem: 5, restarts: 8, pid: 7,
		gap: 2}
	if w < 50 {
		c.gap, c.name = 1, min(c.name, 9)
	}
	if !n.usage || w < 60 {
		c.cpu, c.mem = 0, 0
	}
	if w < 60 {
		c.restarts, c.pid = 0, 0
	}
	enough := min(n.why, 44)
	gap := c.gap
	rest := func() int {
		r := w - 3 - c.state - gap - c.name - gap
		for _, v := range []int{c.age, c.cpu, c.mem, c.restarts, c.pid} {
			if v > 0 {
				r -= v + gap
			}
		}
		return r - 1
	}
	for _, drop := range []*int{&c.pid, &c.restarts, &c.mem, &c.cpu} {
		if rest() < enough {
			*drop = 0
		}
	}
	if rest() < 12 {
		c.age = 0
	}
	const reason = 24 // more of it is worth less than a name in full
	if w >= 50 {
		c.name += max(0, min(n.names-c.name, rest()-min(n.why, reason)))
	}
	c.why = max(0, rest())
	return c
}
