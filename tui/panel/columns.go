package panel

import (
	"slices"
)

// Columns contains the column widths of the Agents panel; 0 = hidden.
type Columns struct {
	state, Name, mark, Why, Age, CPU, Spark, Mem, Restarts, PID, gap int
}

// Widths contains the column widths that the visible rows need.
type Widths struct {
	Name, Why int
	Names     int // width that is enough for all names except a few long ones
	Mark      int // width of the widest mark for work and mail
	Spark     int // width of the CPU chart; 0 = none
	Usage     bool
}

// Typical returns the greatest width, ignoring rare outliers.
func Typical(widths []int) int {
	slices.Sort(widths)
	if few := len(widths) / 8; len(widths) >= 4 {
		return widths[len(widths)-1-max(1, few)]
	}
	if len(widths) == 0 {
		return 0
	}
	return widths[len(widths)-1]
}

// LongName limits the width of a name that is much longer than the others.
const LongName = 24

// AgentColumns returns the column widths for a panel of w columns. It hides columns to make room for the reasons.
func AgentColumns(w int, n Widths) Columns {
	c := Columns{state: StateWidth + 2, Name: min(max(n.Name, 6),
		max(8, min(28, w/4, max(n.Names, LongName)))), Age: 4, CPU: 5, Mem: 5, Restarts: 8,
		PID: 7, gap: 2}
	if w < 50 {
		c.gap, c.Name = 1, min(c.Name, 9)
	}
	if !n.Usage || w < 60 {
		c.CPU, c.Mem = 0, 0
	}
	if w < 60 {
		c.Restarts, c.PID = 0, 0
	}
	if w >= 60 {
		c.mark = n.Mark
	}
	// The set of columns does not depend on the current reasons and marks, so that columns do not appear and disappear.
	const enough = 44
	gap, mark := c.gap, 0
	rest := func() int {
		r := w - 3 - c.state - gap - c.Name - gap
		if mark > 0 {
			r -= mark + 1
		}
		for _, v := range []int{c.Age, c.CPU, c.Spark, c.Mem, c.Restarts, c.PID} {
			if v > 0 {
				r -= v + gap
			}
		}
		return r - 1
	}
	for _, drop := range []*int{&c.PID, &c.Restarts, &c.Mem, &c.CPU} {
		if rest() < enough {
			*drop = 0
		}
	}
	const least = 20
	if n.Usage && n.Spark > 0 && rest()-n.Spark-gap >= least {
		c.Spark = n.Spark
	}
	if rest() < 12 {
		c.Age = 0
	}
	mark = c.mark
	// if the reasons have more room than this, a full name is more important
	reason := 24
	if w < 50 {
		reason = 12
	}
	c.Name += max(0, min(n.Names-c.Name, rest()-min(n.Why, reason)))
	c.Why = max(0, rest())
	return c
}
