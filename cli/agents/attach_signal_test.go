package agents

import (
	"bytes"
	"context"
	"os"
	"os/signal"
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

// visit is an attachment to an agent whose screen is agentScreen.
type visit struct {
	t             *testing.T
	master, tty   *os.File
	before        *term.State
	ended         chan error
	mu            sync.Mutex
	shown, notice bytes.Buffer
}

const agentScreen = "the agent's screen"

func startVisit(t *testing.T) *visit {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{t: t, master: master, tty: tty, ended: make(chan error, 1)}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	v.before = v.modes()
	var wg sync.WaitGroup
	wg.Go(v.read)
	f := citytest.NewFake("town", city.Agent{Name: citytest.Worker, Running: true})
	f.Print(citytest.Worker, agentScreen)
	link := &env.Link{Control: f, Close: func() {}}
	e := &env.Env{In: tty, Printer: output.Printer{Out: tty, Err: &v.notice, Getenv: func(string) string { return "" }},
		Reach: func(context.Context, string) (*env.Link, error) { return link, nil }}
	wg.Go(func() { v.ended <- attach(t.Context(), e, link, citytest.Worker, true) })
	t.Cleanup(func() {
		tty.Close()
		wg.Wait()
		master.Close()
	})
	v.screens(1)
	return v
}

func (v *visit) read() {
	buf := make([]byte, 4096)
	for {
		n, err := v.master.Read(buf)
		v.mu.Lock()
		v.shown.Write(buf[:n])
		v.mu.Unlock()
		if err != nil { // EIO: the other end is closed
			return
		}
	}
}

// screens waits until the agent's screen has been drawn n times.
func (v *visit) screens(n int) {
	v.t.Helper()
	eventually.True(v.t, agentScreen, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return strings.Count(v.shown.String(), agentScreen) == n
	})
}

func (v *visit) modes() *term.State {
	v.t.Helper()
	state, err := term.GetState(v.tty.Fd())
	if err != nil {
		v.t.Fatal(err)
	}
	return state
}

// signal sends a signal to this process.
func (v *visit) signal(sig syscall.Signal) {
	v.t.Helper()
	if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
		v.t.Fatal(err)
	}
}

// ends waits for the end of the attachment, and checks that the terminal is restored.
func (v *visit) ends() {
	v.t.Helper()
	if err := <-v.ended; err != nil || !strings.Contains(v.notice.String(), "detached from worker, which keeps running") {
		v.t.Errorf("%v: %s", err, v.notice.String())
	}
	if now := v.modes(); !reflect.DeepEqual(now, v.before) {
		v.t.Errorf("the terminal is not restored: %+v", now)
	}
}

// After SIGCONT, attach sets the terminal's modes again and redraws the agent's screen.
func TestAttachContinued(t *testing.T) {
	v := startVisit(t)
	raw := v.modes()
	if err := term.Restore(v.tty.Fd(), v.before); err != nil { // as a shell does
		t.Fatal(err)
	}
	v.signal(syscall.SIGCONT)
	v.screens(2)
	if now := v.modes(); !reflect.DeepEqual(now, raw) {
		t.Errorf("the terminal is not in raw mode: %+v", now)
	}
	if _, err := v.master.WriteString("\x11"); err != nil {
		t.Fatal(err)
	}
	v.ends()
}

// SIGHUP detaches like SIGTERM, and restores the terminal, also if it arrives together with SIGCONT.
func TestAttachHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored here")
	}
	v := startVisit(t)
	v.signal(syscall.SIGHUP)
	v.signal(syscall.SIGCONT)
	v.ends()
}
