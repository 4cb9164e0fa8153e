package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/internal/disk"
)

// Limits for the files of a topology.
const (
	MaxTreeFiles = 5000
	MaxTreeSize  = 64 << 20 // in bytes
)

// IsDir reports whether path is an existing folder.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isIgnored(name string) bool { return name == ".git" || name == ".gc" || name == ".beads" }

// HashFolder returns a hash of the names, contents and execute permissions of the files below a folder. It follows
// links to files and hashes the targets of other links. It skips the folders .git, .gc and .beads, and the swap files,
// backups and locks of editors. more is true if the folder is too large and only the first files are hashed.
func HashFolder(dir string) (hash string, more bool) {
	h := sha256.New()
	files, size := 0, int64(0)
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintf(h, "%s\x00unreadable\n", path)
			return nil
		case e.IsDir() && path != dir && isIgnored(e.Name()):
			return fs.SkipDir
		case e.IsDir() || disk.IsEditorFile(e.Name()):
			return nil
		}
		if files++; files > MaxTreeFiles || size > MaxTreeSize {
			more = true
			return fs.SkipAll
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			target, _ := os.Readlink(path) // "" if the path is not a link
			fmt.Fprintf(h, "%s\x00%s\x00%s\n", path, e.Type(), target)
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

// TreeFolders returns the folder of a topology and its subfolders, without ignored ones.
func TreeFolders(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil
		case path != dir && isIgnored(e.Name()):
			return fs.SkipDir
		case len(out) >= MaxTreeFiles:
			return fs.SkipAll
		}
		out = append(out, path)
		return nil
	})
	return out
}
