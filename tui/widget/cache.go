package widget

// CacheKey is all that a panel's lines depend on, besides look and mode, which never change.
type CacheKey struct {
	W, H   int
	Focus  bool
	Data   uint64 // version of what is shown
	Rows   uint64 // version of the agents, where the panel shows something of its own besides
	UI     uint64 // grows with every key
	Second int64  // of the clock, 0 where no time is shown
}

// Cache keeps the lines of a panel for as long as nothing they depend on changes.
type Cache struct {
	key  CacheKey
	kept []string
}

func (c *Cache) Lines(key CacheKey, draw func() []string) []string {
	if c.kept == nil || c.key != key {
		c.key, c.kept = key, draw()
	}
	return c.kept
}

// RowCache keeps the rows of a terminal that were drawn last: a line that moves up the pane is cut once.
type RowCache struct {
	w    int
	kept map[string]string
}

// Cropper gives what cuts the rows of the next picture to w columns.
func (c *RowCache) Cropper(w int) func(string) string {
	old := c.kept
	if c.w != w {
		old = nil
	}
	c.w, c.kept = w, make(map[string]string, len(old))
	return func(s string) string {
		row, ok := old[s]
		if !ok {
			row = Crop(s, w)
		}
		c.kept[s] = row
		return row
	}
}
