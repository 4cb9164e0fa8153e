package holder

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gcity/session/pty/internal/wire"
)

type viewer struct {
	c       *conn
	l       *life
	types   bool
	cols    int // size of the viewer's terminal
	rows    int
	pos     uint64
	resizes int // value of life.resizes when the size was last sent
	cleared uint64
	own     draft // like life.draft, but only of this viewer's input

	listened chan struct{} // closed when all of the viewer's input has been typed
	surplus  chan struct{} // closed when the rest of the viewer's input is dropped
}

func (h *holder) view(c *conn, req *wire.Request) {
	l, err := h.living()
	if err != nil {
		c.fail(err)
		return
	}
	v := &viewer{c: c, l: l, types: req.Op == wire.OpAttach, listened: make(chan struct{}),
		surplus: make(chan struct{})}
	if v.types && l.plain {
		c.fail(errNoTerminal)
		return
	}
	c.viewer = true
	h.mu.Lock()
	l.viewers++
	if v.types {
		l.attached = append(l.attached, v)
		l.typists = append(l.typists, v)
		v.resize(h, req.Cols, req.Rows)
		h.writeActivity(l)
	}
	h.mu.Unlock()
	h.wg.Go(func() {
		defer v.endInput(h)
		h.listen(v)
	})
	if h.show(v) == nil {
		_ = c.closeWrite() // fails if the viewer has disconnected
	}
	h.endView(v)
	select { // the connection still contains input that the viewer sent before it disconnected
	case <-v.listened:
	case <-l.ended:
	}
}

// maxWaiting is the maximum number of disconnected viewers with input that the program has not read. Each of them needs
// a file descriptor.
const maxWaiting = 64

func (h *holder) endView(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := v.l
	l.viewers--
	if !v.types {
		return
	}
	l.attached = slices.DeleteFunc(l.attached, func(a *viewer) bool { return a == v })
	if len(l.typists)-len(l.attached) > maxWaiting {
		close(v.surplus)
	}
	if n := len(l.attached); n > 0 {
		h.resize(l, l.attached[n-1].cols, l.attached[n-1].rows)
	} else {
		h.resize(l, l.cols, l.rows)
	}
	h.writeActivity(l)
}

// resize sets the size of the viewer's terminal, and gives the agent's terminal the same size. It has no effect after
// endView. The caller must hold h.mu.
func (v *viewer) resize(h *holder, cols, rows int) {
	i := slices.Index(v.l.attached, v)
	if i < 0 {
		return
	}
	v.l.attached = append(slices.Delete(v.l.attached, i, i+1), v)
	v.cols, v.rows = cols, rows
	h.resize(v.l, cols, rows)
}

// resize sets the size of the terminal. The caller must hold h.mu.
func (h *holder) resize(l *life, cols, rows int) {
	if cols < 1 || rows < 1 || cols > 1<<15 || rows > 1<<15 || l.exit != nil {
		return
	}
	if cols == l.size.Cols && rows == l.size.Rows {
		return
	}
	if err := setSize(l.master, cols, rows); err != nil {
		h.logError("cannot resize the terminal", err)
		return
	}
	l.size.Cols, l.size.Rows = cols, rows
	l.resizes++
	h.cond.Broadcast()
}

func (h *holder) listen(v *viewer) {
	defer v.closePaste(h)
	defer v.endOutput(h)
	for {
		m, err := v.c.r.Next()
		if err != nil || !v.types {
			return
		}
		switch m.Kind {
		case wire.Input:
			if h.typed(v, m.Data) != nil {
				return
			}
		case wire.Resize:
			var s wire.Screen
			if json.Unmarshal(m.Data, &s) != nil {
				return
			}
			h.mu.Lock()
			v.resize(h, s.Cols, s.Rows)
			h.mu.Unlock()
		default:
			return
		}
	}
}

func (h *holder) show(v *viewer) error {
	if err := h.replayTo(v); err != nil {
		return err
	}
	buf := make([]byte, 16<<10)
	for {
		n, size, resized, reset, over := h.next(v, buf)
		var err error
		switch {
		case over:
			return nil
		case reset:
			err = h.replayTo(v)
		case resized:
			err = v.c.sendJSON(wire.Resized, size)
		}
		if err == nil && n > 0 {
			err = v.c.send(wire.Output, buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

func (h *holder) next(v *viewer, buf []byte) (n int, size wire.Screen, resized, reset, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := v.l
	for v.pos == l.out.end && v.resizes == l.resizes && l.exit == nil && !v.c.gone &&
		!v.missedClear() {
		h.cond.Wait()
	}
	if v.c.gone || l.exit != nil && v.pos == l.out.end {
		return 0, size, false, false, true
	}
	if v.pos < l.out.start && v.pos < l.out.end || v.missedClear() {
		return 0, size, false, true, false
	}
	resized = v.resizes != l.resizes
	v.resizes = l.resizes
	n = l.out.readAt(v.pos, buf)
	v.pos += uint64(n)
	return n, l.size, resized, false, false
}

// missedClear reports whether a viewer that only watches must drop the output before the last clear. A user's terminal
// keeps it, because the program does not draw its screen again.
func (v *viewer) missedClear() bool { return !v.types && v.cleared != v.l.cleared }

func (h *holder) replayTo(v *viewer) error {
	h.mu.Lock()
	size := v.l.size
	size.Dropped = v.l.out.start
	replay := v.l.replay()
	v.pos, v.resizes, v.cleared = v.l.out.end, v.l.resizes, v.l.cleared
	h.mu.Unlock()
	if err := v.c.sendJSON(wire.Reset, size); err != nil {
		return err
	}
	if err := v.c.send(wire.Output, replay); err != nil {
		return err
	}
	return v.c.send(wire.Live, nil)
}

// endOutput ends the output to a viewer that has disconnected.
func (v *viewer) endOutput(h *holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v.c.gone = true
	h.cond.Broadcast()
}

func (v *viewer) endInput(h *holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v.l.typists = slices.DeleteFunc(v.l.typists, func(t *viewer) bool { return t == v })
	close(v.listened)
}

// typed types a viewer's input. If the program does not read it, typed waits until the program reads again or its
// session ends, even if the viewer has disconnected. From time to time, it lets other calls type. It drops the
// input if too many disconnected viewers wait, unless the program has read part of the viewer's paste.
func (h *holder) typed(v *viewer, data []byte) error {
	for {
		h.mu.Lock()
		if !v.c.gone {
			v.l.typed = h.clock.Mono(time.Now())
		}
		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		n, err := 0, v.awaitTurn(ctx, h)
		if err == nil {
			n, err = h.typeBytes(ctx, v.l, data, (*draft).Write)
		}
		cancel()
		v.own.Write(data[:n])
		if !isRejected(err) || closed(v.surplus) && !v.own.paste {
			return err
		}
		if v.c.abandoned() {
			v.endOutput(h)
		}
		data = data[n:]
	}
}

// awaitTurn waits until the input of viewers that attached before v and have disconnected is typed. Otherwise, what a
// user types after attaching again could end up within the user's earlier paste.
func (v *viewer) awaitTurn(ctx context.Context, h *holder) error {
	h.mu.Lock()
	earlier := slices.Clone(v.l.typists[:slices.Index(v.l.typists, v)])
	h.mu.Unlock()
	surplus := v.surplus
	if v.own.paste {
		surplus = nil // see typed
	}
	for _, e := range earlier {
		if !e.c.abandoned() {
			continue
		}
		select {
		case <-e.listened:
		case <-v.l.ended:
		case <-surplus:
			return reject("the input of too many disconnected viewers is waiting")
		case <-ctx.Done():
			return reject("earlier input is still being typed")
		}
	}
	return nil
}

// closePaste ends a paste if the viewer has not sent its end. Otherwise, the program would treat later keys as pasted
// text.
func (v *viewer) closePaste(h *holder) {
	if v.own.paste {
		_ = h.typed(v, []byte(endPaste)) // fails only if the session has ended
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isRejected reports whether input was rejected. A terminal rejects bytes only if it has not accepted them in time.
func isRejected(err error) bool {
	f, ok := err.(*wire.Failure)
	return ok && f.Cause == wire.Rejected
}
