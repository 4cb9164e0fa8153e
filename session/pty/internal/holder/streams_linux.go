package holder

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openPipes makes what an agent without a terminal reads and prints to.
func (l *life) openPipes() error {
	l.slave = -1
	var in, out [2]int
	if err := unix.Pipe2(in[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("cannot make the agent's standard input: %w", err)
	}
	if err := unix.Pipe2(out[:], unix.O_CLOEXEC); err != nil {
		unix.Close(in[0])
		unix.Close(in[1])
		return fmt.Errorf("cannot make the agent's standard output: %w", err)
	}
	l.theirs = []int{in[0], out[1]}
	// the agent's ends stay blocking, as programs expect
	for _, ours := range []int{in[1], out[0]} {
		_ = unix.SetNonblock(ours, true) // it cannot fail for a pipe just made
	}
	l.stdin, l.master = os.NewFile(uintptr(in[1]), "stdin"), os.NewFile(uintptr(out[0]), "stdout")
	return nil
}

// letGo closes what is the agent's alone.
func (l *life) letGo() {
	for _, fd := range l.theirs {
		unix.Close(fd)
	}
	l.theirs = nil
}

func (l *life) closeSlave() {
	if l.slave >= 0 {
		unix.Close(l.slave)
	}
}

// closeOurs closes our ends.
func (l *life) closeOurs() {
	l.master.Close()
	if l.stdin != l.master {
		l.stdin.Close()
	}
}

// lineEnds makes lines that were not meant for a terminal fit for one, across pieces that are cut anywhere.
type lineEnds struct{ cr bool }

// terminal puts a carriage return before each line feed that has none. The result may be p.
func (e *lineEnds) terminal(p []byte) []byte {
	if len(p) == 0 {
		return p
	}
	cr := e.cr
	e.cr = p[len(p)-1] == '\r'
	n := bytes.Count(p, []byte{'\n'})
	if n == 0 {
		return p
	}
	out := make([]byte, 0, len(p)+n)
	for _, c := range p {
		if c == '\n' && !cr {
			out = append(out, '\r')
		}
		out = append(out, c)
		cr = c == '\r'
	}
	return out
}

// drain reads what the agent prints until it gives nothing more, whoever looks or does not.
func (h *holder) drain(l *life) {
	defer close(l.drained)
	buf := make([]byte, 8<<10)
	lines := lineEnds{}
	for {
		n, err := l.master.Read(buf)
		if n > 0 {
			text := buf[:n]
			if l.plain {
				text = lines.terminal(text)
			}
			now := time.Now()
			h.mu.Lock()
			l.out.Write(text)
			l.modes.Write(text)
			l.output = h.clock.Mono(now)
			if h.cur == l {
				h.touch(l, now)
			}
			h.cond.Broadcast()
			h.mu.Unlock()
		}
		if err != nil { // EIO, of a pipe EOF: the last process that had it open is gone
			return
		}
	}
}

// interrupt does what the interrupt key does: the terminal's foreground group gets SIGINT, or a program that reads the
// keys itself gets the key. Without a terminal the agent's group gets the signal.
func (h *holder) interrupt(l *life) error {
	if l.plain {
		h.signalGroup(l, unix.SIGINT)
		return nil
	}
	raw, err := l.master.SyscallConn()
	if err != nil {
		return err
	}
	var tio *unix.Termios
	var tioErr error
	if err := raw.Control(func(fd uintptr) {
		tio, tioErr = unix.IoctlGetTermios(int(fd), unix.TCGETS)
		if tioErr == nil && tio.Lflag&unix.ISIG != 0 {
			tioErr = unix.IoctlSetInt(int(fd), unix.TIOCSIG, int(unix.SIGINT))
		}
	}); err != nil {
		return err
	}
	if tioErr != nil {
		return fmt.Errorf("cannot reach the terminal: %w", tioErr)
	}
	if tio.Lflag&unix.ISIG != 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return h.typeBytes(ctx, l, []byte{3}, (*draft).end)
}
