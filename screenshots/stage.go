package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"gcity/internal/screen"
)

const (
	patience = 30 * time.Second
	// a frame is complete after this time without output
	quiet = 600 * time.Millisecond
)

type terminalRoom struct {
	cols, rows int
	light      bool
	cmd        *exec.Cmd
	tty        *os.File
	orders     *os.File
	at         float64 // seconds since the start of the tape
	wg         sync.WaitGroup

	mu     sync.Mutex
	screen *screen.Screen
	more   chan struct{} // closed and replaced after every output
	gone   bool
}

// environ depends on the machine only for PATH.
func environ(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LANG=C.UTF-8", "TZ=UTC",
		"TERM=xterm-256color", "COLORTERM=truecolor",
	}, more...)
}

func openRoom(ctx context.Context, tapeFile string, s shot) (*terminalRoom, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	st := &terminalRoom{cols: s.cols, rows: s.rows, light: s.light, orders: write, at: s.at,
		more: make(chan struct{})}
	st.cmd = exec.CommandContext(ctx, self, "-project", tapeFile, "-as", s.as)
	st.cmd.Env = environ()
	st.cmd.ExtraFiles = []*os.File{read}
	st.screen = screen.New(s.cols, s.rows, 0)
	st.tty, err = pty.StartWithSize(st.cmd, &pty.Winsize{Cols: uint16(s.cols),
		Rows: uint16(s.rows)})
	if err != nil {
		st.screen.Close()
		return nil, errors.Join(err, write.Close())
	}
	st.wg.Go(st.read)
	return st, st.order(0)
}

func (s *terminalRoom) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.tty.Read(buf)
		if bytes.Contains(buf[:n], []byte("\x1b]11;?")) {
			// the process might have exited
			_, _ = io.WriteString(s.tty, "\x1b]11;"+s.background()+"\x1b\\")
		}
		s.mu.Lock()
		_, _ = s.screen.Write(buf[:n]) // never fails
		s.gone = err != nil
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *terminalRoom) background() string {
	if s.light {
		return "rgb:fbfb/fafa/f7f7"
	}
	return "rgb:1616/1818/1d1d"
}

func (s *terminalRoom) close() error {
	err := s.orders.Close() // closing the pipe makes the process exit
	ended := make(chan struct{})
	s.wg.Go(func() {
		defer close(ended)
		err = errors.Join(err, s.cmd.Wait())
	})
	select {
	case <-ended:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill() // it might have exited already
		<-ended
	}
	_ = s.tty.Close()
	s.wg.Wait()
	s.screen.Close()
	return err
}

func (s *terminalRoom) order(seconds float64) error {
	s.at += seconds
	_, err := io.WriteString(s.orders, strconv.FormatFloat(s.at, 'f', 3, 64)+"\n")
	return err
}

func (s *terminalRoom) look() (lines []string, more chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		err = errors.New("the control room has exited")
	}
	return s.screen.Lines(s.cols, s.rows), s.more, err
}

func (s *terminalRoom) sees(want string) error {
	late := time.After(patience)
	rest := time.NewTimer(quiet)
	defer rest.Stop()
	for {
		lines, more, err := s.look()
		shown := strings.Contains(ansi.Strip(strings.Join(lines, "\n")), want)
		if err != nil {
			return err
		}
		select {
		case <-more:
			rest.Reset(quiet)
		case <-rest.C:
			if shown {
				return nil
			}
			rest.Reset(quiet)
		case <-late:
			return fmt.Errorf("the screen did not show %q:\n%s", want,
				ansi.Strip(strings.Join(lines, "\n")))
		}
	}
}

type step struct {
	keys string
	sees string // "" = wait for a moment without output
}

func (s *terminalRoom) play(do step) error {
	if _, err := io.WriteString(s.tty, do.keys); err != nil {
		return err
	}
	if err := s.sees(do.sees); err != nil {
		return err
	}
	if err := s.order(1); err != nil {
		return err
	}
	return s.sees(do.sees)
}

func (s *terminalRoom) cursor() (x, y int, shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Cursor()
}
