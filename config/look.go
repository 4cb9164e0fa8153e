package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// lookTime is how long a folder has to answer. Disks answer in milliseconds, a server that is gone never.
const lookTime = time.Second

// folders are the looks that are under way in this process. It is shared by all that read configurations, again and again
// and for as long as the process lives: each look at a folder that does not answer costs a thread until it does.
var folders = looks{see: see, most: maxRigs, under: map[string]*look{}}

// looks keeps the looks at folders few: one at each.
type looks struct {
	see  func(path string) sight
	most int // at once

	mu    sync.Mutex
	under map[string]*look // way, by path
}

// look is one at a folder.
type look struct {
	began time.Time
	done  chan struct{} // closed when saw is there
	saw   sight
}

// sight is what a look at a folder saw.
type sight struct {
	problem string // why nobody can work there, "" if one can
	real    string // the path without symbolic links, as far as that can be told
}

// begin looks at a folder, unless somebody does.
func (l *looks) begin(path string) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.under[path]; k != nil {
		return k
	}
	k := &look{began: time.Now(), done: make(chan struct{})}
	if len(l.under) >= l.most {
		k.began = time.Time{} // as one that has had its time
		return k
	}
	l.under[path] = k
	go func() { // as long as the folder takes, and nobody can wait for that
		k.saw = l.see(path)
		l.mu.Lock()
		delete(l.under, path)
		l.mu.Unlock()
		close(k.done)
	}()
	return k
}

// at gives what a look saw that began at a time or later; not ok if the folder does not answer.
func (l *looks) at(path string, since time.Time) (_ sight, ok bool) {
	for {
		k := l.begin(path)
		if !k.answered() {
			return sight{problem: path + " does not answer; look at what is mounted there, or write another path", real: path}, false
		}
		if !k.began.Before(since) {
			return k.saw, true
		}
	}
}

// answered waits until a look is done or has had its time.
func (k *look) answered() bool {
	late := time.NewTimer(max(0, time.Until(k.began.Add(lookTime))))
	defer late.Stop()
	select {
	case <-k.done:
		return true
	case <-late.C:
	}
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// see looks at a folder, however long that takes.
func see(path string) sight {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return sight{problem: unusable(path), real: real}
}

// unusable says why nobody can work in a folder, "" if one can.
func unusable(path string) string {
	const enter = 1 // of access(2)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist; make it, or write another path"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return path + " is no folder; write another path"
	case syscall.Access(path, enter) != nil:
		return path + " may not be entered by you; change its permissions, or write another path"
	}
	return ""
}
