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
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	s.pids[pid] = true
	s.reapExited()
}

// remove returns a child to its provider, which reaps it.
func (s *childSet) remove(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, pid)
}

// reap reaps the children that have exited.
func (s *childSet) reap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reapExited()
}

// reapExited does not block. The caller must hold s.mu.
func (s *childSet) reapExited() {
	for pid := range s.pids {
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || err == unix.ECHILD {
			delete(s.pids, pid)
		}
	}
}
