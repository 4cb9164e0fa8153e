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

// maxChecks limits the number of pending checks. It is high enough for 1,000 rigs.
const maxChecks = 3000

const checkTimeout = time.Second

// folders is shared by all readers, because each check of a hung folder occupies a thread.
var folders = deadline.New[folderCheck](maxChecks)

type folderCheck struct {
	Problem string // why the folder cannot be used; "" = it can be used
	Real    string // the path with symbolic links resolved, if possible
}

// PendingChecks returns the number of checks in progress.
func PendingChecks() int { return folders.Pending() }

// StartCheck starts a check of a folder in the background.
func StartCheck(path string) {
	// If too many checks are pending, Responds reports that the folder does not respond.
	_ = folders.Start(path, func() folderCheck { return checkFolder(path) })
}

// Responds reports whether a folder responds within a second to a check that starts at or after the given time. A
// folder that does not respond must not be read.
func Responds(path string, start time.Time) bool {
	_, ok := CheckFolder(path, start)
	return ok
}

// CheckFolder returns the result of a check that starts at or after the given time. ok is false if the folder does not
// respond.
func CheckFolder(path string, start time.Time) (_ folderCheck, ok bool) {
	saw, ok := folders.Do(context.Background(), path, start, checkTimeout, func() folderCheck {
		return checkFolder(path)
	})
	if !ok {
		saw = folderCheck{Problem: path + " does not respond; check what is mounted there, or " +
			"use a different path", Real: path}
	}
	return saw, ok
}

// checkFolder can block forever.
func checkFolder(path string) folderCheck {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return folderCheck{Problem: unusable(path), Real: real}
}

func unusable(path string) string {
	const enter = 1 // X_OK
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist; create it, or use a different path"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return path + " is not a folder; use a different path"
	case syscall.Access(path, enter) != nil:
		return path + " cannot be entered (permission denied); change its permissions, or use " +
			"a different path"
	}
	return ""
}
