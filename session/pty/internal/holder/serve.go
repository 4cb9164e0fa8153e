package holder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gcity/session/pty/internal/wire"
)

func (h *holder) serve(c *conn) {
	defer h.hangUp(c)
	for {
		req, err := c.request()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.fail(fmt.Errorf("cannot decode the request: %w", err))
			}
			return
		}
		if req.Op == wire.OpAttach || req.Op == wire.OpWatch {
			h.view(c, &req)
			return
		}
		if err := h.handle(c, &req); err != nil {
			return
		}
	}
}

func (h *holder) hangUp(c *conn) {
	c.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, c)
	if l := h.current; l != nil && l.exit != nil && !l.acked && !h.hasController() {
		h.saveExit(l)
	}
	h.leaveIfIdle()
}

// hasController reports whether a controller is connected. The caller must hold h.mu.
func (h *holder) hasController() bool {
	for _, controller := range h.held {
		if controller {
			return true
		}
	}
	return false
}

// leaveIfIdle makes the holder exit if its session has ended, no connection can start another one, and the exit cannot
// be lost: the controller has recorded it, or can read it completely from the session's folder. The caller must hold
// h.mu.
//
// Until the controller has recorded the exit, a connection that only reads also keeps the holder alive, because its
// client might be about to record the exit.
func (h *holder) leaveIfIdle() {
	l := h.current
	if l == nil || l.exit == nil {
		return
	}
	for _, keeps := range h.held {
		if keeps || !l.acked {
			return
		}
	}
	if l.acked || l.exit.Asked || l.lost {
		h.leave()
	}
}

func (h *holder) handle(c *conn, req *wire.Request) error {
	switch req.Op {
	case wire.OpHold:
		return h.handleHold(c, req.Look)
	case wire.OpStart:
		return h.handleStart(c, req)
	case wire.OpStop:
		h.stop(req.Grace, true)
		return c.send(wire.Done, nil)
	case wire.OpAck:
		return h.handleAck(c, req.ID)
	case wire.OpCapture:
		return h.handleCapture(c, req.ID)
	case wire.OpOutput:
		return h.handleOutput(c, req.Tail)
	}
	l, err := h.living()
	if err != nil {
		return c.fail(err)
	}
	data, err := h.act(l, req)
	if err != nil {
		return c.fail(err)
	}
	return c.send(wire.Done, data)
}

func (h *holder) act(l *life, req *wire.Request) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), req.Wait)
	defer cancel()
	switch req.Op {
	case wire.OpInterrupt:
		return nil, h.interrupt(ctx, l)
	case wire.OpSend:
		return nil, h.sendLine(ctx, l, req.Text, req.Quiet)
	case wire.OpKeys:
		return nil, h.sendKeys(ctx, l, req.Keys)
	case wire.OpClear:
		h.mu.Lock()
		l.clear()
		h.cond.Broadcast()
		h.mu.Unlock()
		return nil, nil
	case wire.OpSetMeta:
		h.setMeta(l, req.Key, req.Value)
		return nil, nil
	case wire.OpMeta:
		h.mu.Lock()
		defer h.mu.Unlock()
		return []byte(l.meta[req.Key]), nil
	}
	return nil, fmt.Errorf("this holder (protocol %d) does not support %q", wire.Version, req.Op)
}

func (h *holder) setMeta(l *life, key, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if value == "" {
		delete(l.meta, key)
	} else {
		l.meta[key] = value
	}
	h.writeActivity(l)
}

func (h *holder) living() (*life, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == nil || h.current.exit != nil {
		return nil, &wire.Failure{Cause: wire.NotAlive, Message: "the agent is not alive"}
	}
	return h.current, nil
}

// handleHold waits for a start in progress, so that the client gets the state after it.
func (h *holder) handleHold(c *conn, look bool) error {
	err := h.onMain(func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.leaving || h.current == nil {
			return errLeaving
		}
		h.held[c] = !look
		return c.sendJSON(wire.Done, h.state())
	})
	if errors.Is(err, errLeaving) {
		return c.fail(err)
	}
	return err
}

// state returns the state of the current session. The caller must hold h.mu.
func (h *holder) state() wire.State {
	l := h.current
	return wire.State{Record: l.rec, PID: l.pid, Exit: l.exit, Acked: l.acked}
}

func (h *holder) handleStart(c *conn, req *wire.Request) error {
	if req.Spec == nil {
		return c.fail(fmt.Errorf("the start request does not contain a session"))
	}
	awaitStop(h)
	err := h.onMain(func() error { return beginFor(c, h, req) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		return c.sendJSON(wire.Done, h.state())
	}
	return c.fail(err)
}

// handleAck waits for a start in progress, because the start replaces the session's record.
func (h *holder) handleAck(c *conn, id string) error {
	return h.onMain(func() error { return acknowledge(h, c, id) })
}

func acknowledge(h *holder, c *conn, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.previous != nil && h.previous.rec.ID == id {
		h.previous = nil
	}
	l := h.current
	if l == nil || l.rec.ID != id || l.exit == nil {
		return c.send(wire.Done, nil)
	}
	if l.exit.Asked {
		l.acked = true
		h.leave()
		return c.send(wire.Done, []byte("leaves"))
	}
	if !l.acked {
		l.acked = true
		h.forgetExit()
		time.AfterFunc(idleLife, func() {
			_ = h.onMain(func() error { // in the main goroutine, so that no start is in progress
				h.mu.Lock()
				defer h.mu.Unlock()
				if h.current == l {
					h.leave()
				}
				return nil
			})
		})
	}
	h.leaveIfIdle()
	return c.send(wire.Done, nil)
}
