package topology

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// contained returns an error if a copy contains a symbolic link out of the copy. Such a link would let the repository's
// author choose which files the city reads.
func contained(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".git":
			return fs.SkipDir
		case e.Type()&fs.ModeSymlink == 0:
			return nil
		}
		if _, err := root.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			to, _ := root.Readlink(path) // used only in the message
			return fmt.Errorf("a link to a path outside the topology: %s -> %s", path, to)
		}
		return nil
	})
}
