package folder

import (
	"golang.org/x/sync/errgroup"

	"gcity/internal/recovery"
)

// Faults is where a city's controller hears of panics beside it.
type Faults chan error

// NewFaults returns Faults with room for one error.
func NewFaults() Faults { return make(Faults, 1) }

// Tell waits for nobody: the first one is enough.
func (f Faults) Tell(err error) {
	select {
	case f <- err:
	default:
	}
}

// first is a panic that was told, nil if there was none.
func (f Faults) first() error {
	select {
	case err := <-f:
		return err
	default:
		return nil
	}
}

// Household are the goroutines of a city. A panic in one is the city's, and of nobody else in this process.
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
