package agents

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/internal/eventually"
)

// After SIGCONT, attach sets the terminal's modes again and redraws the agent's screen.
func TestAttachContinued(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var shown bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil { // EIO: the other end is closed
				return
			}
		}
	})
	f := citytest.NewFake("town", city.Agent{Name: citytest.Worker, Running: true})
	f.Print(citytest.Worker, "the agent's screen")
	link := &env.Link{Control: f, Close: func() {}}
	var said bytes.Buffer
	e := &env.Env{In: tty, Printer: output.Printer{Out: tty, Err: &said, Getenv: func(string) string { return "" }},
		Reach: func(context.Context, string) (*env.Link, error) { return link, nil }}
	ended := make(chan error, 1)
	wg.Go(func() { ended <- attach(t.Context(), e, link, citytest.Worker, true) })
	screens := func(n int) {
		t.Helper()
		eventually.True(t, "the agent's screen", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Count(shown.String(), "the agent's screen") == n
		})
	}
	screens(1)
	raw, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Restore(tty.Fd(), before); err != nil { // as a shell does
		t.Fatal(err)
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	screens(2)
	if now, err := term.GetState(tty.Fd()); err != nil || !reflect.DeepEqual(now, raw) {
		t.Errorf("the terminal is not in raw mode: %+v, %v", now, err)
	}
	if _, err := master.WriteString("\x11"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(said.String(), "detached from worker, which keeps running") {
		t.Errorf("%v: %s", err, said.String())
	}
	if now, err := term.GetState(tty.Fd()); err != nil || !reflect.DeepEqual(now, before) {
		t.Errorf("the terminal is not restored: %+v, %v", now, err)
	}
	tty.Close()
	wg.Wait()
	master.Close()
}
