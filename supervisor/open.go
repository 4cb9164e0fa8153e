package supervisor

import (
	"time"

	"gcity/internal/recovery"
)

// open has the city put together, beside this goroutine: that may never come to its end.
func (w *ward) open() (City, error) {
	if w.opening == nil {
		if !w.slot() {
			return nil, errGone
		}
		defer func() { <-w.s.slots }()
		w.opening = make(chan opened, 1)
		go w.tryOpen(w.opening, w.entry()) // as long as it takes, and nobody can wait for that
	}
	late := time.NewTimer(w.s.o.Patient)
	defer late.Stop()
	select {
	case o := <-w.opening:
		w.opening = nil
		if o.err == nil && w.leaves() {
			o.city.Close()
			return nil, errGone
		}
		return o.city, o.err
	case <-late.C:
		return nil, errMute
	case <-w.left:
		return nil, errGone
	}
}

// slot waits until the city may be opened; one that is to end does not wait for long.
func (w *ward) slot() bool {
	select {
	case w.s.slots <- struct{}{}:
		return true
	case <-w.gone:
	}
	late := time.NewTimer(closeLimit)
	defer late.Stop()
	select {
	case w.s.slots <- struct{}{}:
		return true
	case <-late.C:
	case <-w.left:
	}
	return false
}

func (w *ward) tryOpen(to chan<- opened, e Entry) {
	var o opened
	o.err = recovery.Try(func() (err error) {
		o.city, err = w.s.o.Open(w.s.lifetime(), e)
		return err
	})
	to <- o
}

// letGo gives back what is being opened and not wanted any more, when it has been.
func (w *ward) letGo() {
	if w.opening == nil {
		return
	}
	over := make(chan struct{})
	go func(o <-chan opened) { // as above
		defer close(over)
		if o := <-o; o.city != nil {
			o.city.Close()
		}
	}(w.opening)
	late := time.NewTimer(closeLimit)
	defer late.Stop()
	select {
	case <-over:
	case <-late.C:
	}
	w.opening = nil
}
