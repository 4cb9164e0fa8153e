package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gcity/automation"
	"gcity/formula"
)

// WatchFolders pokes when a formula or an automation in one of these folders, as City.Layers has them, was written,
// has come or has gone since the last poke, and all have then been left alone for a while. Nothing else in the
// folders pokes. A folder need not exist; one that does not answer is left out until it does. Others, which may be
// nil, brings folders that count instead from then on, absolute; that what is in them is another thing than before
// is a change. As with Watch, pokes that are not taken become one, the channel is closed once ctx has ended and
// nothing is left, and where the kernel has no watches to give files are looked at every o.Poll.
func WatchFolders(ctx context.Context, folders []string, others <-chan []string,
	o WatchOptions) (<-chan struct{}, error) {
	r := &recipes{dirs: make([]string, len(folders))}
	for i, f := range folders {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, fmt.Errorf("cannot watch the folder %s for formulas and automations: %w", f,
				err)
		}
		r.dirs[i] = abs
	}
	return watch(ctx, r, o, others), nil
}

// recipes are the formulas and automations in some folders.
type recipes struct {
	dirs []string // absolute
	// events of recipes so far: two writes within one tick of the file system's clock look the same
	writes int

	watched map[string]bool // folders to be watched
	files   map[string]bool // paths whose events matter
	open    map[string]bool // folders in which everything matters
	known   map[string]bool // recipes that are there, free of links
}

func (r *recipes) String() string { return "formulas and automations" }

func (r *recipes) follow() {}

func (r *recipes) instead(folders []string) { r.dirs = folders }

func (r *recipes) saw(path string) bool {
	base := filepath.Base(path)
	if r.known[path] || base == automation.FileName || strings.HasSuffix(base, formula.Suffix) {
		r.writes++
		return true
	}
	return r.files[path] || r.open[filepath.Dir(path)]
}

func (r *recipes) folders() map[string]bool {
	r.watched, r.files, r.open, r.known = map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}
	answering, _ := r.answering()
	for _, dir := range answering {
		if _, err := os.Stat(dir); err != nil {
			r.await(dir)
			continue
		}
		real := r.through(dir)
		r.folder(real)
		below := filepath.Join(real, automation.Folder)
		r.files[below] = true // its coming, and its going
		entries, err := os.ReadDir(below)
		if err != nil {
			continue
		}
		below = r.through(below)
		r.folder(below)
		r.open[below] = true
		for _, e := range entries {
			if info, err := os.Stat(filepath.Join(below, e.Name())); err == nil && info.IsDir() {
				r.folder(r.through(filepath.Join(below, e.Name())))
			}
		}
	}
	for _, path := range paths(answering) {
		if _, err := os.Stat(path); err != nil {
			r.await(path)
			continue
		}
		real := r.through(path)
		r.known[real] = true
		r.watched[filepath.Dir(real)] = true
	}
	return r.watched
}

// folder has a folder watched, and its own end noticed.
func (r *recipes) folder(path string) { r.watched[path], r.files[path] = true, true }

// await watches for the coming of a path, link by link.
func (r *recipes) await(path string) {
	for _, p := range hops(path) {
		p = coming(p)
		r.files[p] = true
		r.folder(filepath.Dir(p))
	}
}

// through watches the links that a path leads through, and gives the path without them.
func (r *recipes) through(path string) string {
	way := hops(path)
	for _, link := range way[:len(way)-1] {
		r.files[link] = true
		r.folder(filepath.Dir(link))
	}
	return way[len(way)-1]
}

// state lists the recipes as the file system knows them.
func (r *recipes) state() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.writes)
	answering, mute := r.answering()
	fmt.Fprintln(&b, mute)
	for _, path := range paths(answering) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano(), info.Mode(),
				info.Sys().(*syscall.Stat_t).Ino)
		}
	}
	for _, dir := range answering { // one that cannot be read is not an empty one
		for _, f := range []string{dir, filepath.Join(dir, automation.Folder)} {
			if _, err := os.ReadDir(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(&b, err)
			}
		}
	}
	return b.String()
}

// answering are the folders that answer just now, and mute the others, which can be neither watched nor read.
func (r *recipes) answering() (answering, mute []string) {
	began := time.Now()
	for _, dir := range r.dirs {
		beginLook(dir)
		beginLook(filepath.Join(dir, automation.Folder))
	}
	for _, dir := range r.dirs {
		_, self := lookAt(dir, began)
		_, below := lookAt(filepath.Join(dir, automation.Folder), began)
		if self && below {
			answering = append(answering, dir)
		} else {
			mute = append(mute, dir)
		}
	}
	return answering, mute
}

// paths are those where recipes are in some folders, or would be.
func paths(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what cannot be read has none
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), formula.Suffix) {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
		entries, _ = os.ReadDir(filepath.Join(dir, automation.Folder))
		for _, e := range entries {
			if e.IsDir() || e.Type() == fs.ModeSymlink {
				out = append(out, filepath.Join(dir, automation.Folder, e.Name(),
					automation.FileName))
			}
		}
	}
	return out
}
