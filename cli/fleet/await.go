package fleet

import (
	"context"
	"iter"
	"sync"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/describe"
)

// awaited is a city.Directory that looks for a supervisor in each call until it finds one.
type awaited struct {
	open func() (city.Directory, func(), error)

	mu      sync.Mutex
	dir     city.Directory // nil until a supervisor is found
	closeIt func()
}

// AwaitDirectory returns the list of cities, or nil if the command cannot open one. The caller must call the returned
// function to close the list.
func AwaitDirectory(e *env.Env) (city.Directory, func()) {
	if e.Cities == nil {
		return nil, func() {}
	}
	w := &awaited{open: e.Cities}
	if e.ReadOnly {
		return readOnlyDirectory{w}, w.close
	}
	return w, w.close
}

func (w *awaited) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closeIt != nil {
		w.closeIt()
	}
}

// found returns a list that remains usable if a new supervisor replaces the current one.
func (w *awaited) found() (city.Directory, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir != nil {
		return w.dir, nil
	}
	d, closeIt, err := w.open()
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, city.ErrNoSupervisor
	}
	w.dir, w.closeIt = d, closeIt
	return d, nil
}

// Cities implements city.Directory.
func (w *awaited) Cities(ctx context.Context) ([]city.Info, error) {
	d, err := w.found()
	if err != nil {
		return nil, err
	}
	all, err := d.Cities(ctx)
	return all, stopped(err)
}

func stopped(err error) error {
	if exit.IsNotRunning(err) {
		return city.ErrNoSupervisor
	}
	return err
}

// Watch implements city.Directory. While no supervisor is running, it yields city.ErrNoSupervisor.
func (w *awaited) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		d, err := w.found()
		if err != nil {
			yield(nil, err)
			return
		}
		for all, err := range d.Watch(ctx) {
			if !yield(all, stopped(err)) {
				return
			}
		}
	}
}

// City implements city.Directory.
func (w *awaited) City(name string) (city.Control, error) {
	d, err := w.found()
	if err != nil {
		return nil, err
	}
	return d.City(name)
}

func (w *awaited) registrar() (city.Registrar, error) {
	d, err := w.found()
	if err != nil {
		return nil, err
	}
	if r, ok := d.(city.Registrar); ok {
		return r, nil
	}
	return nil, &city.Error{Code: city.Forbidden, Message: describe.Fixed}
}

// Register implements city.Registrar.
func (w *awaited) Register(ctx context.Context, path string) (city.Info, error) {
	r, err := w.registrar()
	if err != nil {
		return city.Info{}, err
	}
	info, err := r.Register(ctx, path)
	return info, stopped(err)
}

// Unregister implements city.Registrar.
func (w *awaited) Unregister(ctx context.Context, name string) (city.Receipt, error) {
	r, err := w.registrar()
	if err != nil {
		return city.Receipt{}, err
	}
	receipt, err := r.Unregister(ctx, name)
	return receipt, stopped(err)
}
