package supervisor

import (
	"time"

	"gcity/internal/recovery"
)

// open opens the city in a separate goroutine, because opening might never return.
func (w *worker) open() (City, error) {
	if w.opening == nil {
		if !w.slot() {
			return nil, errGone
		}
		defer func() { <-w.s.slots }()
		w.watch.drain() // this attempt reads the changed configuration
		w.opening = make(chan opened, 1)
		go w.tryOpen(w.opening, w.startOpening()) // might never return, so not in a WaitGroup
	}
	select {
	case o := <-w.opening:
		w.opening = nil
		if o.err == nil && w.isLeaving() {
			o.city.Close()
			o.err = errGone
		}
		if o.err != nil {
			w.set(func() { w.opens = false })
			return nil, o.err
		}
		return o.city, nil
	case <-time.After(w.s.o.OpenTimeout):
		return nil, errUnresponsive
	case <-w.left:
		return nil, errGone
	}
}

func (w *worker) startOpening() (e Entry) {
	w.set(func() {
		w.opens = true
		e = Entry{Path: w.path, Name: w.name}
	})
	return e
}

func (w *worker) slot() bool {
	select {
	case w.s.slots <- struct{}{}:
		return true
	case <-w.gone:
	}
	select {
	case w.s.slots <- struct{}{}:
		return true
	case <-time.After(closeLimit):
	case <-w.left:
	}
	return false
}

func (w *worker) tryOpen(to chan<- opened, e Entry) {
	var o opened
	o.err = recovery.Try(func() (err error) {
		o.city, err = w.s.o.Open(w.s.lifetime(), e)
		return err
	})
	to <- o
}

func (w *worker) discardOpening() {
	if w.opening == nil {
		return
	}
	over := make(chan struct{})
	go func(o <-chan opened) { // might never return, so not in a WaitGroup
		defer close(over)
		if o := <-o; o.city != nil {
			o.city.Close()
		}
	}(w.opening)
	select {
	case <-over:
	case <-time.After(closeLimit):
	}
	w.opening = nil
	w.set(func() { w.opens = false })
}
