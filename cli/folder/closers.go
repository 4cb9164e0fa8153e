package folder

import "log/slog"

// Closers is a list of functions to call on Close.
type Closers []func()

// Add appends f to the list.
func (c *Closers) Add(f func()) { *c = append(*c, f) }

// Close calls the functions in reverse order and empties the list.
func (c *Closers) Close() {
	for i := len(*c) - 1; i >= 0; i-- {
		(*c)[i]()
	}
	*c = nil
}

// LogError logs err, unless it is nil.
func LogError(logger *slog.Logger, what string, err error) {
	if err != nil {
		logger.Error(what, "error", err)
	}
}
