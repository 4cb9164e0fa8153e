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

// maxLooks is the greatest number of looks in progress. It suffices for the folder, the formulas and the
// automations of 1,000 rigs.
const maxLooks = 3000

// lookTime is the time in which a folder has to answer. Disks answer in milliseconds, unreachable servers never.
const lookTime = time.Second

// folders holds the looks in progress. All readers of configurations in this process share it, because each look at
// a folder that hangs occupies a thread until the folder answers.
var folders = deadline.New[sight](maxLooks)

// sight is the result of a look at a folder.
type sight struct {
	Problem string // why the folder cannot be used, "" = it can
	Real    string // the path without symbolic links, if they can be resolved
}

// PendingLooks returns how many looks are in progress.
func PendingLooks() int { return folders.Pending() }

// BeginLook starts a look at a folder in the background unless one is in progress. Answers waits for the result.
func BeginLook(path string) { folders.Start(path, func() sight { return see(path) }) }

// Answers reports whether a folder responded to a look that began at since or later. It waits for at most a second.
// A folder that does not respond, such as a dead network mount, must not be read.
func Answers(path string, since time.Time) bool {
	_, ok := LookAt(path, since)
	return ok
}

// LookAt returns the result of a look that began at since or later. ok is false if the folder does not answer.
func LookAt(path string, since time.Time) (_ sight, ok bool) {
	saw, ok := folders.Do(context.Background(), path, since, lookTime, func() sight {
		return see(path)
	})
	if !ok {
		saw = sight{Problem: path + " does not answer; check what is mounted there, or write " +
			"another path", Real: path}
	}
	return saw, ok
}

// see looks at a folder. It may never return.
func see(path string) sight {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return sight{Problem: unusable(path), Real: real}
}

// unusable returns why a folder cannot be used as a working folder, "" if it can.
func unusable(path string) string {
	const enter = 1 // of access(2)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist; create it, or write another path"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return path + " is not a folder; write another path"
	case syscall.Access(path, enter) != nil:
		return path + " cannot be entered (permission denied); change its permissions, or write " +
			"another path"
	}
	return ""
}
