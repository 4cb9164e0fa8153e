package widget

// CacheKey contains the values that determine a panel's lines.
type CacheKey struct {
	W, H   int
	Focus  bool
	Data   uint64 // version of the data that the panel shows
	Rows   uint64 // version of the agents
	UI     uint64 // changes with the view, but not with new data
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

// RowCache stores the cropped terminal rows of the last frame.
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
