package holder

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
)

const (
	killAfter = 500 * time.Millisecond
	// resumeAfter is how long a stop waits before it sends SIGCONT to all processes of the session.
	resumeAfter = 200 * time.Millisecond
	promptPoll  = 200 * time.Millisecond
	// hangUpAgain is the time between two SIGHUPs to a shell.
	hangUpAgain = time.Second
	// terminateGrace is the agent's grace period if the holder itself receives SIGTERM.
	terminateGrace = 2 * time.Second
)

// stopping is a stop in progress. Later stop requests can only shorten its grace period. holder.mu protects it.
type stopping struct {
	deadline time.Time
	sooner   chan struct{} // receives a value when the deadline becomes earlier
	over     chan struct{} // closed when the stop sends no more signals
}

// stop ends the session, and returns when none of its processes is left. If asked is false, the session counts as lost,
// unless a stop was requested earlier.
func (h *holder) stop(grace time.Duration, asked bool) {
	h.mu.Lock()
	l := h.current
	if l == nil || l.exit != nil {
		h.mu.Unlock()
		return
	}
	// if the agent has exited on its own, only its remaining processes must be killed
	if !l.reaped {
		l.asked = l.asked || asked
		l.lost = !l.asked
	}
	deadline := time.Now().Add(grace)
	switch s := l.stopping; {
	case s == nil:
		s = &stopping{deadline: deadline, sooner: make(chan struct{}, 1), over: make(chan struct{})}
		l.stopping = s
		h.wg.Go(func() {
			defer close(s.over)
			h.end(l, grace > 0)
		})
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

// awaitStop waits until the stop of an ended session sends no more signals. It sends them to all of the holder's
// descendants, so they could end the next session. The stop is almost over, because an ended session has no processes.
func awaitStop(h *holder) {
	h.mu.Lock()
	l := h.current
	ended := l != nil && l.exit != nil && l.stopping != nil
	h.mu.Unlock()
	if ended {
		<-l.stopping.over
	}
}

func (h *holder) end(l *life, ask bool) {
	if ask {
		if h.ask(l) {
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
		h.logError("cannot kill the agent's processes",
			fmt.Errorf("pids %v", proc.Descendants(h.pid)))
	}
}

// interruptTimeout is how long the terminal of a shell has to accept Ctrl-C before a stop sends signals.
const interruptTimeout = time.Second

// ask asks the agent to exit, and reports whether the session ended within the grace period. Stopped processes cannot
// handle the signal, so ask resumes them after a while.
func (h *holder) ask(l *life) bool {
	h.signalGroup(l, unix.SIGCONT)
	shell := l.stopSignal == unix.SIGINT && !l.plain
	if shell {
		ctx, cancel := context.WithTimeout(context.Background(), interruptTimeout)
		if err := h.interrupt(ctx, l); err != nil {
			h.logError("cannot interrupt the agent", err)
		}
		cancel()
	}
	h.signalGroup(l, l.stopSignal)
	var hungUp time.Time
	if shell && h.endShell(l) {
		hungUp = time.Now()
	}
	timer := time.NewTimer(min(resumeAfter, h.graceLeft(l)))
	defer timer.Stop()
	select {
	case <-l.ended:
		return true
	case <-l.stopping.sooner:
	case <-timer.C:
	}
	proc.SignalTree(h.pid, unix.SIGCONT)
	if shell && h.waitPrompt(l, hungUp) {
		return true
	}
	return h.waitStop(l)
}

// endShell ends an interactive shell at its prompt, where it ignores SIGINT.
func (h *holder) endShell(l *life) bool {
	if !proc.AtPrompt(l.pid) {
		return false
	}
	h.signalGroup(l, unix.SIGHUP)
	return true
}

// waitPrompt ends an interactive shell when it is at its prompt. It sends SIGHUP again after a while, because a shell
// that is still starting can ignore the signal. hungUp is the time of the previous SIGHUP.
func (h *holder) waitPrompt(l *life, hungUp time.Time) bool {
	if !proc.Shell(l.pid) {
		return false
	}
	tick := time.NewTicker(promptPoll)
	defer tick.Stop()
	for h.graceLeft(l) > 0 {
		if time.Since(hungUp) >= hangUpAgain && h.endShell(l) {
			hungUp = time.Now()
		}
		select {
		case <-l.ended:
			return true
		case <-l.stopping.sooner:
			return false
		case <-tick.C:
		}
	}
	return false
}

// signalGroup sends a signal to the agent's process group, unless the agent's process has been reaped.
func (h *holder) signalGroup(l *life, sig unix.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !l.reaped {
		_ = unix.Kill(-l.pid, sig) // ESRCH if only zombies are left in the process group
	}
}

func (h *holder) graceLeft(l *life) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Until(l.stopping.deadline)
}

func (h *holder) waitStop(l *life) bool {
	for {
		timer := time.NewTimer(h.graceLeft(l))
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
