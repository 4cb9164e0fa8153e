package holder

import (
	"fmt"

	"gcity/session/pty/internal/wire"
)

// forgetExit removes the session's record and then its exit, because a record without an exit would count as a lost
// session. The caller must hold h.mu.
func (h *holder) forgetExit() {
	err := removeRecord(&h.lock)
	if err == nil {
		err = remove(wire.ExitFile)
	}
	if err != nil {
		h.logError("cannot remove the record of the session's end", err)
	}
}

func (h *holder) handleCapture(c *conn, id string) error {
	h.mu.Lock()
	var data []byte
	found := false
	for _, l := range []*life{h.current, h.previous} {
		if l != nil && l.rec.ID == id {
			data, found = l.out.bytes(), true
			break
		}
	}
	h.mu.Unlock()
	if !found {
		return c.fail(&wire.Failure{Cause: wire.NotAlive,
			Message: fmt.Sprintf("the output of the session with the ID %s is no longer "+
				"available", id)})
	}
	return c.send(wire.Done, data)
}

// handleOutput sends the terminal's size and the retained output. If tail > 0, it may send only about tail bytes.
func (h *holder) handleOutput(c *conn, tail int) error {
	h.mu.Lock()
	l := h.current
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

// replay returns the retained output. The caller must hold holder.mu.
func (l *life) replay() []byte {
	dropped := l.out.start > 0 && (l.out.start != l.cleared || l.cutSequence)
	return l.replayFrom(l.out.safeStart(dropped))
}
