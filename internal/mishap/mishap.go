// Package mishap keeps a fault in one goroutine from ending the whole program: what panics becomes an error of
// whoever owns the goroutine.
package mishap

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is a panic that was caught.
type Panic struct {
	Value any // as it was given to panic
	stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("a fault in gcity itself: %v", p.Value) }

// Unwrap gives an error that was given to panic.
func (p *Panic) Unwrap() error { err, _ := p.Value.(error); return err }

// Stack is of the goroutine that panicked, where it did.
func (p *Panic) Stack() []byte { return p.stack }

// Catch calls f and gives what it panics with, as a *Panic; one that is caught a second time stays what it was.
func Catch(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Panic:
			err = v
		default:
			err = &Panic{v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// Try is Catch of what may fail by itself.
func Try(f func() error) (err error) {
	if fault := Catch(func() { err = f() }); fault != nil {
		return fault
	}
	return err
}

// Fatal is tell, or where that is nil what ends the program as a panic does that nobody caught.
func Fatal(tell func(error)) func(error) {
	if tell != nil {
		return tell
	}
	return func(err error) {
		if p, ok := errors.AsType[*Panic](err); ok {
			panic(fmt.Sprintf("%v\n%s", p.Value, p.stack))
		}
		panic(err)
	}
}

// Group is a sync.WaitGroup whose goroutines may panic. The zero value is ready.
type Group struct {
	// Tell hears of a panic, in the goroutine that had it, before Wait can return. Nil: Wait panics with it, so
	// that it is whoever waits that has the fault.
	Tell func(error)

	wg    sync.WaitGroup
	mu    sync.Mutex
	first error // panic
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		err := Catch(f)
		switch {
		case err == nil:
		case g.Tell != nil:
			g.Tell(err)
		default:
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.first == nil {
				g.first = err
			}
		}
	})
}

// Wait waits until all have ended.
func (g *Group) Wait() {
	g.wg.Wait()
	g.mu.Lock()
	err := g.first
	g.first = nil
	g.mu.Unlock()
	if err != nil {
		panic(err)
	}
}

// WaitFor is Wait for so long at most; it reports whether all have ended. What then goes on is nobody's.
func (g *Group) WaitFor(d time.Duration) bool {
	over := make(chan struct{})
	go func() { // as long as the slowest
		defer close(over)
		g.wg.Wait()
	}()
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-over:
		return true
	case <-late.C:
		return false
	}
}
