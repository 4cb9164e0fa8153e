package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WatchFiles pokes when one of some files, or a file in one of some folders, was written, has come or has gone
// since the last poke, and all have then been left alone for a while. None of them need exist. Paths are absolute.
// As with Watch, pokes that are not taken become one, the channel is closed once ctx has ended and nothing is left,
// and where the kernel has no watches to give files are looked at every o.Poll.
func WatchFiles(ctx context.Context, files, folders []string, o WatchOptions) <-chan struct{} {
	return watch(ctx, &loose{paths: files, dirs: folders}, o, nil)
}

// loose are files and folders that belong to no city.
type loose struct {
	paths, dirs []string
	// two writes within one tick of the file system's clock look the same
	writes int
	files  map[string]bool // whose events matter
	open   map[string]bool // folders in which everything matters
}

func (l *loose) String() string { return "the preferences" }

func (l *loose) follow() {}

func (l *loose) saw(path string) bool {
	if l.files[path] || l.open[filepath.Dir(path)] {
		l.writes++
		return true
	}
	return false
}

func (l *loose) folders() map[string]bool {
	l.files, l.open = map[string]bool{}, map[string]bool{}
	watched := map[string]bool{}
	for _, path := range append(l.dirs[:len(l.dirs):len(l.dirs)], l.paths...) {
		for _, p := range hops(path) {
			p = coming(p)
			l.files[p] = true
			watched[filepath.Dir(p)], l.files[filepath.Dir(p)] = true, true
		}
	}
	for _, dir := range l.dirs {
		way := hops(dir)
		if real := way[len(way)-1]; coming(real) == real {
			if info, err := os.Stat(real); err == nil && info.IsDir() {
				watched[real], l.open[real] = true, true
			}
		}
	}
	return watched
}

func (l *loose) state() string {
	var b strings.Builder
	all := l.paths
	for _, dir := range l.dirs {
		entries, _ := os.ReadDir(dir) // what cannot be read has none
		for _, e := range entries {
			all = append(all[:len(all):len(all)], filepath.Join(dir, e.Name()))
		}
	}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano(), info.Mode(),
				info.Sys().(*syscall.Stat_t).Ino)
		}
	}
	if b.Len() > 0 {
		fmt.Fprintln(&b, l.writes)
	}
	return b.String()
}
