package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const ownDescriptors = "/proc/self/fd/"

// Real converts a path below a StablePath to the folder's current path, for messages. It returns other paths
// unchanged.
func Real(path string) string {
	rest, ok := strings.CutPrefix(path, ownDescriptors)
	if !ok {
		return path
	}
	fd, below, _ := strings.Cut(rest, "/")
	if _, err := strconv.Atoi(fd); err != nil {
		return path
	}
	to, err := os.Readlink(ownDescriptors + fd)
	if err != nil {
		return path
	}
	return filepath.Join(to, below)
}

// Held is an open folder. Paths below StablePath stay valid if the folder is moved.
type Held struct {
	f    *os.File
	path string
	info fs.FileInfo
}

// MovedError means that a folder or file is no longer at its path.
type MovedError struct {
	Path string
	To   string // new path; "" = none is known
	// Removed means that the folder or file was deleted. It is false if that is uncertain, for example after an I/O
	// error.
	Removed bool
}

func (e *MovedError) Error() string {
	switch {
	case e.Removed:
		return e.Path + " was removed"
	case e.To == "":
		return e.Path + " cannot be found"
	}
	return fmt.Sprintf("%s was moved to %s", e.Path, e.To)
}

// IsRemoved reports whether err contains a *MovedError of a folder or file that was removed.
func IsRemoved(err error) bool {
	moved, ok := errors.AsType[*MovedError](err)
	return ok && moved.Removed
}

// Hold opens and locks a folder without waiting. Another Hold then fails with ErrLocked. If the file system does not
// support locks, Hold takes none.
func Hold(path string) (*Held, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if errors.Is(flock(f, syscall.LOCK_EX), syscall.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrLocked), f.Close())
	}
	return &Held{f, path, info}, nil
}

// IsHeld reports whether a process holds the folder, or the Lock, at path. It takes a shared lock for a moment, so a
// Hold or TryLock at that moment can fail with ErrLocked.
func IsHeld(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, syscall.LOCK_SH), syscall.EWOULDBLOCK)
}

// StablePath returns a path that stays valid if the folder is moved. Only this process can use the path.
func (h *Held) StablePath() string { return ownDescriptors + strconv.Itoa(int(h.f.Fd())) }

// CheckPath returns a *MovedError if the folder is no longer at its path.
func (h *Held) CheckPath() error {
	now, err := os.Stat(h.path)
	if err == nil && !os.SameFile(now, h.info) || errors.Is(err, fs.ErrNotExist) {
		e := moved(h.f, h.path)
		e.Removed = e.Removed && links(h.info) > 0 // some file systems do not count links
		return e
	}
	return err
}

// Close closes and unlocks the folder.
func (h *Held) Close() error { return h.f.Close() }

func moved(f *os.File, path string) *MovedError {
	e := &MovedError{Path: path}
	info, err := f.Stat()
	if err != nil {
		return e
	}
	if e.Removed = links(info) == 0; !e.Removed {
		e.To = Real(ownDescriptors + strconv.Itoa(int(f.Fd())))
	}
	return e
}

func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Nlink)
}

// flock takes a lock without waiting. how is LOCK_EX or LOCK_SH.
func flock(f *os.File, how int) (err error) {
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	}
	return err
}
