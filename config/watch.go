package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchOptions say how to watch. The zero value will do.
type WatchOptions struct {
	Log     *slog.Logger  // for the one warning that polling has begun; nil = slog.Default()
	Quiet   time.Duration // that passes after the last change before a poke; 0 = 200 ms
	Poll    time.Duration // between two looks while the kernel cannot tell; 0 = 2 s
	Polling bool          // do not ask the kernel: for network file systems, which tell it nothing
}

// Watch pokes when the configuration of the city in dir has changed from what it was when Watch was called, or at the last
// poke, and has then been left alone for a while: a city.toml that is gone, or that is broken, counts as a change, and so does
// the folder of a rig that comes or goes. Nothing else does. Watch first and Load then, so that no change falls between. Pokes that are not taken become one.
// The channel is closed once ctx has ended and nothing of the watch is left.
//
// Where the kernel has no watches to give, or the folder is gone, files are looked at every o.Poll.
func Watch(ctx context.Context, dir string, o WatchOptions) (<-chan struct{}, error) {
	dir, err := canonical(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot watch the city's configuration: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Quiet <= 0 {
		o.Quiet = 200 * time.Millisecond
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	w := &watcher{dir: dir, o: o, pokes: make(chan struct{}, 1), sources: []string{filepath.Join(dir, FileName)}}
	w.look()
	select {
	case <-w.pokes: // the state at the beginning is no change
	default:
	}
	w.running.Go(func() { w.run(ctx) })
	return w.pokes, nil
}

// watcher is owned by the goroutine of run once that has begun.
type watcher struct {
	dir     string
	o       WatchOptions
	pokes   chan struct{}
	running sync.WaitGroup

	kernel  *fsnotify.Watcher // nil where the kernel is not asked, or has nothing to give
	sources []string          // that were read last
	rigs    []string          // the folders of rigs
	files   map[string]bool   // whose events matter: the sources, and the links on the way to them
	blind   bool              // something is not watched by the kernel
	warned  bool
	state   string // at the last poke
	seen    string // the state at the last tick while blind
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.pokes)
	defer func() {
		if w.kernel != nil {
			_ = w.kernel.Close() // nothing is left to be done about it
		}
	}()
	quiet := time.NewTimer(w.o.Quiet)
	quiet.Stop()
	defer quiet.Stop()
	poll := time.NewTicker(w.o.Poll)
	defer poll.Stop()
	for {
		var events <-chan fsnotify.Event
		var errs <-chan error
		var tick <-chan time.Time
		if w.kernel != nil {
			events, errs = w.kernel.Events, w.kernel.Errors
		}
		if w.blind {
			tick = poll.C
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if w.files[e.Name] && e.Op != fsnotify.Chmod {
				quiet.Reset(w.o.Quiet)
			}
		case <-errs: // events were lost: whatever they were, look
			quiet.Reset(w.o.Quiet)
		case <-tick:
			w.arm()
			if s := w.now(); s != w.seen || !w.blind {
				w.seen = s
				quiet.Reset(w.o.Quiet)
			}
		case <-quiet.C:
			w.look()
		}
	}
}

// look compares the configuration with what it was, after all that it depends on is watched.
func (w *watcher) look() {
	w.arm()
	if data, err := read(w.sources[0]); err == nil {
		d := decode(w.dir, data, nil)
		w.sources, w.rigs = d.city.Sources, nil
		for _, r := range d.city.Rigs {
			if filepath.IsAbs(r.Path) {
				w.rigs = append(w.rigs, r.Path)
			}
		}
		w.arm() // what is new
	}
	state := w.now()
	w.seen = state
	if state == w.state {
		return
	}
	w.state = state
	select {
	case w.pokes <- struct{}{}:
	default:
	}
}

// arm has the kernel watch the folders of everything that the configuration is read through: a watch on a file would be lost with it.
func (w *watcher) arm() {
	w.files = map[string]bool{}
	for _, path := range w.sources {
		for _, p := range hops(path) {
			w.files[p] = true
		}
	}
	parents := map[string]bool{} // true: without a watch on it something may be missed
	for p := range w.files {
		parents[filepath.Dir(p)] = true
	}
	began := time.Now()
	for _, p := range w.rigs {
		folders.begin(p)
	}
	for _, p := range w.rigs {
		if _, ok := folders.at(p, began); !ok {
			continue // a watch on it would not come to be either
		}
		p = coming(p)
		w.files[p] = true
		if f := filepath.Dir(p); !parents[f] {
			parents[f] = false
		}
	}
	for f := range parents {
		w.files[f] = true // a folder that goes takes its watch with it
	}
	w.blind = w.o.Polling
	if w.blind {
		return
	}
	if w.kernel == nil {
		k, err := fsnotify.NewWatcher()
		if err != nil {
			w.blinded(err)
			return
		}
		w.kernel = k
	}
	watched := map[string]bool{}
	for _, f := range w.kernel.WatchList() {
		watched[f] = true
		if _, wanted := parents[f]; !wanted {
			_ = w.kernel.Remove(f) // it may be gone already
		}
	}
	for _, f := range slices.Sorted(maps.Keys(parents)) {
		if watched[f] {
			continue
		}
		if err := w.kernel.Add(f); err != nil && parents[f] { // a rig is looked at by every Revision, too
			w.blinded(err)
		}
	}
}

// coming is the first part of a path that is not there, the whole path if all of it is: whose coming is to be seen next.
func coming(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(up); err == nil || up == path {
			return path
		}
		path = up
	}
}

// blinded notes that files have to be looked at. That a folder is gone for a while is no reason to warn.
func (w *watcher) blinded(err error) {
	w.blind = true
	if w.warned || errors.Is(err, fs.ErrNotExist) {
		return
	}
	w.warned = true
	w.o.Log.Warn("the kernel has no watch left for the configuration; its files are looked at instead, and changes are seen a little later; "+
		"raise fs.inotify.max_user_instances or max_user_watches to change that", "every", w.o.Poll, "err", err)
}

// now is the revision of what is on disk.
func (w *watcher) now() string {
	state, err := Revision(w.dir)
	if err != nil {
		return "unreadable"
	}
	return state
}

// hops lists the path and every link on the way to the file that it leads to, each with its folder free of links.
func hops(path string) []string {
	var out []string
	done, rest := "/", strings.TrimPrefix(filepath.Clean(path), "/")
	for links := 0; rest != "" && links < 40; {
		name, more, _ := strings.Cut(rest, "/")
		rest = more
		if name == ".." {
			done = filepath.Dir(done)
			continue
		}
		here := filepath.Join(done, name)
		to, err := os.Readlink(here)
		switch {
		case err != nil: // no link, or not there
			done = here
		case filepath.IsAbs(to):
			out, links = append(out, here), links+1
			done, rest = "/", strings.TrimPrefix(filepath.Join(to, rest), "/")
		default:
			out, links = append(out, here), links+1
			rest = filepath.Join(to, rest)
		}
	}
	return append(out, done)
}
