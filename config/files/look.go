package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gcity/internal/deadline"
)

// maxLooks is how many looks can be in progress: at the folder, the formulas and the automations of 1,000 rigs.
const maxLooks = 3000

// lookTime is how long a folder has to answer. Disks answer in milliseconds, a server that is gone never.
const lookTime = time.Second

// folders are the looks that are under way in this process. It is shared by all that read configurations, again and
// again and for as long as the process lives: each look at a folder that does not answer costs a thread until it
// does.
var folders = deadline.New[sight](maxLooks)

// sight is what a look at a folder saw.
type sight struct {
	Problem string // why nobody can work there, "" if one can
	Real    string // the path without symbolic links, as far as that can be told
}

// PendingLooks returns how many looks are in progress.
func PendingLooks() int { return folders.Pending() }

// BeginLook starts to look at a folder in the background, unless a look is under way. Answers waits for the result.
func BeginLook(path string) { folders.Start(path, func() sight { return see(path) }) }

// Answers reports whether a folder responded to a look that began at a time or later. It waits for at most a second. A
// folder that does not respond, of a dead network mount for instance, must not be read.
func Answers(path string, since time.Time) bool {
	_, ok := LookAt(path, since)
	return ok
}

// LookAt returns what a look saw that began at a time or later; not ok if the folder does not answer.
func LookAt(path string, since time.Time) (_ sight, ok bool) {
	saw, ok := folders.Do(context.Background(), path, since, lookTime, func() sight {
		return see(path)
	})
	if !ok {
		saw = sight{Problem: path + " does not answer; look at what is mounted there, or write " +
			"another path", Real: path}
	}
	return saw, ok
}

// see looks at a folder, however long that takes.
func see(path string) sight {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return sight{Problem: unusable(path), Real: real}
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
