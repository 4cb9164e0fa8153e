package recovery

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

func faulty() { panic("not expected") }

// A caught panic keeps its value and its stack.
func TestCatch(t *testing.T) {
	if err := Catch(func() {}); err != nil {
		t.Errorf("Catch without a panic = %v", err)
	}
	err := Catch(func() {
		if err := Catch(faulty); err != nil {
			panic(err)
		}
	})
	p, ok := errors.AsType[*Panic](err)
	if !ok || p.Value != "not expected" || !bytes.Contains(p.Stack(), []byte("recovery.faulty")) {
		t.Fatalf("%v\n%s", err, p.Stack())
	}
	if err := Catch(func() { panic(io.ErrUnexpectedEOF) }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if err := Try(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	if _, ok := errors.AsType[*Panic](Try(func() error { faulty(); return io.EOF })); !ok {
		t.Error("Try lost the panic")
	}
}

// Wait panics with the first panic unless OnPanic is set.
func TestGroup(t *testing.T) {
	var g Group
	for range 3 {
		g.Go(faulty)
	}
	g.Go(func() {})
	if err := Catch(g.Wait); err == nil {
		t.Error("Wait did not report the panics")
	}
	if err := Catch(g.Wait); err != nil {
		t.Errorf("reported twice: %v", err)
	}
	heard := make(chan error, 2)
	told := Group{OnPanic: func(err error) { heard <- err }}
	told.Go(faulty)
	told.Go(faulty)
	if err := Catch(told.Wait); err != nil || len(heard) != 2 {
		t.Errorf("got %v and %d calls of OnPanic", err, len(heard))
	}
}

func TestWaitFor(t *testing.T) {
	var g Group
	end := make(chan struct{})
	g.Go(func() { <-end })
	if g.WaitFor(time.Millisecond) {
		t.Error("WaitFor() = true while the goroutine is running")
	}
	close(end)
	if !g.WaitFor(time.Minute) {
		t.Error("WaitFor() = false after the goroutine ended")
	}
}
