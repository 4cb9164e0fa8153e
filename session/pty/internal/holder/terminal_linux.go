package holder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

type terminal struct {
	cols  int // size while there are no viewers
	rows  int
	plain bool // pipes instead of a terminal
	// for the agent's output and, with a terminal, its input; non-blocking
	master     *os.File
	stdin      *os.File // the agent's input; non-blocking
	childFiles []int    // closed once the agent has started

	// slave keeps the output open while the agent reopens its terminal. With pipes, it is -1.
	slave int

	typing chan struct{} // holds a token while no call is typing
	// ends a line or a paste that was accepted only in part; typed before any other input. Access requires the typing
	// token.
	unfinished string
	// when a paste was last submitted, and the end of the output before it; access requires the typing token
	entered time.Time
	printed uint64
	// viewers that may send input, in the order in which they attached; protected by holder.mu
	typists  []*viewer
	replying bool // a goroutine is replying to queries; protected by holder.mu
}

func newTerminal(cols, rows int) terminal {
	t := terminal{cols: cols, rows: rows, typing: make(chan struct{}, 1)}
	if cols < 1 || rows < 1 {
		t.cols, t.rows = 80, 24
	}
	t.typing <- struct{}{}
	return t
}

// openTerminal leaves the agent's side blocking, because programs expect that of their standard input.
func (t *terminal) openTerminal() error {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK,
		0)
	if errors.Is(err, unix.ENOSPC) {
		return &wire.Failure{Cause: wire.Exhausted, Message: "this machine has no free " +
			"terminal: stop some sessions, or raise kernel.pty.max (sysctl)"}
	}
	if err != nil {
		return fmt.Errorf("cannot open a terminal: %w", err)
	}
	if err := t.openSlave(master); err != nil {
		unix.Close(master)
		return fmt.Errorf("cannot open a terminal: %w", err)
	}
	t.master = os.NewFile(uintptr(master), "pty")
	t.stdin = t.master
	return nil
}

func (t *terminal) openSlave(master int) error {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	size := unix.Winsize{Row: uint16(t.rows), Col: uint16(t.cols)}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &size); err != nil {
		return err
	}
	slave, err := openPeer(master)
	if err != nil {
		return err
	}
	t.slave = slave
	return nil
}

// openPeer does not use the terminal's path, so that it works in any mount namespace.
func openPeer(master int) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func (t *terminal) openPipes() error {
	t.slave = -1
	var in, out [2]int
	if err := unix.Pipe2(in[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("cannot create the agent's standard input: %w", err)
	}
	if err := unix.Pipe2(out[:], unix.O_CLOEXEC); err != nil {
		unix.Close(in[0])
		unix.Close(in[1])
		return fmt.Errorf("cannot create the agent's standard output: %w", err)
	}
	t.childFiles = []int{in[0], out[1]}
	// the agent's ends stay blocking, because programs expect that
	for _, ours := range []int{in[1], out[0]} {
		_ = unix.SetNonblock(ours, true) // cannot fail for a new pipe
	}
	t.stdin, t.master = os.NewFile(uintptr(in[1]), "stdin"), os.NewFile(uintptr(out[0]), "stdout")
	return nil
}

func (t *terminal) closeChildFiles() {
	for _, fd := range t.childFiles {
		unix.Close(fd)
	}
	t.childFiles = nil
}

func (t *terminal) closeSlave() {
	if t.slave >= 0 {
		unix.Close(t.slave)
	}
}

func (t *terminal) closeOwnFiles() {
	t.master.Close()
	if t.stdin != t.master {
		t.stdin.Close()
	}
}

func (t *terminal) takeTyping(ctx context.Context) (release func(), err error) {
	select {
	case <-t.typing:
		return func() { t.typing <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, reject("the terminal is not accepting input; earlier input is still " +
			"being typed")
	}
}

// finish ends a line or a paste that was only partly accepted. The caller must hold the typing token.
func (t *terminal) finish(ctx context.Context) error {
	if t.unfinished == "" {
		return nil
	}
	n, err := t.put(ctx, []byte(t.unfinished))
	t.unfinished = t.unfinished[n:]
	return err
}

// writeLine writes a line to a pipe. The caller must hold the typing token.
func (t *terminal) writeLine(ctx context.Context, text string) error {
	n, err := t.put(ctx, []byte(text+"\n"))
	if err != nil && n > 0 {
		t.unfinished = "\n"
	}
	return err
}

// enterTimeout is the least time that the terminal has to accept Enter, because the text before it cannot be withdrawn.
const enterTimeout = time.Second

// submit types text and then Enter, and returns how many bytes of the text were accepted. It calls pause in between.
// The caller must hold the typing token.
func (t *terminal) submit(ctx context.Context, text, enter []byte, pause func()) (n int,
	err error) {
	if n, err = t.put(ctx, text); err != nil {
		return n, err
	}
	pause()
	deadline, _ := ctx.Deadline()
	if soonest := time.Now().Add(enterTimeout); deadline.Before(soonest) {
		deadline = soonest
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	_, err = t.put(ctx, enter)
	return n, err
}

// put writes data to the agent's input. The caller must hold the typing token.
func (t *terminal) put(ctx context.Context, data []byte) (n int, err error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(writeTimeout)
	}
	t.stdin.SetWriteDeadline(deadline)
	n, err = t.stdin.Write(data)
	switch {
	case errors.Is(err, unix.EPIPE):
		return n, reject("the program has closed its standard input")
	case errors.Is(err, os.ErrDeadlineExceeded) && t.plain:
		return n, reject("the program stopped reading its standard input: %d of %d bytes were "+
			"sent and cannot be withdrawn", n, len(data))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, reject("the terminal's input buffer is full: it accepted %d of %d bytes, and "+
			"the program has stopped reading", n, len(data))
	case err != nil:
		return n, &wire.Failure{Cause: wire.NotAlive, Message: "the terminal is closed: " +
			err.Error()}
	}
	return n, nil
}

func (t *terminal) waitRead(ctx context.Context) {
	now := time.Now()
	end, there := now.Add(readPause), now.Add(arrival)
	pause, came := time.Millisecond, false
	for time.Now().Before(end) && ctx.Err() == nil {
		time.Sleep(pause)
		n, err := unix.IoctlGetInt(t.slave, unix.TIOCINQ)
		came = came || n > 0
		// An empty queue does not prove that the program has read the text, because the text might still be on its way.
		if err != nil || n == 0 && (came || time.Now().After(there)) {
			return
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
}

func (t *terminal) termios() (tio *unix.Termios, err error) {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return nil, err
	}
	ctlErr := raw.Control(func(fd uintptr) {
		tio, err = unix.IoctlGetTermios(int(fd), unix.TCGETS)
	})
	if err = errors.Join(ctlErr, err); err != nil {
		return nil, fmt.Errorf("cannot read the terminal's mode: %w", err)
	}
	return tio, nil
}

// readsLines reports whether the program reads whole lines (canonical mode). If this is unknown, it returns true.
func (t *terminal) readsLines() bool {
	tio, err := t.termios()
	return err != nil || tio.Lflag&unix.ICANON != 0
}
