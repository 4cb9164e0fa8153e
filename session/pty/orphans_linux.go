package pty

import (
	"sync"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
)

// orphans contains the holders that this process started and that no open provider watches. Only their parent process
// can reap them, whichever provider started them.
var orphans childSet

type childSet struct {
	mu   sync.Mutex
	pids map[int]bool
}

// add takes over a child. If its session has ended, add waits a short time for its exit.
func (s *childSet) add(pid int, idle bool) {
	if idle {
		proc.WaitPid(pid, leaveWait)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if reaped(pid) {
		return
	}
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	s.pids[pid] = true
}

// remove returns a child to its provider, which reaps it.
func (s *childSet) remove(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, pid)
}

// reap reaps the children that have exited. It does not block.
func (s *childSet) reap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for pid := range s.pids {
		if reaped(pid) {
			delete(s.pids, pid)
		}
	}
}

// reaped reaps a child if it has exited. It also returns true if another goroutine has reaped the child.
func reaped(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || err == unix.ECHILD
}
