package folder

import (
	"golang.org/x/sync/errgroup"

	"gcity/internal/recovery"
)

// Faults receives panics from a city's goroutines.
type Faults chan error

// NewFaults returns a Faults that can hold one error.
func NewFaults() Faults { return make(Faults, 1) }

// Report sends an error without blocking. It drops the error if another one is queued.
func (f Faults) Report(err error) {
	select {
	case f <- err:
	default:
	}
}

func (f Faults) first() error {
	select {
	case err := <-f:
		return err
	default:
		return nil
	}
}

// TaskGroup is a group of goroutines that run a city. A panic in one of them stops only that city, not the process.
type TaskGroup struct {
	errgroup.Group
	OnFault Faults
}

// Go calls f in a new goroutine.
func (h *TaskGroup) Go(f func() error) {
	h.Group.Go(func() (err error) {
		if fault := recovery.Catch(func() { err = f() }); fault != nil {
			h.OnFault.Report(fault)
			return fault
		}
		return err
	})
}
