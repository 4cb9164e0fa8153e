package tui

// panelKey is all that a panel's lines depend on, besides look and mode, which never change.
type panelKey struct {
	w, h   int
	focus  bool
	data   uint64 // version of what is shown
	rows   uint64 // version of the agents, where the panel shows something of its own besides
	ui     uint64 // grows with every key
	second int64  // of the clock, 0 where no time is shown
}

// cached keeps the lines of a panel for as long as nothing they depend on changes.
type cached struct {
	key  panelKey
	kept []string
}

func (c *cached) lines(key panelKey, draw func() []string) []string {
	if c.kept == nil || c.key != key {
		c.key, c.kept = key, draw()
	}
	return c.kept
}

// crops keeps the rows of a terminal that were drawn last: a line that moves up the pane is cut once.
type crops struct {
	w    int
	kept map[string]string
}

// rows gives what cuts the rows of the next picture to w columns.
func (c *crops) rows(w int) func(string) string {
	old := c.kept
	if c.w != w {
		old = nil
	}
	c.w, c.kept = w, make(map[string]string, len(old))
	return func(s string) string {
		row, ok := old[s]
		if !ok {
			row = crop(s, w)
		}
		c.kept[s] = row
		return row
	}
}
