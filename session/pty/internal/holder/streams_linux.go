package holder

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// lineEnds converts the line ends of output from a pipe to those of a terminal. The output can be split anywhere.
type lineEnds struct{ cr bool }

// terminal returns p with the line ends of a terminal. The result can be p itself.
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
			reply := l.mustReply()
			h.mu.Unlock()
			if reply {
				h.wg.Go(func() { sendReplies(h, l) })
			}
			if p.steady(n, now) && !watched {
				l.rest()
			}
		}
		if err != nil { // EIO, or EOF from a pipe: no other process has the agent's end open
			return
		}
	}
}

// pace detects continuous output in small pieces. Without a rest between reads, the holder would wake up for every
// line.
type pace struct {
	last  time.Time
	large time.Time
}

const (
	restTime  = 50 * time.Millisecond
	gapTime   = 2 * restTime // maximum time between pieces of continuous output
	largeSize = 2 << 10      // about half of the kernel's terminal buffer
	// how long the reader does not rest after a large piece
	largeTime = 200 * time.Millisecond
)

func (p *pace) steady(n int, now time.Time) bool {
	gap := now.Sub(p.last)
	p.last = now
	if n >= largeSize {
		p.large = now
	}
	return gap < gapTime && now.Sub(p.large) >= largeTime
}

func (l *life) rest() {
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	select {
	case <-l.gone:
	case <-timer.C:
	}
}

// interrupt does what the interrupt key does. Without a terminal, it sends SIGINT to the agent's process group.
func (h *holder) interrupt(ctx context.Context, l *life) error {
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
		return fmt.Errorf("cannot access the terminal: %w", tioErr)
	}
	if tio.Lflag&unix.ISIG != 0 {
		return nil
	}
	_, err = h.typeBytes(ctx, l, []byte{3}, func(d *draft, _ []byte) { d.end() })
	return err
}
