package city

import (
	"errors"
	"fmt"

	"gcity/beads"
)

// ReadError converts an error from reading a store to an *Error.
func ReadError(err error) error {
	if _, closed := errors.AsType[*beads.ClosedError](err); closed {
		return WorkError(err)
	}
	return WorkError(fmt.Errorf("cannot read work: %w", err))
}
