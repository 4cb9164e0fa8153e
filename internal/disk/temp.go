package disk

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	tempAge  = time.Hour // writers might still use newer files
	tempMost = 10_000
)

var temp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.gcity-[A-Z2-7]{26}$`)
})

// Temp returns an unused name for a temporary file in the same folder as the named file.
func Temp(name string) string { return path.Join(path.Dir(name), ".gcity-"+rand.Text()) }

// IsRecentTemp reports whether a file is temporary and another writer might still use it.
func IsRecentTemp(e fs.DirEntry) bool {
	if !temp().MatchString(e.Name()) {
		return false
	}
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) <= tempAge
}

// SweepTemps removes temporary files that killed writers left in a folder below root. It keeps recent files and ignores
// errors.
func SweepTemps(root *os.Root, dir string) {
	// with O_DIRECTORY, opening a named pipe fails instead of blocking
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(tempMost) // after an error, the list might be incomplete
	for _, name := range names {
		if !temp().MatchString(name) {
			continue
		}
		name = path.Join(dir, name)
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > tempAge {
			_ = root.Remove(name)
		}
	}
}

// IsEditorFile reports whether a file name is one that an editor uses while a user edits another file: a swap file
// (vim), a backup, an automatic save, or a lock (Emacs).
func IsEditorFile(name string) bool {
	ext := path.Ext(name)
	return strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") ||
		strings.HasPrefix(name, ".") && len(ext) == len(".swp") && strings.HasPrefix(ext, ".sw")
}
