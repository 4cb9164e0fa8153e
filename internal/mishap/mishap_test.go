package mishap

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

func faulty() { panic("nobody thought of this") }

// What was caught says what and where, and stays so when it is caught again.
func TestCatch(t *testing.T) {
	if err := Catch(func() {}); err != nil {
		t.Errorf("nothing happened, and that is %v", err)
	}
	err := Catch(func() {
		if err := Catch(faulty); err != nil {
			panic(err)
		}
	})
	p, ok := errors.AsType[*Panic](err)
	if !ok || p.Value != "nobody thought of this" || !bytes.Contains(p.Stack(), []byte("mishap.faulty")) {
		t.Fatalf("%v\n%s", err, p.Stack())
	}
	if err := Catch(func() { panic(io.ErrUnexpectedEOF) }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if err := Try(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	if _, ok := errors.AsType[*Panic](Try(func() error { faulty(); return io.EOF })); !ok {
		t.Error("the panic is lost")
	}
}

// Who waits has the fault where nobody else is told of it.
func TestGroup(t *testing.T) {
	var g Group
	for range 3 {
		g.Go(faulty)
	}
	g.Go(func() {})
	if err := Catch(g.Wait); err == nil {
		t.Error("nobody heard of the panics")
	}
	if err := Catch(g.Wait); err != nil {
		t.Errorf("heard of twice: %v", err)
	}
	heard := make(chan error, 2)
	told := Group{Tell: func(err error) { heard <- err }}
	told.Go(faulty)
	told.Go(faulty)
	if err := Catch(told.Wait); err != nil || len(heard) != 2 {
		t.Errorf("%v, and %d told", err, len(heard))
	}
}

// A goroutine that never ends holds nobody up for longer than he wants.
func TestWaitFor(t *testing.T) {
	var g Group
	end := make(chan struct{})
	g.Go(func() { <-end })
	if g.WaitFor(time.Millisecond) {
		t.Error("it has not ended")
	}
	close(end)
	if !g.WaitFor(time.Minute) {
		t.Error("it has ended")
	}
}
