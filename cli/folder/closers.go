package folder

import "log/slog"

// Closers is a list of functions that Close calls.
type Closers []func()

// Add adds a function for Close to call.
func (c *Closers) Add(f func()) { *c = append(*c, f) }

// Close calls the functions, starting with the last one, and empties the list.
func (c *Closers) Close() {
	for i := len(*c) - 1; i >= 0; i-- {
		(*c)[i]()
	}
	*c = nil
}

// LogError logs an error if there is one.
func LogError(logger *slog.Logger, what string, err error) {
	if err != nil {
		logger.Error(what, "error", err)
	}
}
