package holder

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
)

const (
	// killAfter is how long the tree has between TERM and KILL.
	killAfter = 500 * time.Millisecond
	// terminateGrace is the grace of an agent whose holder is told to end by the system.
	terminateGrace = 2 * time.Second
)

// stopping is a stop under way; requests that come meanwhile join it and may only hasten it. Under holder.mu.
type stopping struct {
	deadline time.Time
	sooner   chan struct{} // poked when the deadline moved
}

// stop ends the current life and returns when nothing of it is left. Its end counts as asked for, or else as lost.
func (h *holder) stop(grace time.Duration, asked bool) {
	h.mu.Lock()
	l := h.cur
	if l == nil || l.exit != nil {
		h.mu.Unlock()
		return
	}
	if !l.reaped { // else it ended by itself, and only its leftovers are being ended
		l.asked = l.asked || asked
		l.lost = !l.asked
	}
	deadline := time.Now().Add(grace)
	switch s := l.stopping; {
	case s == nil:
		l.stopping = &stopping{deadline: deadline, sooner: make(chan struct{}, 1)}
		h.wg.Go(func() { h.end(l, grace > 0) })
	case deadline.Before(s.deadline):
		s.deadline = deadline
		select {
		case s.sooner <- struct{}{}:
		default:
		}
	}
	h.mu.Unlock()
	<-l.ended
}

// end carries a stop out: ask, insist, kill.
func (h *holder) end(l *life, ask bool) {
	if ask {
		proc.SignalTree(h.pid, unix.SIGCONT)
		if !l.plain {
			if err := h.interrupt(l); err != nil {
				h.complain("cannot interrupt", err)
			}
		}
		h.signalGroup(l, unix.SIGINT)
		if h.waitStop(l) {
			return
		}
		proc.SignalTree(h.pid, unix.SIGTERM)
		proc.SignalTree(h.pid, unix.SIGHUP)
		proc.SignalTree(h.pid, unix.SIGCONT)
		h.mu.Lock()
		l.stopping.deadline = time.Now().Add(killAfter)
		h.mu.Unlock()
		if h.waitStop(l) {
			return
		}
	}
	for !proc.KillTree(h.pid, time.Now().Add(10*time.Second)) {
		h.complain("cannot end the agent's processes", fmt.Errorf("pids %v", proc.Descendants(h.pid)))
	}
}

// signalGroup signals the agent's own group, if the agent still is who it was.
func (h *holder) signalGroup(l *life, sig unix.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !l.reaped {
		_ = unix.Kill(-l.pid, sig) // ESRCH: it is a zombie alone in its group
	}
}

// waitStop waits for the end or for the stop's deadline, and reports whether the end came.
func (h *holder) waitStop(l *life) bool {
	for {
		h.mu.Lock()
		left := time.Until(l.stopping.deadline)
		h.mu.Unlock()
		timer := time.NewTimer(left)
		select {
		case <-l.ended:
			timer.Stop()
			return true
		case <-l.stopping.sooner:
			timer.Stop()
		case <-timer.C:
			return false
		}
	}
}
