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
// restores its modes in front. If the end of the output with at least so many bytes can be drawn without what comes
// before it, only that is given; 0 asks for all.
func (h *holder) answerOutput(c *conn, tail int) error {
	h.mu.Lock()
	l := h.cur
	if l == nil {
		h.mu.Unlock()
		return c.fail(errLeaving)
	}
	size := l.size
	var replay []byte
	if from, ok := l.tail(tail); ok {
		size.Tail, replay = true, l.replayFrom(from)
	} else {
		replay = l.replay()
	}
	size.Dropped = l.out.start
	h.mu.Unlock()
	both := wire.AppendMessage(nil, wire.Reset, size.AppendJSON(nil))
	return c.sendRaw(wire.AppendMessage(both, wire.Output, replay))
}

// replay is what brings a fresh terminal to where the kept output leads. Under holder.mu.
func (l *life) replay() []byte {
	dropped := l.out.start > 0
	from := l.out.safeStart(dropped)
	// what a pipe gives after a clearing begins with a line
	if l.plain && l.out.start == l.cleared {
		from = l.out.start
	}
	return l.replayFrom(from)
}
