package cli

import (
	"golang.org/x/sync/errgroup"

	"gcity/internal/mishap"
)

// faults is where a city's controller hears of panics beside it.
type faults chan error

func newFaults() faults { return make(faults, 1) }

// tell waits for nobody: the first one is enough.
func (f faults) tell(err error) {
	select {
	case f <- err:
	default:
	}
}

// first is a panic that was told, nil if there was none.
func (f faults) first() error {
	select {
	case err := <-f:
		return err
	default:
		return nil
	}
}

// household are the goroutines of a city. A panic in one is the city's, and of nobody else in this process.
type household struct {
	errgroup.Group
	tell faults
}

// Go calls f in a goroutine.
func (h *household) Go(f func() error) {
	h.Group.Go(func() (err error) {
		if fault := mishap.Catch(func() { err = f() }); fault != nil {
			h.tell.tell(fault)
			return fault
		}
		return err
	})
}
