// Package recovery converts a panic to an error for the goroutine's owner, so that one bug does not end the whole
// program.
package recovery

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is the error for a recovered panic.
type Panic struct {
	Value any
	stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("a bug in gcity: %v", p.Value) }

// Unwrap returns the panic's value if it is an error.
func (p *Panic) Unwrap() error { err, _ := p.Value.(error); return err }

// Stack returns the stack of the goroutine at the panic.
func (p *Panic) Stack() []byte { return p.stack }

// Catch calls f. It returns a *Panic if f panics, and nil otherwise. It does not wrap a *Panic again.
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

// Try calls f and returns its error, or a *Panic if f panics.
func Try(f func() error) (err error) {
	if fault := Catch(func() { err = f() }); fault != nil {
		return fault
	}
	return err
}

// Fatal returns the given function or, if it is nil, a function that ends the program like an unrecovered panic.
func Fatal(report func(error)) func(error) {
	if report != nil {
		return report
	}
	return func(err error) {
		if p, ok := errors.AsType[*Panic](err); ok {
			panic(fmt.Sprintf("%v\n%s", p.Value, p.stack))
		}
		panic(err)
	}
}

// Group is a sync.WaitGroup that handles panics in its goroutines. The zero Group is ready to use.
type Group struct {
	// OnPanic is called in the goroutine that panicked, before Wait returns. If it is nil, Wait panics instead.
	OnPanic func(error)

	wg    sync.WaitGroup
	mu    sync.Mutex
	first error
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		err := Catch(f)
		switch {
		case err == nil:
		case g.OnPanic != nil:
			g.OnPanic(err)
		default:
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.first == nil {
				g.first = err
			}
		}
	})
}

// Wait waits until all goroutines have ended. If OnPanic is nil, it then panics with the first panic.
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

// WaitFor waits for at most d and reports whether all goroutines have ended.
func (g *Group) WaitFor(d time.Duration) bool {
	over := make(chan struct{})
	go func() { // exits when the last goroutine ends
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
