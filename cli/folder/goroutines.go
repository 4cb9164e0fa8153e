package folder

import (
	"golang.org/x/sync/errgroup"

	"gcity/internal/recovery"
)

// Faults receives the panics of a city's goroutines for its controller.
type Faults chan error

// NewFaults returns Faults with room for one error.
func NewFaults() Faults { return make(Faults, 1) }

// Tell does not block: the first error is enough.
func (f Faults) Tell(err error) {
	select {
	case f <- err:
	default:
	}
}

// first returns the first error, nil if there was none.
func (f Faults) first() error {
	select {
	case err := <-f:
		return err
	default:
		return nil
	}
}

// Household is the group of goroutines of a city. A panic in one ends that city, and nothing else in this process.
type Household struct {
	errgroup.Group
	Tell Faults
}

// Go calls f in a goroutine.
func (h *Household) Go(f func() error) {
	h.Group.Go(func() (err error) {
		if fault := recovery.Catch(func() { err = f() }); fault != nil {
			h.Tell.Tell(fault)
			return fault
		}
		return err
	})
}
