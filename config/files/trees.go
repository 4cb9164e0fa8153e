package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What of a topology's folder is looked at, at most: far more than any has that is meant.
const (
	MaxTreeFiles = 5000
	MaxTreeSize  = 64 << 20 // bytes
)

// IsDir says whether a folder is there.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// aside are folders that belong to no topology, wherever they are: what runs leaves its traces there.
func aside(name string) bool { return name == ".git" || name == ".gc" || name == ".beads" }

// ContentsOf is one hash over the files below a folder: their names, their contents, whether they can be run. A
// link counts by where it leads. Of a folder with too much in it the first files count, and there is more.
func ContentsOf(dir string) (hash string, more bool) {
	h := sha256.New()
	files, size := 0, int64(0)
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintf(h, "%s\x00unreadable\n", path)
			return nil
		case e.IsDir() && path != dir && aside(e.Name()):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if files++; files > MaxTreeFiles || size > MaxTreeSize {
			more = true
			return fs.SkipAll
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			fmt.Fprintf(h, "%s\x00%s\n", path, e.Type())
			return nil
		}
		size += info.Size()
		data, err := readAny(path)
		fmt.Fprintf(h, "%s\x00%s\x00%t\x00%t\n", path, Sum(data), info.Mode()&0o111 != 0,
			err != nil)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), more
}

// TreeFolders lists the folder of a topology and the folders below it that belong to it.
func TreeFolders(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil
		case path != dir && aside(e.Name()):
			return fs.SkipDir
		case len(out) >= MaxTreeFiles:
			return fs.SkipAll
		}
		out = append(out, path)
		return nil
	})
	return out
}
