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
	return fmt.Errorf("%s: %w", path, writeReason(path, err))
}

// writeReason is like WriteError, but omits the path.
func writeReason(path string, err error) error {
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
		next := ""
		if Own(folder) == nil {
			next = "; run `chmod u+wx " + quote(folder) + "`"
		}
		return fmt.Errorf("%w: your user cannot write to the folder %s%s", err, folder, next)
	}
	return err
}
