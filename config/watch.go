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
	"time"

	"gcity/internal/mishap"

	"github.com/fsnotify/fsnotify"
)

// WatchOptions say how to watch. The zero value will do.
type WatchOptions struct {
	Log     *slog.Logger  // for the one warning that polling has begun; nil = slog.Default()
	Quiet   time.Duration // that passes after the last change before a poke; 0 = 200 ms
	Poll    time.Duration // between two looks while the kernel cannot tell; 0 = 2 s
	Polling bool          // do not ask the kernel: for network file systems, which tell it nothing
	// poke at once: for who has loaded before, and may have missed a change since
	First bool
	// hears of a panic, after which nothing is watched; nil: the program ends with it
	Broken func(error)
	// the revision of each Load since, "" if it had none; what is there is then compared with that. May be nil
	Read <-chan string
}

// Watch pokes when the configuration has changed from what it was when Watch was called, or at the last
// poke, or when it was last read, as far as o.Read tells, and has then been left alone for a while: a city.toml
// that is gone, or that is broken, counts as a change, and so does the folder of a rig that comes or goes, and any
// file of a topology. Nothing else does. Watch first and Load then, or set o.First, so that no change falls
// between. Pokes that are not taken become one. The channel is closed once ctx has ended and nothing of the watch
// is left.
//
// Where the kernel has no watches to give, or the folder is gone, files are looked at every o.Poll.
func (s Source) Watch(ctx context.Context, o WatchOptions) (<-chan struct{}, error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot watch the city's configuration: %w", err)
	}
	s.Dir = dir
	return watch(ctx, &sources{from: s, paths: []string{filepath.Join(dir, FileName)}}, o, nil), nil
}

// watch begins to watch a subject. Others are for one that is made of folders.
func watch(ctx context.Context, s subject, o WatchOptions, others <-chan []string) <-chan struct{} {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Quiet <= 0 {
		o.Quiet = 200 * time.Millisecond
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	w := &watcher{of: s, o: o, others: others, pokes: make(chan struct{}, 1),
		running: mishap.Group{Tell: mishap.Fatal(o.Broken)}}
	w.look()
	select {
	case <-w.pokes: // the state at the beginning is no change
	default:
	}
	if o.First {
		w.pokes <- struct{}{}
	}
	w.running.Go(func() { w.run(ctx) })
	return w.pokes
}

// subject is what a watcher watches. It is the watcher's own.
type subject interface {
	// follow learns what the subject has come to depend on.
	follow()
	// folders that the kernel is to watch now; true: without a watch on it something may be missed.
	folders() map[string]bool
	// saw says whether an event of a path is worth a look.
	saw(path string) bool
	// state is another one after every change.
	state() string
	// what it is called in the one warning.
	String() string
}

// watcher is owned by the goroutine of run once that has begun.
type watcher struct {
	of      subject
	o       WatchOptions
	others  <-chan []string // folders that are the subject from then on; nil = there are none
	pokes   chan struct{}
	running mishap.Group

	kernel *fsnotify.Watcher // nil where the kernel is not asked, or has nothing to give
	blind  bool              // something is not watched by the kernel
	warned bool
	last   string // state at the last poke, or when it was read last
	vain   pair   // at the last poke, unless what was there then has been read since
	seen   string // state at the last tick while blind
}

// pair is what was read last, and what was there.
type pair struct{ read, there string }

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
			if e.Op != fsnotify.Chmod && w.of.saw(e.Name) {
				w.vain = pair{}
				quiet.Reset(w.o.Quiet)
			}
		case <-errs: // events were lost: whatever they were, look
			quiet.Reset(w.o.Quiet)
		case <-tick:
			w.arm()
			if s := w.of.state(); s != w.seen || !w.blind {
				w.seen, w.vain = s, pair{}
				quiet.Reset(w.o.Quiet)
			}
		case folders := <-w.others:
			if s, ok := w.of.(interface{ instead([]string) }); ok {
				s.instead(folders)
				w.arm() // at once: what is written while it is quiet is seen then
				quiet.Reset(w.o.Quiet)
			}
		case revision, ok := <-w.o.Read:
			if !ok {
				w.o.Read = nil
				continue
			}
			if revision == "" {
				revision = unreadable
			}
			if w.last = revision; revision == w.vain.there {
				w.vain = pair{}
			}
			quiet.Reset(w.o.Quiet)
		case <-quiet.C:
			w.look()
		}
	}
}

// look compares the subject with what it was, after all that it depends on is watched.
func (w *watcher) look() {
	w.arm()
	w.of.follow()
	for range 5 { // what comes while a folder is not watched yet shows when one looks once more
		if !w.arm() {
			break
		}
	}
	state := w.of.state()
	w.seen = state
	is := pair{w.last, state}
	// who was poked for this and has read the same as before will not do better
	if state == w.last || is == w.vain {
		return
	}
	w.last, w.vain = state, is
	select {
	case w.pokes <- struct{}{}:
	default:
	}
}

// arm has the kernel watch the subject's folders, and says whether one was added. A watch on a file would be lost
// with it.
func (w *watcher) arm() (added bool) {
	parents := w.of.folders()
	w.blind = w.o.Polling
	if w.blind {
		return false
	}
	if w.kernel == nil {
		k, err := fsnotify.NewWatcher()
		if err != nil {
			w.blinded(err)
			return false
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
		err := w.kernel.Add(f)
		added = added || err == nil
		if err != nil && parents[f] {
			w.blinded(err)
		}
	}
	return added
}

// coming is the first part of a path that is not there, the whole path if all of it is: whose coming is to be seen
// next.
func coming(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(up); err == nil || up == path {
			return path
		}
		path = up
	}
}

// blinded notes that files have to be looked at. That a folder is gone for a while, or closed to everybody, is no
// reason to warn: who reads it says so.
func (w *watcher) blinded(err error) {
	w.blind = true
	if w.warned || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return
	}
	w.warned = true
	w.o.Log.Warn("the kernel has no watch left for "+w.of.String()+"; files are looked at "+
		"instead, and changes are seen a little later; "+
		"raise fs.inotify.max_user_instances or max_user_watches to change that", "every", w.o.Poll,
		"err", err)
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
