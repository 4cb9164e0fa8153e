package city

import (
	"errors"
	"fmt"

	"gcity/beads"
)

// UnreadError returns the error of a failed read of a store as a *Error.
func UnreadError(err error) error {
	if _, closed := errors.AsType[*beads.ClosedError](err); closed {
		return WorkError(err)
	}
	return WorkError(fmt.Errorf("work cannot be read: %w", err))
}
