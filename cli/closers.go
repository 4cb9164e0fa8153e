package cli

import "log/slog"

// closers undoes in the opposite order.
type closers []func()

func (c *closers) add(f func()) { *c = append(*c, f) }

func (c *closers) close() {
	for i := len(*c) - 1; i >= 0; i-- {
		(*c)[i]()
	}
	*c = nil
}

func logError(logger *slog.Logger, what string, err error) {
	if err != nil {
		logger.Error(what, "error", err)
	}
}
