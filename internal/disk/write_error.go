package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteError describes why a file or folder cannot be created or replaced, and what the user can do about it. err can
// contain the name of a temporary file, which means nothing to the user.
func WriteError(path string, err error) error {
	path = Real(path)
	return fmt.Errorf("%s: %w", path, WriteReason(path, err))
}

// WriteReason is like WriteError, but omits the path.
func WriteReason(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: mount it read-write, and try again", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: free some space, and try again", err)
	case errors.Is(err, syscall.EACCES):
		folder := filepath.Dir(path)
		info, missing := os.Stat(folder)
		switch {
		case missing == nil && info.Mode()&0o300 != 0o300 && Own(folder) == nil:
			return fmt.Errorf("%w: your user cannot write to the folder %s; run `chmod u+wx %s`",
				err, folder, quote(folder))
		case syscall.Access(folder, 2|1) != nil: // W_OK|X_OK; otherwise, the file is the reason
			return fmt.Errorf("%w: your user cannot write to the folder %s", err, folder)
		case Foreign(path):
			return fmt.Errorf("%w: the file belongs to another user; if it is meant to be yours, "+
				"run `sudo chown %d %s`", err, os.Getuid(), quote(path))
		}
	}
	return err
}

// Foreign reports whether a file or folder belongs to another user.
func Foreign(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Getuid()
}
