package holder

import (
	"errors"
	"fmt"
	"os"

	"gcity/session/pty/internal/wire"
)

// forgetExit removes the exit record: it is on record elsewhere. Under h.mu.
func (h *holder) forgetExit() {
	if err := os.Remove(wire.ExitFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		h.complain("cannot remove the exit record", err)
	}
}

func (h *holder) answerCapture(c *conn, id string) error {
	h.mu.Lock()
	var data []byte
	found := false
	for _, l := range []*life{h.cur, h.prev} {
		if l != nil && l.rec.ID == id {
			data, found = l.out.bytes(), true
			break
		}
	}
	h.mu.Unlock()
	if !found {
		return c.fail(&wire.Failure{Cause: wire.NotAlive,
			Message: fmt.Sprintf("nothing is kept of the life %s", id)})
	}
	return c.send(wire.Done, data)
}

// answerOutput gives the size of the terminal, then the kept output of the current life, alive or not, with what
// restores its modes in front.
func (h *holder) answerOutput(c *conn) error {
	h.mu.Lock()
	l := h.cur
	if l == nil {
		h.mu.Unlock()
		return c.fail(errLeaving)
	}
	size := l.size
	replay := l.replay()
	size.Dropped = l.out.start
	h.mu.Unlock()
	if err := c.sendJSON(wire.Reset, size); err != nil {
		return err
	}
	return c.send(wire.Output, replay)
}

// replay is what brings a fresh terminal to where the kept output leads. Under holder.mu.
func (l *life) replay() []byte {
	dropped := l.out.start > 0
	var b []byte
	if dropped {
		b = l.modes.restore()
	}
	from := l.out.safeStart(dropped)
	// what a pipe gives after a clearing begins with a line
	if l.plain && l.out.start == l.cleared {
		from = l.out.start
	}
	n := len(b)
	b = append(b, make([]byte, l.out.end-from)...)
	l.out.readAt(from, b[n:])
	return b
}
