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

// maxLooks is the maximum number of concurrent looks. It is enough for the folders, formulas and automations of 1,000
// rigs.
const maxLooks = 3000

// lookTime is the timeout for a look at a folder. Disks respond within milliseconds; unreachable servers never respond.
const lookTime = time.Second

// folders holds the looks in progress. All readers of configurations in this process share them, because each look at a
// hung folder occupies a thread until the folder responds.
var folders = deadline.New[sight](maxLooks)

// sight is the result of a look at a folder.
type sight struct {
	Problem string // why the folder cannot be used; "" = it can be used
	Real    string // the path with symbolic links resolved, if possible
}

// PendingLooks returns the number of looks in progress.
func PendingLooks() int { return folders.Pending() }

// BeginLook starts a look at a folder in the background, unless a look is already running. Answers waits for the
// result.
func BeginLook(path string) { folders.Start(path, func() sight { return see(path) }) }

// Answers reports whether a folder responded to a look that began at since or later. It waits for at most a second. A
// folder that does not respond, for example on a dead network mount, must not be read.
func Answers(path string, since time.Time) bool {
	_, ok := LookAt(path, since)
	return ok
}

// LookAt returns the result of a look that began at since or later. ok is false if the folder does not respond.
func LookAt(path string, since time.Time) (_ sight, ok bool) {
	saw, ok := folders.Do(context.Background(), path, since, lookTime, func() sight {
		return see(path)
	})
	if !ok {
		saw = sight{Problem: path + " does not respond; check what is mounted there, or write " +
			"another path", Real: path}
	}
	return saw, ok
}

// see checks a folder. It may block forever.
func see(path string) sight {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return sight{Problem: unusable(path), Real: real}
}

// unusable returns why a folder cannot be used as a working folder, or "" if it can.
func unusable(path string) string {
	const enter = 1 // the mode X_OK of access(2)
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
