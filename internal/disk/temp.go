package disk

import (
	"crypto/rand"
	"os"
	"path"
	"regexp"
	"sync"
	"syscall"
	"time"
)

const (
	tempAge  = time.Hour // a file that is still being written is younger
	tempMost = 10_000    // names of a folder that are looked at
)

var temp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.gcity-[A-Z2-7]{26}$`)
})

// Temp returns an unused name in the folder of the file that it will become.
func Temp(name string) string { return path.Join(path.Dir(name), ".gcity-"+rand.Text()) }

// SweepTemps removes what a writer that was killed has left in a folder of the root under a name that Temp gave.
// What is young, or no plain file, stays. What cannot be removed is only in the way.
func SweepTemps(root *os.Root, dir string) {
	// a pipe is refused, and not waited for
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(tempMost) // those that could be read
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
