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
	// resumeAfter is how long the tree has to end before its stopped processes are looked for. Most trees end
	// sooner, and the search reads a dozen files of /proc.
	resumeAfter = 200 * time.Millisecond
	// promptPoll is how often a stop checks whether a shell is at its prompt.
	promptPoll = 200 * time.Millisecond
	// terminateGrace is the grace of an agent when the system terminates its holder.
	terminateGrace = 2 * time.Second
)

// stopping is a stop in progress. Further requests join it and can only shorten it. holder.mu guards it.
type stopping struct {
	deadline time.Time
	sooner   chan struct{} // signalled when the deadline moved
}

// stop ends the current life and returns when no process of it is left. Its end counts as requested unless it was
// lost.
func (h *holder) stop(grace time.Duration, asked bool) {
	h.mu.Lock()
	l := h.cur
	if l == nil || l.exit != nil {
		h.mu.Unlock()
		return
	}
	if !l.reaped { // otherwise it ended by itself, and only its remaining processes are killed
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

// end carries out a stop: interrupt, terminate, kill.
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
		h.complain("cannot kill the agent's processes",
			fmt.Errorf("pids %v", proc.Descendants(h.pid)))
	}
}

// ask sends the agent its stop signal and reports whether the life ended within the grace. A signal for a stopped
// process stays pending until the process continues, so the rest of the tree may be continued later.
func (h *holder) ask(l *life) bool {
	h.signalGroup(l, unix.SIGCONT)
	shell := l.stopSignal == unix.SIGINT && !l.plain
	if shell {
		if err := h.interrupt(l); err != nil {
			h.complain("cannot interrupt", err)
		}
	}
	h.signalGroup(l, l.stopSignal)
	if shell && h.endShell(l) {
		shell = false
	}
	timer := time.NewTimer(min(resumeAfter, h.graceLeft(l)))
	defer timer.Stop()
	select {
	case <-l.ended:
		return true
	case <-l.stopping.sooner: // waitStop reads the new deadline
	case <-timer.C:
	}
	proc.SignalTree(h.pid, unix.SIGCONT)
	if shell && h.waitPrompt(l) {
		return true
	}
	return h.waitStop(l)
}

// endShell ends an interactive shell that waits at its prompt, where it ignores SIGINT. It reports whether the agent is
// one. Any other program keeps its whole grace, even a script with a trap for SIGINT.
func (h *holder) endShell(l *life) bool {
	if !proc.AtPrompt(l.pid) {
		return false
	}
	h.signalGroup(l, unix.SIGHUP)
	return true
}

// waitPrompt waits until the agent is a shell at its prompt and hangs up. It reports whether the life has ended; it
// gives up at the deadline of the stop, and when the deadline has moved.
func (h *holder) waitPrompt(l *life) bool {
	if !proc.Shell(l.pid) {
		return false
	}
	tick := time.NewTicker(promptPoll)
	defer tick.Stop()
	for h.graceLeft(l) > 0 && !h.endShell(l) {
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

// signalGroup signals the agent's group if the agent's pid has not been reused.
func (h *holder) signalGroup(l *life, sig unix.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !l.reaped {
		_ = unix.Kill(-l.pid, sig) // ESRCH: it is a zombie, alone in its group
	}
}

// graceLeft returns the time until the deadline of the current stop.
func (h *holder) graceLeft(l *life) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Until(l.stopping.deadline)
}

// waitStop waits for the end or for the stop's deadline, and reports whether the life ended.
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
