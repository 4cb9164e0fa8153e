package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Files returns a channel that receives a value after the given files, or files in the given folders, have changed. The
// value arrives after o.Quiet without further changes. The paths are absolute; they need not exist. The channel holds
// at most one value. It is closed when ctx has ended and the watch has stopped.
func Files(ctx context.Context, files, folders []string, o Options) <-chan struct{} {
	return start(ctx, &fileSet{paths: files, dirs: folders}, o, nil)
}

type fileSet struct {
	paths, dirs []string
	// events so far; distinguishes two writes within one tick of the file system's clock
	writes int
	files  map[string]bool
	open   map[string]bool // folders in which every event matters
}

func (l *fileSet) String() string { return "the preferences" }

func (l *fileSet) refresh() {}

func (l *fileSet) isChange(path string) (is, urgent bool) {
	if l.files[path] || l.open[filepath.Dir(path)] {
		l.writes++
		return true, true
	}
	return false, false
}

func (l *fileSet) folders() map[string]bool {
	l.files, l.open = map[string]bool{}, map[string]bool{}
	watched := map[string]bool{}
	for _, path := range append(l.dirs[:len(l.dirs):len(l.dirs)], l.paths...) {
		for _, p := range linkChain(path) {
			p = missingAncestor(p)
			l.files[p] = true
			watched[filepath.Dir(p)], l.files[filepath.Dir(p)] = true, true
		}
	}
	for _, dir := range l.dirs {
		chain := linkChain(dir)
		if real := chain[len(chain)-1]; missingAncestor(real) == real {
			if info, err := os.Stat(real); err == nil && info.IsDir() {
				watched[real], l.open[real] = true, true
			}
		}
	}
	return watched
}

func (l *fileSet) state() string {
	all := l.paths
	for _, dir := range l.dirs {
		entries, _ := os.ReadDir(dir) // an unreadable folder is treated as empty
		for _, e := range entries {
			all = append(all[:len(all):len(all)], filepath.Join(dir, e.Name()))
		}
	}
	state := stats(all)
	if state != "" {
		state += fmt.Sprintln(l.writes)
	}
	return state
}

func stats(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano(), info.Mode(),
				info.Sys().(*syscall.Stat_t).Ino)
		}
	}
	return b.String()
}
