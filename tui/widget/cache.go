package widget

// CacheKey contains the values that determine a panel's lines. A change of the styles discards all cached lines.
type CacheKey struct {
	W, H   int
	Focus  bool
	Data   uint64 // version of the data that the panel shows
	Rows   uint64 // version of the agents, for panels that also show other data
	UI     uint64 // changes with every change of the view, but not with new data
	Second int64  // second of the clock, or 0 if the panel does not show the time
}

// Cache stores the lines of a panel until its key changes.
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

// RowCache stores the terminal rows of the last frame. A line that moves up the pane is not cropped again.
type RowCache struct {
	w    int
	kept map[string]string
}

// Cropper returns a function that crops the rows of the next frame to w columns.
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
