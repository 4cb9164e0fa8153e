package holder

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// lineEnds converts line ends from a pipe for a terminal. The input may be split anywhere.
type lineEnds struct{ cr bool }

// terminal adds a carriage return before each line feed without one. It may return p itself.
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

// drain reads the agent's output until the output ends, with or without viewers.
func (h *holder) drain(l *life) {
	defer close(l.drained)
	buf := make([]byte, 8<<10)
	lines := lineEnds{}
	var p pace
	for {
		n, err := l.master.Read(buf)
		if n > 0 {
			text := buf[:n]
			if l.plain {
				text = lines.terminal(text)
			}
			now := time.Now()
			h.mu.Lock()
			l.add(text)
			l.output = h.clock.Mono(now)
			if h.current == l {
				h.touch(l, now)
			}
			h.cond.Broadcast()
			watched := l.viewers > 0
			h.mu.Unlock()
			if p.steady(n, now) && !watched {
				l.rest()
			}
		}
		if err != nil { // EIO, or EOF from a pipe: no other process has it open
			return
		}
	}
}

// pace detects output that comes continuously in small pieces. Reading each piece separately would wake this
// process for every line. Instead, the reader waits between two reads, for a time that is too short for a user to
// notice.
type pace struct {
	last  time.Time // when the last piece was read
	large time.Time // when the last large piece was read
}

const (
	restTime  = 50 * time.Millisecond
	gapTime   = 2 * restTime // maximum interval between pieces of continuous output
	largeSize = 2 << 10      // about half of the kernel's buffer for a terminal
	// time without waits after a large piece, so that a program with much output does not wait for its reader
	largeTime = 200 * time.Millisecond
)

// steady records a piece of n bytes. It reports whether the next read may be delayed.
func (p *pace) steady(n int, now time.Time) bool {
	gap := now.Sub(p.last)
	p.last = now
	if n >= largeSize {
		p.large = now
	}
	return gap < gapTime && now.Sub(p.large) >= largeTime
}

// rest waits for restTime, or until the agent has exited.
func (l *life) rest() {
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	select {
	case <-l.gone:
	case <-timer.C:
	}
}

// interrupt has the effect of the interrupt key. The terminal's foreground group receives SIGINT. If the
// program reads single keys, it receives the key instead. Without a terminal, the agent's process group
// receives SIGINT.
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
